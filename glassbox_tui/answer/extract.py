"""A grounded extract: the sentences of the evidence that answer best, each with a citation. No model writes a word.

Sentences are scored by late interaction (the query's tokens against the sentence's own, over the stored codes of its
chunk) where there are token codes, else by the idf-weighted share of the query's terms they hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.sparse import SparseIndex, idf
from glassbox_tui.index.token_codes import read_codes
from glassbox_tui.models.late_interaction import best_matches_many, contributions
from glassbox_tui.models.protocols import Generator
from glassbox_tui.notes.lines import line_range
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.query import Query, read_query
from glassbox_tui.retrieval.stages import LateInteraction
from glassbox_tui.retrieval.trace import Hit, Trace
from glassbox_tui.text.cuts import best_cut
from glassbox_tui.text.sentences import sentences
from glassbox_tui.text.tokens import content_terms, tokenize

SENTENCES = 2
# A longer sentence (Chinese prose may hold nothing but commas for a page) is quoted by its clauses.
QUOTE_CHARS = 160
_CITED = re.compile(r"\[(\d{1,6})\]")
FROM_HITS = 3
# A sentence's late-interaction score counts this much against its term coverage.
TOKEN_SHARE = 0.7
# Each later hit must beat the one before it by this much to be quoted: the ranking is evidence too.
RANK_DISCOUNT = 0.04


@dataclass(frozen=True, slots=True)
class Citation:
    """Number [n] of the answer: the hit it stands for and the lines of the note."""

    number: int
    uid: str
    path: str
    lines: tuple[int, int]
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`mode` says who wrote it: "extract" (sentences of the notes, word for word), "generate" (a model), "none"."""

    mode: str
    text: str
    citations: tuple[Citation, ...] = ()
    claims: tuple[str, ...] = ()
    notice: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    hit: Hit
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        return " ".join(self.hit.text[self.start : self.end].split())


def answer(trace: Trace, engine: Engine) -> Answer:
    """What the evidence says: by the engine's generator if it has one, else an extract.

    The extract is the best sentences of the last round's first hits, in the order of hits and text, cited by [n].
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
    if engine.generator is not None:
        try:
            return generated(trace.query, hits, engine.generator, notices)
        except Exception as error:  # a plug-in may raise anything; the extract is always there
            name = engine.generator.name
            notices.append(f"the generator {name} failed ({type(error).__name__}: {error}): this is an extract.")
    return _extract(trace, hits[:FROM_HITS], engine, notices)


def generated(query: str, hits: Sequence[Hit], generator: Generator, notices: Sequence[str] = ()) -> Answer:
    """The generator's text with the citations it made. Numbers that stand for no passage are removed, and said."""
    text = "".join(generator.generate(query, [hit.text for hit in hits])).strip()
    numbers = [int(n) for n in dict.fromkeys(_CITED.findall(text))]
    unknown = [n for n in numbers if not 1 <= n <= len(hits)]
    for n in unknown:
        text = re.sub(rf" ?\[0*{n}\]", "", text)
    said = [*notices, *([f"Citations to no passage were removed: {', '.join(map(str, unknown))}."] if unknown else [])]
    cited = [(n, hits[n - 1]) for n in numbers if n not in unknown]
    citations = tuple(Citation(n, hit.uid, hit.path, hit.lines, hit.page, hit.text) for n, hit in cited)
    return Answer("generate", text, citations, notice=" ".join(said))


