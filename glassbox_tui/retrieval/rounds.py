"""One round: a query through all stages, its hits and its grade."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.scope import Rows, rows_within
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.lexicon import LexiconOnce
from glassbox_tui.models.llm_rerank import LLMReranker
from glassbox_tui.models.protocols import Embedder, Reranker
from glassbox_tui.models.truncation import truncation_notice
from glassbox_tui.models.verdict_weights import Fitted
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.retrieval import half_typed, plugins, stages, translation, verdict
from glassbox_tui.retrieval.crossing import Crossing
from glassbox_tui.retrieval.filters import NO_FILTER, choose, flag_notice
from glassbox_tui.retrieval.fusion import RankedList
from glassbox_tui.retrieval.grade import grade
from glassbox_tui.retrieval.literal import literal_stage, with_literal
from glassbox_tui.retrieval.places import placed
from glassbox_tui.retrieval.plugins import NO_PLUGINS, Plugins
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.remedies import MENDED_WEIGHT, ORIGINS, Expander
from glassbox_tui.retrieval.reranking import RerankError
from glassbox_tui.retrieval.stages import LateInteraction, Meetings, Ranking, uids
from glassbox_tui.retrieval.standing import keyword_weight
from glassbox_tui.retrieval.trace import (
    ALL_STAGES,
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
from glassbox_tui.text.operators import parse
from glassbox_tui.text.translations import question_language

NO_MODEL = "no language model is here"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything a round needs: an index, models, settings. Immutable, so a search never sees half an update.

    `scope`: the folder or note that is searched, "" for all of them. The first lists hold nothing from outside, and so
    neither do the stages and the feedback that work on them. `chat`: the language model, if the
    settings ask for one; `no_chat`: why it is None. `lexicon`: the dictionary for notes in the other language.
    `typing`: the last word of a query may be half a word. `allowed`: within a round, the chunks in scope that the
    query's conditions leave; None: it has none. `expanders` know what may stand for a word of the question, `is_word`
    which words are no misspellings.
    `fitted`: the weights of the verdict; None: thresholds decide.
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
    lexicon: LexiconOnce | None = None
    typing: bool = False
    allowed: Rows | None = None
    expanders: tuple[Expander, ...] = ()
    is_word: Callable[[str], bool] = lambda word: False
    fitted: Fitted | None = None

    @property
    def only(self) -> Rows | None:
        """The numbers of the chunks that are searched: those in scope that the query's conditions allow; None: all."""
        if self.allowed is not None:
            return self.allowed
        return rows_within(self.snapshot.chunks, self.scope) if self.scope else None

    def lets_in(self, uid: str) -> bool:
        """Whether the conditions allow a chunk; True without conditions."""
        if self.allowed is None:
            return True
        row = self.snapshot.row_of.get(uid, -1)
        at = int(np.searchsorted(self.allowed, row))
        return at < len(self.allowed) and int(self.allowed[at]) == row

    @property
    def unembedded(self) -> Rows:
        """The numbers of the chunks that have no vector yet."""
        if self.snapshot.dense.size == len(self.snapshot.chunks):
            return np.zeros(0, np.int64)
        return np.setdiff1d(np.arange(len(self.snapshot.chunks)), self.snapshot.dense.rows, assume_unique=True)

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
    `why`: see `Round`. `weight` is that of the round's own lists beside the earlier ones.
    """

    number: int
    origin: str
    query: Query
    added: tuple[AddedTerm, ...] = ()
    earlier: tuple[RankedList, ...] = ()
    more: tuple[Query, ...] = ()
    why: str = ""
    weight: float = 1.0


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
    crossing: Crossing | None = None  # what was asked, in the notes of the other language
    last: float = field(default_factory=time.perf_counter)

    def add(self, name: str, ranking: Ranking, lacking: Sequence[str] = ()) -> Ranking:
        now = time.perf_counter()
        self.done[name] = Stage(name, round((now - self.last) * 1000.0, 3), ranking, tuple(lacking))
        self.last = now
        if self.pipe.cancelled():
            raise Cancelled
        return ranking


def run_round(ask: Ask, pipe: Pipeline) -> Step:
    """One pass through the stages. Raises Cancelled between them, RerankError when a required reranker cannot run."""
    query, settings, explain = ask.query, pipe.settings, pipe.explain
    notices = [flag_notice(flag) for flag in query.flags]
    chosen = (
        choose(query.conditions, pipe.snapshot, pipe.only, settings.min_token_len) if query.conditions else NO_FILTER
    )
    pipe = replace(pipe, allowed=chosen.rows)
    record = _Record(pipe)
    lists = _first_stages(query, pipe, record, notices)
    for number, part in enumerate(ask.more, start=2):
        lists += _first_stages(part, pipe, record, notices, f"/{number}")
    earlier = [replace(r, uids=[uid for uid in r.uids if pipe.lets_in(uid)]) for r in ask.earlier]
    own = [replace(r, weight=ask.weight * r.weight) for r in lists]
    joined = own if settings.feedback == "replace" else [*own, *earlier]
    named = _named(query, pipe, record)
    joined = with_literal(joined, uids(named), settings.rrf_k)
    fused = record.add("fused", stages.fused_stage(joined, settings, explain))
    hybrid = pipe.mode == "hybrid"
    reranked, meetings, lacking = _rerank(query, fused, pipe, notices, record.crossing) if hybrid else (None, {}, ())
    if reranked is not None:
        record.add("rerank", reranked, lacking)
    final = _final(fused, reranked, named, pipe, notices, lacking)
    record.add("final", final)
    evidence = final[: settings.top_k]
    if reranked is not None and explain and isinstance(pipe.reranker, LateInteraction):
        explained = pipe.reranker.explain(reranked, uids(evidence), meetings, pipe.snapshot)
        record.done["rerank"] = replace(record.done["rerank"], candidates=explained)
    done = tuple(record.done.values())
    hits = _hits(evidence, done, pipe.snapshot)
    judged = _verdict(query, hits, final, done, meetings, pipe, notices, record.crossing)
    terms = tuple(dict.fromkeys(term for part in (query, *ask.more) for term in part.terms))
    judged = replace(judged, sufficient=False, reasons=(chosen.reason,)) if chosen.reason else judged
    round_ = Round(
        ask.number,
        query.text,
        ask.origin,
        terms,
        ask.added,
        done,
        hits,
        judged,
        filters=chosen.filters,
        why=ask.why,
        judged_by=query.intent,
    )
    kept = lists_of(round_, settings, lists)
    origin_lists = (*ask.earlier, *kept) if mends(round_) else ask.earlier or kept
    return Step(round_, query, origin_lists, final, tuple(notices))


def mends(r: Round) -> bool:
    """Whether a round ran the question itself, mended: its lists then stand beside round 0's in all that follow."""
    return r.origin in ORIGINS


