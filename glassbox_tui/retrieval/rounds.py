"""One round: a query through all stages, its hits and its grade."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.scope import Rows, rows_within
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.llm_rerank import LLMReranker
from glassbox_tui.models.protocols import Embedder, Reranker
from glassbox_tui.models.truncation import truncation_notice
from glassbox_tui.models.verdict_weights import Fitted
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.retrieval import plugins, stages, verdict
from glassbox_tui.retrieval.fusion import RankedList
from glassbox_tui.retrieval.grade import grade
from glassbox_tui.retrieval.plugins import NO_PLUGINS, Plugins
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.reranking import RerankError
from glassbox_tui.retrieval.stages import LateInteraction, Meetings, Ranking, uids
from glassbox_tui.retrieval.trace import (
    STAGES,
    VECTORS_MISSING,
    AddedTerm,
    Candidate,
    Grade,
    Hit,
    Place,
    Round,
    Stage,
)
from glassbox_tui.settings import Settings

NO_MODEL = "no language model is here"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything a round needs: an index, models, settings. Immutable, so a search never sees half an update.

    `scope`: the folder or note that is searched, "" for all of them. The first lists hold nothing from outside, and so
    neither do the stages and the feedback that work on them. `chat`: the language model, if the
    settings ask for one; `no_chat`: why it is None. `fitted`: the weights of the verdict; None: thresholds decide.
    """

    snapshot: Snapshot
    settings: Settings
    embedder: Embedder | None
    reranker: LateInteraction | Reranker | None
    rerank_weight: float
    thresholds: Mapping[str, float]
    mode: str = "hybrid"
    explain: bool = True
    cancelled: CancelledFn = lambda: False
    plugins: Plugins = NO_PLUGINS
    scope: str = ""
    chat: ChatModel | None = None
    no_chat: str = NO_MODEL
    fitted: Fitted | None = None

    @property
    def only(self) -> Rows | None:
        """The numbers of the chunks in scope; None: all."""
        return rows_within(self.snapshot.chunks, self.scope) if self.scope else None

    @property
    def dense_coverage(self) -> float:
        """Share of the chunks in scope that have a vector; 1 where there are no chunks."""
        only = self.only
        if only is None or not len(only):
            return self.snapshot.dense_coverage
        return float(np.isin(only, self.snapshot.dense.rows, assume_unique=True).mean())


@dataclass(frozen=True, slots=True)
class Ask:
    """What a round is to run: the query, where it comes from, what was added to the one before.

    `earlier` are round 0's own lists, which every later round fuses with. `more` are further queries of the same round,
    each with first lists of its own ("bm25/2", "dense/2", ...): the parts of a question that was taken apart.
    """

    number: int
    origin: str
    query: Query
    added: tuple[AddedTerm, ...] = ()
    earlier: tuple[RankedList, ...] = ()
    more: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A round that ran, with what the next one needs: its query, round 0's lists, its final order; and new notices."""

    round: Round
    query: Query
    origin_lists: tuple[RankedList, ...]
    final: Ranking
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class _Record:
    """The stages done so far, each with the wall time since the one before it in ms."""

    pipe: Pipeline
    done: dict[str, Stage] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def add(self, name: str, ranking: Ranking) -> Ranking:
        now = time.perf_counter()
        self.done[name] = Stage(name, round((now - self.last) * 1000.0, 3), ranking)
        self.last = now
        if self.pipe.cancelled():
            raise Cancelled
        return ranking


def run_round(ask: Ask, pipe: Pipeline) -> Step:
    """One pass through the stages. Raises Cancelled between them, RerankError when a required reranker cannot run."""
    query, settings, explain = ask.query, pipe.settings, pipe.explain
    record, notices = _Record(pipe), list[str]()
    lists = _first_stages(query, pipe, record, notices)
    for number, part in enumerate(ask.more, start=2):
        lists += _first_stages(part, pipe, record, notices, f"/{number}")
    joined = lists if settings.feedback == "replace" else [*lists, *ask.earlier]
    fused = record.add("fused", stages.fused_stage(joined, settings, explain))
    reranked, meetings = _rerank(query, fused, pipe, notices) if pipe.mode == "hybrid" else (None, {})
    if reranked is not None:
        record.add("rerank", reranked)
    final = _final(fused, reranked, pipe, notices)
    record.add("final", final)
    evidence = final[: settings.top_k]
    if reranked is not None and explain and isinstance(pipe.reranker, LateInteraction):
        explained = pipe.reranker.explain(reranked, uids(evidence), meetings, pipe.snapshot)
        record.done["rerank"] = Stage("rerank", record.done["rerank"].ms, explained)
    done = tuple(record.done.values())
    hits = _hits(evidence, done, pipe.snapshot)
    judged = _verdict(query, hits, final, done, meetings, pipe, notices)
    terms = tuple(dict.fromkeys(term for part in (query, *ask.more) for term in part.terms))
    round_ = Round(ask.number, query.text, ask.origin, terms, ask.added, done, hits, judged)
    own = tuple(RankedList(f"{r.name}@0", settings.query_weight * r.weight, r.uids) for r in lists)
    return Step(round_, query, ask.earlier or own, final, tuple(notices))