def _extract(trace: Trace, hits: Sequence[Hit], engine: Engine, notices: list[str]) -> Answer:
    query = read_query(trace.query, engine.embedder, engine.snapshot.sparse, engine.settings.min_token_len)
    candidates = [s for place, hit in enumerate(hits) for s in _scored(hit, place, query, engine)]
    best = sorted(candidates, key=lambda s: -s.score)[:SENTENCES]
    chosen = sorted(best, key=lambda s: (hits.index(s.hit), s.start))
    if not chosen:
        notices.append("The chunks found hold no sentence that could be quoted.")
        return Answer("none", "", notice=" ".join(notices))
    cited = list(dict.fromkeys(s.hit.uid for s in chosen))
    text = " ".join(f"{s.text} [{cited.index(s.hit.uid) + 1}]" for s in chosen)
    citations = tuple(_citation(i, uid, chosen) for i, uid in enumerate(cited, start=1))
    return Answer("extract", text, citations, notice=" ".join(notices))


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without the ones whose text an earlier hit already has: a copied paragraph takes one slot."""
    seen: set[str] = set()
    distinct = []
    for hit in hits:
        if hit.content not in seen:
            seen.add(hit.content)
            distinct.append(hit)
    return distinct


def _citation(number: int, uid: str, chosen: Sequence[_Sentence]) -> Citation:
    own = [s for s in chosen if s.hit.uid == uid]
    hit = own[0].hit
    first, last = line_range(hit.text, own[0].start, own[-1].end)
    above = hit.lines[0] - 1
    return Citation(number, uid, hit.path, (above + first, above + last), hit.page, " … ".join(s.text for s in own))


def _scored(hit: Hit, place: int, query: Query, engine: Engine) -> list[_Sentence]:
    spans = [span for sentence in sentences(hit.text) for span in _quotes(hit.text, *sentence)]
    if not spans:
        return []
    coverage = np.array([_idf_coverage(query.intent, hit.text[a:b], engine.snapshot.sparse) for a, b in spans])
    token_scores = _token_scores(hit, spans, query, engine)
    score = coverage if token_scores is None else TOKEN_SHARE * token_scores + (1 - TOKEN_SHARE) * coverage
    return [_Sentence(hit, a, b, float(s) - RANK_DISCOUNT * place) for (a, b), s in zip(spans, score, strict=True)]


def _token_scores(
    hit: Hit, spans: Sequence[tuple[int, int]], query: Query, engine: Engine
) -> NDArray[np.float64] | None:
    """Late-interaction score of each sentence; None without token codes."""
    reranker = engine.pipeline().reranker
    if query.tokens is None or not isinstance(reranker, LateInteraction) or hit.uid not in engine.snapshot.row_of:
        return None
    chunk = engine.snapshot.chunk(hit.uid)
    if not chunk.index_text.endswith(hit.text):
        return None
    shift = len(chunk.index_text) - len(hit.text)
    codes, _, _ = read_codes(engine.store, reranker.embedder.name, reranker.embedder.dimension, [chunk.key])
    at = np.array([a for a, _ in reranker.embedder.token_spans(chunk.index_text)][: len(codes)]) - shift
    if not len(codes) or len(at) != len(codes):
        return None
    pieces = [codes[(at >= a) & (at < b)] for a, b in spans]
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in pieces])])
    sims, _ = best_matches_many(query.tokens.rows, np.concatenate(pieces), offsets)
    scores: NDArray[np.float64] = contributions(sims, query.tokens.weights).sum(axis=1)
    return scores


def _idf_coverage(intent: str, text: str, sparse: SparseIndex) -> float:
    wanted = {term: idf(sparse, term) for term in content_terms(intent)}
    held = {token.term for token in tokenize(text)}
    total = sum(wanted.values())
    return sum(w for term, w in wanted.items() if term in held) / total if total else 0.0


def _quotes(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence as what can be quoted: without its margins, and in clauses where it is long.

    Headings, rules and frames of tables and code are not statements; rows of a table are.
    """
    piece = text[start:end]
    start, end = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    if not any(c.isalnum() for c in text[start:end]) or text.startswith(("#", "```", "~~~"), start):
        return []
    spans = []
    while end - start > QUOTE_CHARS:
        stop = best_cut(text, start, start + QUOTE_CHARS)
        spans.append((start, stop))
        start = stop
    return [*spans, (start, end)]