def lists_of(r: Round, settings: Settings, lists: Sequence[RankedList]) -> tuple[RankedList, ...]:
    """A round's own first lists, as later rounds fuse with them."""
    weight = settings.query_weight * (MENDED_WEIGHT if mends(r) else 1.0)
    return tuple(replace(own, name=f"{own.name}@{r.number}", weight=weight * own.weight) for own in lists)


def _first_stages(
    query: Query, pipe: Pipeline, record: _Record, notices: list[str], suffix: str = ""
) -> list[RankedList]:
    """The lists that are fused first: bm25, dense, and those of the person's own retrievers.

    `suffix` is added to their names.
    """
    snapshot, settings, explain, only = pipe.snapshot, pipe.settings, pipe.explain, pipe.only
    own = {retriever.name: retriever for retriever in pipe.plugins.retrievers}
    wanted = [name for name in ("bm25", "dense") if pipe.mode in (name, "hybrid")]
    unembedded = pipe.unembedded
    lists: list[RankedList] = []
    for name in dict.fromkeys([*wanted, *(own if pipe.mode == "hybrid" else ())]):
        found: Ranking | None = None
        if name in own:
            plain = parse(query.text).plain if query.conditions else query.text
            lets_in = pipe.lets_in if query.conditions else None
            found = plugins.retrieved(own[name], plain, settings.fanout, snapshot, notices, pipe.scope, lets_in)
        if found is None and name == "bm25":
            # A stray bigram or two is no evidence, and in a list of its own it would outvote the dense stage.
            floor = settings.bm25_floor if pipe.mode == "hybrid" and snapshot.dense.size else 0.0
            found = stages.bm25_stage(query, snapshot, settings, explain, floor, only, unembedded)
            if not query.terms:
                notices.append("no keyword terms in the query (only stop words or punctuation): bm25 found nothing")
        if found is None and name == "dense" and query.vector is not None:
            found = stages.dense_stage(query, snapshot, settings, explain, only)
        if found is not None:
            weight = say_of(name, query, found, pipe)
            lists.append(RankedList(name + suffix, weight, uids(record.add(name + suffix, found))))
        if name == "bm25" and pipe.mode == "hybrid":
            crossing = _crossing(translation.own_words(query), query, pipe, notices)
            if not suffix:
                reworded = crossing is not None and translation.own_words(query) != query.intent
                record.crossing = _crossing(query.intent, query, pipe, notices) if reworded else crossing
            if crossing is not None:
                found = translation.translated_stage(crossing, snapshot, settings.fanout, explain, only)
                if found:  # 3.3.3 means the same everywhere: an empty column would say nothing
                    weight = round(translation.list_weight(crossing, only), 2)
                    label = "translated" + suffix
                    lists.append(RankedList(label, weight, uids(record.add(label, found))))
    dense = next((i for i, r in enumerate(lists) if r.name == "dense" + suffix and "dense" not in own), None)
    if dense is not None and len(unembedded):
        before = uids(stages.fused_stage(lists[:dense] + lists[dense + 1 :], settings, False))
        lacking = tuple(uid for uid in before if snapshot.dense.vector(snapshot.row_of[uid]) is None)
        record.done["dense" + suffix] = replace(record.done["dense" + suffix], lacking=lacking)
        lists[dense] = placed(lists[dense], before, lacking)
    return lists