def _first_stages(
    query: Query, pipe: Pipeline, record: _Record, notices: list[str], suffix: str = ""
) -> list[RankedList]:
    """The lists that are fused first: bm25, dense, and those of the person's own retrievers.

    `suffix` is added to their names.
    """
    snapshot, settings, explain, only = pipe.snapshot, pipe.settings, pipe.explain, pipe.only
    own = {retriever.name: retriever for retriever in pipe.plugins.retrievers}
    wanted = [name for name in ("bm25", "dense") if pipe.mode in (name, "hybrid")]
    lists: list[RankedList] = []
    for name in dict.fromkeys([*wanted, *(own if pipe.mode == "hybrid" else ())]):
        found: Ranking | None = None
        if name in own:
            found = plugins.retrieved(own[name], query.text, settings.fanout, snapshot, notices, pipe.scope)
        if found is None and name == "bm25":
            # A stray bigram or two is no evidence, and in a list of its own it would outvote the dense stage.
            floor = settings.bm25_floor if pipe.mode == "hybrid" and snapshot.dense.size else 0.0
            found = stages.bm25_stage(query, snapshot, settings, explain, floor, only)
            if not query.terms:
                notices.append("no keyword terms in the query (only stop words or punctuation): bm25 found nothing")
        if found is None and name == "dense" and query.vector is not None:
            found = stages.dense_stage(query, snapshot, settings, explain, only)
        if found is not None:
            lists.append(RankedList(name + suffix, 1.0, uids(record.add(name + suffix, found))))
    return lists


def _rerank(query: Query, fused: Ranking, pipe: Pipeline, notices: list[str]) -> tuple[Ranking | None, Meetings]:
    """The rerank list and what met what; None when the stage did not run: a notice says why, an error if required."""
    reranker, settings = pipe.reranker, pipe.settings
    if reranker is None or not fused:
        return None, {}
    slow = isinstance(reranker, LLMReranker)
    depth = fused[: min(settings.rerank_depth, settings.llm_rerank_depth) if slow else settings.rerank_depth]
    if isinstance(reranker, LateInteraction):
        ranking, meetings = reranker.rank(query, depth, pipe.snapshot, pipe.explain)
        lacking = len(depth) - len(ranking)
        if lacking and query.tokens is not None and query.tokens.words:
            notices.append(f"{lacking} of {len(depth)} candidates have no token codes yet and were not reranked")
        return ranking, meetings
    texts = [pipe.snapshot.chunk(candidate.uid).index_text for candidate in depth]
    try:
        ranking = stages.text_rerank(reranker, query.intent, uids(depth), texts, pipe.explain, pipe.cancelled)
        notices += [notice] if (notice := truncation_notice(reranker, query.intent, texts)) else []
        return ranking, {}
    except Cancelled:
        raise
    except Exception as error:  # a plug-in may raise anything, and must not take the search down with it
        why = str(error) if isinstance(error, GlassboxError) else f"{type(error).__name__}: {error}"
        sentence = f"the reranker {reranker.name} failed ({why}): the fused order stands"
        if settings.require_rerank:
            raise RerankError(f"GLASSBOX_REQUIRE_RERANK is set and {sentence}") from error
        notices.append(sentence)
        return None, {}


def _final(fused: Ranking, reranked: Ranking | None, pipe: Pipeline, notices: list[str]) -> Ranking:
    if pipe.plugins.fusion is not None:
        ranking = plugins.fused_by(pipe.plugins.fusion, fused, reranked, notices)
        if ranking is not None:
            return ranking
    return stages.final_stage(fused, reranked, pipe.rerank_weight, pipe.settings, pipe.explain)


def _verdict(
    query: Query,
    hits: tuple[Hit, ...],
    final: Ranking,
    done: Sequence[Stage],
    meetings: Meetings,
    pipe: Pipeline,
    notices: list[str],
) -> Grade:
    ran = {stage.name for stage in done}
    evidence = [pipe.snapshot.chunk(hit.uid).index_text for hit in hits]
    known = [candidate.uid for candidate in final[: max(verdict.DEPTH, len(hits))]]
    dense = _asked_cosines(query, known, pipe.snapshot)
    graded = grade(
        query.intent,
        evidence,
        pipe.snapshot.sparse,
        max((dense[hit.uid] for hit in hits if hit.uid in dense), default=None),
        max((place.score for hit in hits if (place := hit.stages["rerank"]) is not None), default=None),
        {name: limit for name, limit in pipe.thresholds.items() if name in ran},
        pipe.settings.min_token_len,
    )
    if pipe.fitted is not None:
        if "dense" in ran and pipe.dense_coverage < 1.0:
            graded = replace(graded, sufficient=False, reasons=(VECTORS_MISSING,), thresholds={})
        else:
            lists = {stage.name: stage.candidates for stage in done}
            length = pipe.settings.min_token_len
            seen = verdict.Seen(query, final, lists, dense, meetings, pipe.snapshot, length)
            graded = verdict.judge(graded, seen, pipe.fitted.of(ran))
    judge = pipe.plugins.judge
    return graded if judge is None else plugins.judged(judge, query.intent, evidence, graded, notices, pipe.cancelled)


def _asked_cosines(query: Query, known: Sequence[str], snapshot: Snapshot) -> dict[str, float]:
    """The levelled cosines with what the person asked, of those chunks that have a vector: a moved query would flatter
    its own hits.
    """
    if query.asked is None:
        return {}
    offsets = query.dense_offsets(query.asked)
    return {
        uid: float(np.dot(query.asked, vector)) + offsets.get(snapshot.chunk(uid).language, 0.0)
        for uid in known
        if (vector := snapshot.dense.vector(snapshot.row_of[uid])) is not None
    }


def _hits(evidence: tuple[Candidate, ...], done: Sequence[Stage], snapshot: Snapshot) -> tuple[Hit, ...]:
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
