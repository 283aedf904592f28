"""The loop: stages, grade, and while the evidence is insufficient a rewritten query and another round.

`first_round` and `next_round` are the two steps; `run` is the loop over them. A later round's bm25 and dense lists are
its own; its fused list holds round 0's lists too, so that no rewrite can drop what the person asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.models.protocols import Embedder, Reranker
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.retrieval import stages
from glassbox_tui.retrieval.feedback import feed_back
from glassbox_tui.retrieval.fusion import RankedList
from glassbox_tui.retrieval.grade import grade
from glassbox_tui.retrieval.query import Query, read_query
from glassbox_tui.retrieval.reranking import RerankError
from glassbox_tui.retrieval.stages import LateInteraction, Meetings, Ranking, uids
from glassbox_tui.retrieval.trace import STAGES, AddedTerm, Candidate, Hit, Place, Round, Stage
from glassbox_tui.settings import Settings
from glassbox_tui.text.normalize import fold

MODES = ("bm25", "dense", "hybrid")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything a round needs: an index, models, settings. Immutable, so a search never sees half an update."""

    snapshot: Snapshot
    settings: Settings
    embedder: Embedder | None
    reranker: LateInteraction | Reranker | None
    rerank_weight: float
    thresholds: Mapping[str, float]
    mode: str = "hybrid"
    explain: bool = True
    cancelled: CancelledFn = lambda: False


@dataclass(frozen=True, slots=True)
class Step:
    """A round with the query that made it and round 0's own lists, which later rounds fuse with; `notices` are new."""

    round: Round
    query: Query
    origin_lists: tuple[RankedList, ...]
    final: Ranking
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class _Clock:
    """Wall time between calls, in ms."""

    last: float = field(default_factory=time.perf_counter)

    def lap(self) -> float:
        now = time.perf_counter()
        passed, self.last = (now - self.last) * 1000.0, now
        return passed


def first_round(text: str, pipe: Pipeline, *, number: int = 0, origin: str = "user") -> Step:
    """A round with a typed query. Raises Cancelled between stages, RerankError when a required reranker cannot run."""
    embedder = None if pipe.mode == "bm25" else pipe.embedder
    query = read_query(text, embedder, pipe.snapshot.sparse, pipe.settings.min_token_len)
    return _round(number, origin, query, (), (), pipe)


def next_round(before: Step, origin: Query, pipe: Pipeline) -> Step | None:
    """The round that feedback from `before` leads to; None when its query would be one that was run already."""
    query, added = feed_back(origin, before.final, pipe.snapshot, pipe.settings.min_token_len)
    if not added or fold(query.text) == fold(before.query.text):
        return None
    return _round(before.round.number + 1, "prf", query, added, before.origin_lists, pipe)


def run(
    text: str, pipe: Pipeline, max_rewrites: int, on_round: Callable[[Round], None] = lambda _: None
) -> tuple[tuple[Round, ...], tuple[str, ...]]:
    """All rounds and notices. Ends when the evidence suffices, rewrites are used up, or a query repeats."""
    step: Step | None = first_round(text, pipe)
    assert step is not None
    origin, seen = step.query, {fold(step.query.text)}
    rounds, notices = [step.round], list(step.notices)
    on_round(step.round)
    while not step.round.grade.sufficient and len(rounds) <= max_rewrites:
        step = next_round(step, origin, pipe)
        if step is None or fold(step.query.text) in seen:
            break
        seen.add(fold(step.query.text))
        rounds.append(step.round)
        notices += [n for n in step.notices if n not in notices]
        on_round(step.round)
    return tuple(rounds), tuple(notices)