def say_of(name: str, query: Query, found: Ranking, pipe: Pipeline) -> float:
    """How much a first list weighs: keywords by how much of the question they hold, the others 1."""
    if name == "translated":
        crossing = _crossing(translation.own_words(query), query, pipe, [])
        return 1.0 if crossing is None else round(translation.list_weight(crossing, pipe.only), 2)
    if name != "bm25" or pipe.mode != "hybrid":
        return 1.0
    rows = np.array([pipe.snapshot.row_of[candidate.uid] for candidate in found], dtype=np.int64)
    index = half_typed.passages(pipe.snapshot.passages, query.begun).chunks
    return round(keyword_weight(index, query.terms, rows), 2)


def _crossing(text: str, query: Query, pipe: Pipeline, notices: list[str]) -> Crossing | None:
    """The words of `text` in the notes of the other language; None where there are none, or no dictionary."""
    language, only = question_language(query.intent), pipe.only
    rows = translation.other_rows(language, pipe.snapshot)
    if pipe.lexicon is None or not len(rows) or not (only is None or np.isin(rows, only).any()):
        return None
    try:
        return translation.crossed(text, language, pipe.snapshot, pipe.lexicon.get(), pipe.settings, rows)
    except ModelError as error:
        notices.append(f"{error}: keywords find only notes in the question's own language")
        return None


