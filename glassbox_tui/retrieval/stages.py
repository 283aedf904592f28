"""The stages. Each is a function from a query and what came before to a ranked list whose scores show their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.dense import search_dense
from glassbox_tui.index.rows import ChunkRow
from glassbox_tui.index.scope import Rows
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, Passages, passage_parts, search_passages
from glassbox_tui.index.store import Store
from glassbox_tui.index.token_codes import read_codes
from glassbox_tui.models.late_interaction import best_matches_many, contributions
from glassbox_tui.models.levelling import Level
from glassbox_tui.models.llm_rerank import LLMReranker
from glassbox_tui.models.protocols import Reranker, TokenEmbedder
from glassbox_tui.progress import CancelledFn
from glassbox_tui.retrieval import half_typed
from glassbox_tui.retrieval.crossing import Crossing
from glassbox_tui.retrieval.fusion import RankedList, heard_once, rank_candidates, rrf
from glassbox_tui.retrieval.literal import with_literal
from glassbox_tui.retrieval.places import placed
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.standing import length_shares
from glassbox_tui.retrieval.trace import Candidate, Part
from glassbox_tui.retrieval.voices import voices
from glassbox_tui.settings import Settings

Ranking = tuple[Candidate, ...]


class Met(NamedTuple):
    """For each query token the chunk token it met, by number, their cosine, and how its word stands there, or ""."""

    at: NDArray[np.int64]
    sims: NDArray[np.float32]
    stands: Sequence[str]


Meetings = Mapping[str, Met]  # by uid


def bm25_of(settings: Settings, floor: float = 0.0) -> Bm25:
    """The knobs of BM25 as the settings have them."""
    return Bm25(settings.bm25_k1, settings.bm25_b, settings.bm25_variant, floor, settings.bm25_note_share)


def bm25_stage(
    query: Query,
    snapshot: Snapshot,
    settings: Settings,
    explain: bool,
    floor: float = 0.0,
    only: Rows | None = None,
    unheld: Rows | None = None,
) -> Ranking:
    """Keyword matches, at most `fanout`; `floor`, `only`, `unheld`: see `search_passages`."""
    how = bm25_of(settings, floor)
    passages = half_typed.passages(snapshot.passages, query.begun)
    found = search_passages(passages, query.terms, settings.fanout, how, only, unheld)
    return tuple(
        Candidate(
            snapshot.chunks[row].uid,
            rank,
            score,
            _term_parts(passages, row, query, how) if explain else (),
        )
        for rank, (row, score) in enumerate(found, start=1)
    )


def _term_parts(passages: Passages, row: int, query: Query, how: Bm25) -> tuple[Part, ...]:
    return tuple(
        Part(
            half_typed.part_name(term, query.begun, passages, row),
            own + whole,
            f"chunk {own:.2f} + note {whole:.2f}" if how.note_share else "",
        )
        for term, own, whole in passage_parts(passages, row, query.terms, how)
    )


def dense_stage(
    query: Query, snapshot: Snapshot, settings: Settings, explain: bool, only: Rows | None = None
) -> Ranking:
    """Nearest chunks by cosine, at most `fanout`; `only`: see `search_dense`."""
    if query.vector is None:
        return ()
    level = query.dense_level(query.vector)
    found = search_dense(snapshot.dense, query.vector, settings.fanout, level, only)
    return tuple(
        Candidate(
            snapshot.chunks[row].uid,
            rank,
            score,
            (Part("cosine", cosine), *_level_parts(level, snapshot, row)) if explain else (),
        )
        for rank, (row, score, cosine) in enumerate(found, start=1)
    )


def _level_parts(level: Level, snapshot: Snapshot, row: int) -> tuple[Part, ...]:
    """What a score gets by where the chunk stands between the languages, and as a chunk that is near to everything."""
    chunk, parts = snapshot.chunks[row], []
    place = snapshot.place(chunk.uid)
    if language := level.language(place):
        between = f", {place[0]:.0%} of the way" if 0 < place[0] < 1 else ""
        parts.append(Part("language", language, f"average {chunk.language} text{between}"))
    if hub := level.hub(place):
        parts.append(Part("hub", hub, "near to any question"))
    return tuple(parts)


def fused_stage(lists: Sequence[RankedList], settings: Settings, explain: bool) -> Ranking:
    """The union of the first-stage lists by reciprocal rank fusion."""
    return rrf(heard_once(lists, settings.rrf_k), settings.rrf_k, explain)


def final_stage(
    fused: Ranking,
    rerank: Ranking | None,
    weight: float,
    named: Ranking,
    settings: Settings,
    explain: bool,
    lacking: Sequence[str] = (),
) -> Ranking:
    """The second fusion: the reranker is one more list, a signal and not a veto.

    What was not reranked stands behind what was: its fused rank is lower and it has no second summand. But `lacking`,
    which the reranker could not see, keep their fused places in its list (see `places`). `named`: what holds a rare
    thing of the question (see `literal`); where there is no reranker it has had its say in `fused`.
    """
    lists = [RankedList("fused", 1.0, uids(fused))]
    if rerank is not None:
        lists.append(placed(RankedList("rerank", weight, uids(rerank)), uids(fused), lacking))
    return rrf(with_literal(lists, uids(named), settings.rrf_k), settings.rrf_k, explain)


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Reranks over stored token codes: per query token the best-matching chunk token, mean weighted by sqrt(idf).

    To that a chunk's score adds what its standing says (see `standing`): the question's words that it holds.
    """

    name: str
    embedder: TokenEmbedder
    store: Store

    def rank(
        self,
        query: Query,
        fused: Ranking,
        snapshot: Snapshot,
        explain: bool,
        how: Bm25,
        crossing: Crossing | None = None,
    ) -> tuple[Ranking, Meetings]:
        """The fused candidates that have token codes, by late interaction. Empty when the query has no tokens."""
        tokens = query.tokens
        if tokens is None or not tokens.words:
            return (), {}
        chunks = [snapshot.chunk(c.uid) for c in fused]
        codes, offsets, present = read_codes(
            self.store, self.embedder.name, self.embedder.dimension, [chunk.key for chunk in chunks]
        )
        rows = np.array([snapshot.row_of[chunk.uid] for chunk in chunks], dtype=np.int64)
        sims, at = best_matches_many(tokens.rows, codes, offsets)
        heard = voices(tokens, snapshot, rows, how, crossing)
        shares = contributions(sims, tokens.weights) + heard.tokens
        lengths = np.diff(offsets)
        by_length = length_shares(lengths)
        candidates: list[Candidate] = []
        for i, chunk in enumerate(chunks):
            if not present[i] or offsets[i] == offsets[i + 1]:
                continue
            parts: tuple[Part, ...] = ()
            if explain:
                words = (Part(word, float(share)) for word, share in zip(tokens.words, shares[i], strict=True))
                parts = (*words, *_level_parts(tokens.level, snapshot, int(rows[i])))
                if heard.keywords[i]:
                    parts += (Part("keywords", float(heard.keywords[i]), heard.said[i]),)
                parts += (Part("length", float(by_length[i]), f"{lengths[i]} tokens"),)
            level = tokens.level.at(snapshot.place(chunk.uid))
            score = float(shares[i].sum() + heard.keywords[i] + by_length[i]) + level
            candidates.append(Candidate(chunk.uid, 0, score, parts))
        met = {chunk.uid: Met(at[i], sims[i], heard.stands[i]) for i, chunk in enumerate(chunks)}
        return rank_candidates(candidates), met

    def explain(self, ranking: Ranking, chosen: Sequence[str], meetings: Meetings, snapshot: Snapshot) -> Ranking:
        """`ranking` with, for the chosen uids, the word that each query token met and where it stands in the chunk."""
        explained = []
        for candidate in ranking:
            if candidate.uid in chosen:
                chunk, met = snapshot.chunk(candidate.uid), meetings[candidate.uid]
                spans = self.embedder.token_spans(chunk.index_text)
                told = [
                    _met(p, spans, int(i), float(s), stands, chunk)
                    for p, i, s, stands in zip(candidate.parts, met.at, met.sims, met.stands, strict=False)
                ]
                candidate = replace(candidate, parts=(*told, *candidate.parts[len(told) :]))
            explained.append(candidate)
        return tuple(explained)


