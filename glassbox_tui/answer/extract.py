"""The answer that no model writes: the best sentences of the evidence, word for word, each with its number."""

from __future__ import annotations

from collections.abc import Sequence

from glassbox_tui.answer.record import Answer, Citation
from glassbox_tui.answer.select import Quote, best_quotes
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Hit


def extract(question: str, hits: Sequence[Hit], engine: Engine) -> Answer:
    """The best sentences of the first hits, in the order of hits and text; "none" where none could be quoted."""
    quoted = best_quotes(question, hits, engine)
    if not quoted:
        return Answer("none", "", notice="The chunks found hold no sentence that could be quoted.")
    text = " ".join(f"{quote.text} [{number}]" for number, quote in enumerate(quoted, start=1))
    citations = tuple(_citation(number, quote) for number, quote in enumerate(quoted, start=1))
    return Answer("extract", text, citations)


def _citation(number: int, quote: Quote) -> Citation:
    hit = quote.hit
    return Citation(number, hit.uid, hit.path, quote.lines, hit.page, quote.text)


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without the ones whose text an earlier hit already has: a copied paragraph takes one slot."""
    seen: set[str] = set()
    distinct = []
    for hit in hits:
        if hit.content not in seen:
            seen.add(hit.content)
            distinct.append(hit)
    return distinct