def _rerank(
    query: Query, fused: Ranking, pipe: Pipeline, notices: list[str], crossing: Crossing | None
) -> tuple[Ranking | None, Meetings, Sequence[str]]:
    """The rerank list, what met what, and the candidates that it could not see.

    None when the stage did not run: a notice says why, an error if required.
    """
    reranker, settings = pipe.reranker, pipe.settings
    if reranker is None or not fused:
        return None, {}, ()
    slow = isinstance(reranker, LLMReranker)
    depth = fused[: min(settings.rerank_depth, settings.llm_rerank_depth) if slow else settings.rerank_depth]
    if isinstance(reranker, LateInteraction):
        ranking, meetings = reranker.rank(query, depth, pipe.snapshot, pipe.explain, stages.bm25_of(settings), crossing)
        seen = set(uids(ranking)) if query.tokens is not None and query.tokens.words else set(uids(depth))
        lacking = [uid for uid in uids(depth) if uid not in seen]
        if lacking:
            notices.append(f"{len(lacking)} of {len(depth)} candidates have no token codes yet and keep their places")
        return ranking, meetings, lacking
    texts = [pipe.snapshot.chunk(candidate.uid).index_text for candidate in depth]
    try:
        ranking = stages.text_rerank(reranker, query.intent, uids(depth), texts, pipe.explain, pipe.cancelled)
        notices += [notice] if (notice := truncation_notice(reranker, query.intent, texts)) else []
        return ranking, {}, ()
    except Cancelled:
        raise
    except Exception as error:  # a plug-in may raise anything, and must not take the search down with it
        why = str(error) if isinstance(error, GlassboxError) else f"{type(error).__name__}: {error}"
        sentence = f"the reranker {reranker.name} failed ({why}): the fused order stands"
        if settings.require_rerank:
            raise RerankError(f"GLASSBOX_REQUIRE_RERANK is set and {sentence}") from error
        notices.append(sentence)
        return None, {}, ()


def _named(query: Query, pipe: Pipeline, record: _Record) -> Ranking:
    """The chunks that hold a rare thing which the question names; empty, and no stage, where it names none."""
    if not query.literals or pipe.mode != "hybrid":
        return ()
    how = stages.bm25_of(pipe.settings)
    found = literal_stage(query.literals, query.terms, pipe.snapshot, how, pipe.explain, pipe.only)
    return record.add("literal", found) if found else ()


def _final(
    fused: Ranking,
    reranked: Ranking | None,
    named: Ranking,
    pipe: Pipeline,
    notices: list[str],
    lacking: Sequence[str] = (),
) -> Ranking:
    if pipe.plugins.fusion is not None:
        ranking = plugins.fused_by(pipe.plugins.fusion, fused, reranked, notices)
        if ranking is not None:
            return ranking
    return stages.final_stage(fused, reranked, pipe.rerank_weight, named, pipe.settings, pipe.explain, lacking)


def _verdict(
    query: Query,
    hits: tuple[Hit, ...],
    final: Ranking,
    done: Sequence[Stage],
    meetings: Meetings,
    pipe: Pipeline,
    notices: list[str],
    crossing: Crossing | None,
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
            otherwise = translation.held_spans(crossing, known, pipe.snapshot) if crossing is not None else {}
            seen = verdict.Seen(
                query, final, lists, dense, meetings, pipe.snapshot, length, lambda uid: otherwise.get(uid, ())
            )
            graded = verdict.judge(graded, seen, pipe.fitted.of(ran))
    judge = pipe.plugins.judge
    return graded if judge is None else plugins.judged(judge, query.intent, evidence, graded, notices, pipe.cancelled)


def _asked_cosines(query: Query, known: Sequence[str], snapshot: Snapshot) -> dict[str, float]:
    """The levelled cosines with what the person asked, of those chunks that have a vector: a moved query would flatter
    its own hits.
    """
    if query.asked is None:
        return {}
    level = query.dense_level(query.asked)
    return {
        uid: float(np.dot(query.asked, vector)) + level.at(snapshot.place(uid))
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
            stages={n: places.get(n, {}).get(chunk.uid) for n in ALL_STAGES if n in STAGES or n in places},
        )
        for chunk in (snapshot.chunk(c.uid) for c in evidence)
    )
