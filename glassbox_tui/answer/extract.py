"""The answer to a question: written by a generator if there is one, else an extract of the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from glassbox_tui.answer.citations import checked
from glassbox_tui.answer.claims import Claim, Statement, check, statements
from glassbox_tui.answer.select import Quote, best_quotes
from glassbox_tui.models.chat import Message
from glassbox_tui.models.protocols import Generator
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Hit, Trace


@dataclass(frozen=True, slots=True)
class Citation:
    """Number [n] of the answer: the text it stands for, the lines of the note it is on, and its hit."""

    number: int
    uid: str
    path: str
    lines: tuple[int, int]
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`mode` says who wrote it: "extract" (sentences of the notes, word for word), "generate" (a model), "none".

    `claims` are its sentences, each held against the evidence, whoever wrote them. `notice` is what a reader should
    know first. Of a generated answer: `model` wrote it, from `prompt` (role and text of each message); `dropped` are
    the uids of hits that found no room in it; `stopped`: a person ended it early.
    """

    mode: str
    text: str
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()
    notice: str = ""
    model: str = ""
    prompt: tuple[Message, ...] = ()
    dropped: tuple[str, ...] = ()
    stopped: bool = False


def answer(trace: Trace, engine: Engine, *, check_claims: bool = True) -> Answer:
    """What the evidence says: by the engine's generator if it has one, else an extract.

    The extract is the best sentences of the last round's first hits, in the order of hits and text, each with its [n].
    """
    if not trace.index.chunks:
        return Answer("none", "", notice="The index is empty: there is no note with text to answer from.")
    hits = _distinct(trace.hits)
    if not hits:
        return Answer("none", "", notice="No chunk was found for this question, so there is nothing to quote.")
    notices = []
    if trace.decision != "answer":
        reasons = "; ".join(trace.last.grade.reasons)
        notices.append(f"The evidence was graded insufficient ({reasons}): read this answer with doubt.")
    if isinstance(engine.generator, Generator):
        try:
            found = generated(trace.query, hits, engine.generator, notices)
        except Exception as error:  # a plug-in may raise anything; the extract is always there
            name = engine.generator.name
            notices.append(f"the generator {name} failed ({type(error).__name__}: {error}): this is an extract.")
        else:
            return with_claims(found, hits, engine) if check_claims else found
    found = _extract(best_quotes(trace.query, hits, engine), notices)
    return with_claims(found, hits, engine) if check_claims else found


def with_claims(found: Answer, hits: Sequence[Hit], engine: Engine) -> Answer:
    """The answer with each of its sentences held against the evidence; what it quotes is one claim a quote."""
    if found.mode == "extract":
        by_uid = {hit.uid: hit for hit in hits}
        cited = {citation.number: by_uid[citation.uid] for citation in found.citations}
        said = [Statement(citation.text, (citation.number,)) for citation in found.citations]
    else:
        cited, said = dict(enumerate(hits, start=1)), statements(found.text)
    return replace(found, claims=check(said, hits, cited, engine))


def generated(query: str, hits: Sequence[Hit], generator: Generator, notices: Sequence[str] = ()) -> Answer:
    """The generator's text with the citations it made. Numbers that stand for no passage are removed, and said."""
    found = checked("".join(generator.generate(query, [hit.text for hit in hits])).strip(), len(hits))
    said = list(notices)
    if found.removed:
        said.append(f"Citations to no passage were removed: {', '.join(map(str, found.removed))}.")
    cited = [(n, hits[n - 1]) for n in sorted(found.numbers)]
    citations = tuple(Citation(n, hit.uid, hit.path, hit.lines, hit.page, hit.text) for n, hit in cited)
    return Answer("generate", found.text, citations, notice=" ".join(said))


def _extract(quoted: Sequence[Quote], notices: list[str]) -> Answer:
    if not quoted:
        notices.append("The chunks found hold no sentence that could be quoted.")
        return Answer("none", "", notice=" ".join(notices))
    text = " ".join(f"{quote.text} [{number}]" for number, quote in enumerate(quoted, start=1))
    citations = tuple(_citation(number, quote) for number, quote in enumerate(quoted, start=1))
    return Answer("extract", text, citations, notice=" ".join(notices))


def _citation(number: int, quote: Quote) -> Citation:
    hit = quote.hit
    return Citation(number, hit.uid, hit.path, quote.lines, hit.page, quote.text)


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without the ones whose text an earlier hit already has: a copied paragraph takes one slot."""
    seen: set[str] = set()
    distinct = []
    for hit in hits:
        if hit.content not in seen:
            seen.add(hit.content)
            distinct.append(hit)
    return distinct