def _round(
    number: int,
    origin: str,
    query: Query,
    added: tuple[AddedTerm, ...],
    earlier: tuple[RankedList, ...],
    pipe: Pipeline,
) -> Step:
    snapshot, settings, explain = pipe.snapshot, pipe.settings, pipe.explain
    clock, done, notices = _Clock(), [], list[str]()

    def record(name: str, ranking: Ranking) -> Ranking:
        done.append(Stage(name, round(clock.lap(), 3), ranking))
        if pipe.cancelled():
            raise Cancelled
        return ranking

    lists: list[RankedList] = []
    if pipe.mode != "dense":
        # A stray bigram or two is no evidence, and in a list of its own it would outvote the dense stage.
        floor = settings.bm25_floor if pipe.mode == "hybrid" and snapshot.dense.size else 0.0
        found = record("bm25", stages.bm25_stage(query, snapshot, settings, explain, floor))
        lists.append(RankedList("bm25", 1.0, uids(found)))
        if not query.terms:
            notices.append(
                "the query has no keyword terms (only stop words or punctuation): the keyword stage found nothing"
            )
    if pipe.mode != "bm25" and query.vector is not None:
        found = record("dense", stages.dense_stage(query, snapshot, settings, explain))
        lists.append(RankedList("dense", 1.0, uids(found)))
    joined = lists if settings.feedback == "replace" else [*lists, *earlier]
    fused = record("fused", stages.fused_stage(joined, settings, explain))
    reranked, meetings = _rerank(query, fused, pipe, notices) if pipe.mode == "hybrid" else (None, {})
    if reranked is not None:
        record("rerank", reranked)
    final = record("final", stages.final_stage(fused, reranked, pipe.rerank_weight, settings, explain))
    evidence = final[: settings.top_k]
    if reranked is not None and explain and isinstance(pipe.reranker, LateInteraction):
        explained = pipe.reranker.explain(reranked, uids(evidence), meetings, snapshot)
        done[-2] = Stage("rerank", done[-2].ms, explained)
    hits = _hits(evidence, done, snapshot)
    verdict = grade(
        query.intent,
        [snapshot.chunk(c.uid).index_text for c in evidence],
        snapshot.sparse,
        _top_dense(query, hits, snapshot),
        max((p.score for h in hits if (p := h.stages["rerank"]) is not None), default=None),
        {name: limit for name, limit in pipe.thresholds.items() if any(stage.name == name for stage in done)},
        settings.min_token_len,
    )
    round_ = Round(number, query.text, origin, tuple(query.terms), added, tuple(done), hits, verdict)
    return Step(
        round_,
        query,
        earlier or tuple(RankedList(f"{r.name}@0", settings.query_weight, r.uids) for r in lists),
        final,
        tuple(notices),
    )


def _rerank(query: Query, fused: Ranking, pipe: Pipeline, notices: list[str]) -> tuple[Ranking | None, Meetings]:
    """The rerank list and what met what; None when the stage did not run: a notice says why, an error if required."""
    reranker, settings = pipe.reranker, pipe.settings
    if reranker is None or not fused:
        return None, {}
    depth = fused[: settings.rerank_depth]
    if isinstance(reranker, LateInteraction):
        ranking, meetings = reranker.rank(query, depth, pipe.snapshot, pipe.explain)
        if len(ranking) < len(depth) and query.tokens is not None and query.tokens.words:
            notices.append(
                f"{len(depth) - len(ranking)} of {len(depth)} candidates have no token codes yet and were not reranked"
            )
        return ranking, meetings
    try:
        return stages.text_rerank(reranker, query, depth, pipe.snapshot, pipe.explain), {}
    except Exception as error:  # a plug-in may raise anything, and must not take the search down with it
        sentence = f"the reranker {reranker.name} failed ({type(error).__name__}: {error}): the fused order stands"
        if settings.require_rerank:
            raise RerankError(f"GLASSBOX_REQUIRE_RERANK is set and {sentence}") from error
        notices.append(sentence)
        return None, {}


def _top_dense(query: Query, hits: tuple[Hit, ...], snapshot: Snapshot) -> float | None:
    """The evidence's best dense score for what the person asked: a moved query would flatter its own hits."""
    if query.asked is None:
        return None
    offsets = query.dense_offsets(query.asked)
    scores = [
        float(np.dot(query.asked, vector)) + offsets.get(snapshot.chunk(hit.uid).language, 0.0)
        for hit in hits
        if (vector := snapshot.dense.vector(snapshot.row_of[hit.uid])) is not None
    ]
    return max(scores, default=None)


def _hits(evidence: tuple[Candidate, ...], done: list[Stage], snapshot: Snapshot) -> tuple[Hit, ...]:
    places = {stage.name: {c.uid: Place(c.rank, c.score) for c in stage.candidates} for stage in done}
    return tuple(
        Hit(
            uid=chunk.uid,
            path=chunk.path,
            title=chunk.title,
            heading=chunk.heading,
            text=chunk.text,
            start=chunk.start,
            end=chunk.end,
            lines=chunk.lines,
            page=chunk.page,
            content=chunk.content,
            stages={name: places.get(name, {}).get(chunk.uid) for name in STAGES},
        )
        for chunk in (snapshot.chunk(c.uid) for c in evidence)
    )