def _met(part: Part, spans: Sequence[tuple[int, int]], at: int, sim: float, stands: str, chunk: ChunkRow) -> Part:
    """The part with the word it met. Spans speak of index_text; they hold in the text where that is its end."""
    if not 0 <= at < len(spans):
        return part
    start, end = spans[at]
    shift = len(chunk.index_text) - len(chunk.text)
    inside = start >= shift and chunk.index_text.endswith(chunk.text)
    span = (start - shift, end - shift) if inside else None
    met = f"met {chunk.index_text[start:end].strip()} at {sim:.2f}"
    return replace(part, detail=f"{met}, {stands}" if stands else met, span=span)


def text_rerank(
    reranker: Reranker,
    question: str,
    names: Sequence[str],
    texts: Sequence[str],
    explain: bool,
    cancelled: CancelledFn = lambda: False,
) -> Ranking:
    """Rerank by a model that reads texts. Raises what it raises; ValueError for scores that are no numbers.

    Only a language model takes so long that it must hear of `cancelled`.
    """
    given: Sequence[float]
    if isinstance(reranker, LLMReranker):
        given = reranker.rerank(question, texts, cancelled)
    else:
        given = reranker.rerank(question, texts)
    scores = [float(score) for score in given]
    if len(scores) != len(texts) or not np.isfinite(scores).all():
        raise ValueError(f"{len(scores)} scores came back for {len(texts)} texts, or some are not finite numbers")
    return rank_candidates(
        Candidate(uid, 0, score, (Part(reranker.name, score),) if explain else ())
        for uid, score in zip(names, scores, strict=True)
    )


def uids(ranking: Ranking) -> tuple[str, ...]:
    return tuple(c.uid for c in ranking)
