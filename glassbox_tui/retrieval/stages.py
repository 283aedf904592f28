"""The stages. Each is a function from a query and what came before to a ranked list whose scores show their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from glassbox_tui.index.dense import search_dense
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, score_parts, search_sparse
from glassbox_tui.index.store import Store
from glassbox_tui.index.token_codes import read_codes
from glassbox_tui.models.late_interaction import best_matches_many, contributions
from glassbox_tui.models.protocols import Reranker, TokenEmbedder
from glassbox_tui.retrieval.fusion import RankedList, rank_candidates, rrf
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.trace import Candidate, Part
from glassbox_tui.settings import Settings

Ranking = tuple[Candidate, ...]


def bm25_stage(query: Query, snapshot: Snapshot, settings: Settings, explain: bool) -> Ranking:
    """Keyword matches, at most `fanout`."""
    how = Bm25(settings.bm25_k1, settings.bm25_b, settings.bm25_variant)
    found = search_sparse(snapshot.sparse, query.terms, settings.fanout, how)
    return tuple(
        Candidate(
            snapshot.chunks[row].uid,
            rank,
            score,
            tuple(Part(t, v) for t, v in score_parts(snapshot.sparse, row, query.terms, how)) if explain else (),
        )
        for rank, (row, score) in enumerate(found, start=1)
    )


def dense_stage(query: Query, snapshot: Snapshot, settings: Settings, explain: bool) -> Ranking:
    """Nearest chunks by cosine, at most `fanout`."""
    if query.vector is None:
        return ()
    found = search_dense(snapshot.dense, query.vector, settings.fanout)
    return tuple(
        Candidate(snapshot.chunks[row].uid, rank, score, (Part("cosine", score),) if explain else ())
        for rank, (row, score) in enumerate(found, start=1)
    )


def fused_stage(lists: Sequence[RankedList], settings: Settings, explain: bool) -> Ranking:
    """The union of the first-stage lists by reciprocal rank fusion."""
    return rrf(lists, settings.rrf_k, explain)


def final_stage(fused: Ranking, rerank: Ranking | None, weight: float, settings: Settings, explain: bool) -> Ranking:
    """The second fusion: the reranker is one more list, a signal and not a veto.

    What was not reranked stands behind what was: its fused rank is lower and it has no second summand.
    """
    lists = [RankedList("fused", 1.0, uids(fused))]
    if rerank is not None:
        lists.append(RankedList("rerank", weight, uids(rerank)))
    return rrf(lists, settings.rrf_k, explain)


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Reranks over stored token codes: per query token the best-matching chunk token, mean weighted by sqrt(idf)."""

    name: str
    embedder: TokenEmbedder
    store: Store

    def rank(self, query: Query, fused: Ranking, snapshot: Snapshot, explain: bool) -> Ranking:
        """The fused candidates that have token codes, by late interaction. Empty when the query has no tokens."""
        tokens = query.tokens
        if tokens is None or not tokens.words:
            return ()
        keys = [snapshot.chunk(c.uid).key for c in fused]
        codes, offsets, present = read_codes(self.store, self.embedder.name, self.embedder.dimension, keys)
        sims, _ = best_matches_many(tokens.rows, codes, offsets)
        shares = contributions(sims, tokens.weights)
        return rank_candidates(
            Candidate(
                c.uid,
                0,
                float(shares[i].sum()),
                tuple(Part(w, float(v)) for w, v in zip(tokens.words, shares[i], strict=True)) if explain else (),
            )
            for i, c in enumerate(fused)
            if present[i] and offsets[i] < offsets[i + 1]
        )

    def explain(self, query: Query, ranking: Ranking, chosen: Sequence[str], snapshot: Snapshot) -> Ranking:
        """`ranking` with, for the chosen uids, the word that each query token met and where it stands in the chunk."""
        tokens = query.tokens
        wanted = [uid for uid in chosen if any(c.uid == uid for c in ranking)]
        if tokens is None or not wanted:
            return ranking
        chunks = [snapshot.chunk(uid) for uid in wanted]
        codes, offsets, _ = read_codes(self.store, self.embedder.name, self.embedder.dimension, [c.key for c in chunks])
        sims, at = best_matches_many(tokens.rows, codes, offsets)
        parts_of: dict[str, tuple[Part, ...]] = {}
        for i, chunk in enumerate(chunks):
            spans = self.embedder.token_spans(chunk.index_text)
            # Spans speak of index_text; they hold in the shown text where that is its end, as it nearly always is.
            shift = len(chunk.index_text) - len(chunk.text) if chunk.index_text.endswith(chunk.text) else None
            old = next(c for c in ranking if c.uid == chunk.uid).parts
            parts_of[chunk.uid] = tuple(
                _met(part, spans, int(at[i, q]), float(sims[i, q]), chunk.index_text, shift)
                for q, part in enumerate(old)
            )
        return tuple(replace(c, parts=parts_of.get(c.uid, c.parts)) for c in ranking)


def _met(part: Part, spans: Sequence[tuple[int, int]], at: int, sim: float, text: str, shift: int | None) -> Part:
    if not 0 <= at < len(spans):
        return part
    start, end = spans[at]
    span = None if shift is None or start < shift else (start - shift, end - shift)
    return replace(part, detail=f"{text[start:end].strip()} {sim:.2f}", span=span)


def text_rerank(reranker: Reranker, query: Query, fused: Ranking, snapshot: Snapshot, explain: bool) -> Ranking:
    """Rerank by a model that reads texts. Raises what it raises; ValueError for scores that are no numbers."""
    scores = [float(s) for s in reranker.rerank(query.intent, [snapshot.chunk(c.uid).index_text for c in fused])]
    if len(scores) != len(fused) or not np.isfinite(scores).all():
        raise ValueError(f"{len(scores)} scores came back for {len(fused)} texts, or some are not finite numbers")
    return rank_candidates(
        Candidate(c.uid, 0, s, (Part(reranker.name, s),) if explain else ()) for c, s in zip(fused, scores, strict=True)
    )


def uids(ranking: Ranking) -> tuple[str, ...]:
    return tuple(c.uid for c in ranking)
