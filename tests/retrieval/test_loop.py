"""The pipeline end to end on small indexes: stages, rounds, fallbacks, determinism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.progress import Cancelled
from glassbox_tui.retrieval.engine import EngineError
from glassbox_tui.retrieval.reranking import RerankError
from glassbox_tui.retrieval.trace import ALL_STAGES, STAGES, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings, SettingsError

NOTES = {
    "lock.md": "# Distributed locks\n\nRedlock hands out a lease. 分布式锁依赖租约和时钟。",
    "clock.md": "# Clocks\n\nA lease ends by the clock. 时钟漂移会让租约失效。 ZooKeeper counts sessions.",
    "tea.md": "# Tea\n\nGreen tea is steeped at eighty degrees. 绿茶用八十度的水。",
    "rrf.md": "# Fusion\n\nReciprocal rank fusion adds ranks. 倒数排名融合只看名次。",
}
# More of the same words, so that what is searched makes a difference to what is found: a round that changes nothing is
# no round.
_POOL = """redlock hands lease clock ZooKeeper counts sessions eighty degrees fusion heron marsh reed otter river bridge
    lantern harbour pilot anchor sail compass needle thread loom weaver indigo madder saffron copper kettle ember"""
MANY = NOTES | {f"more{i:02}.md": " ".join(Random(i).sample(_POOL.split(), 14)) + "." for i in range(20)}
WORDS = st.sampled_from(
    ["redlock", "lease", "租约", "时钟", "tea", "绿茶", "fusion", "名次", "的", "the", "?", "nothing"]
)


class Reverse:
    """A hostile reranker: whatever stood first comes last."""

    name = "reverse"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return list(map(float, range(len(texts))))


class Broken:
    name = "broken"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        raise RuntimeError("out of memory")


class ShortAnswer:
    name = "short"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [1.0]


def engine(**knobs: object) -> Engine:
    reranker = knobs.pop("reranker", None)
    return Engine(HashingEmbedder(), reranker, Settings(**knobs)).build(NOTES)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def built() -> Engine:
    return engine(reranker=Reverse(), rerank_weight=0.5)


@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
@settings(deadline=None)
def test_every_score_is_the_sum_of_its_parts_and_every_list_is_ranked(built: Engine, query: str) -> None:
    trace = built.search(query)
    for round_ in trace.rounds:
        names = [s.name for s in round_.stages]
        assert set(STAGES) <= set(names) and names == [name for name in ALL_STAGES if name in names]
        for stage in round_.stages:
            assert [c.rank for c in stage.candidates] == list(range(1, len(stage.candidates) + 1))
            scores = [c.score for c in stage.candidates]
            assert scores == sorted(scores, reverse=True)
            for c in stage.candidates:
                assert math.fsum(p.value for p in c.parts) == pytest.approx(c.score, abs=1e-9)


@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
@settings(deadline=None)
def test_hits_say_what_the_stages_say(built: Engine, query: str) -> None:
    for round_ in built.search(query, top_k=3).rounds:
        final = round_.stage("final")
        assert final is not None
        assert [h.uid for h in round_.hits] == [c.uid for c in final.candidates[:3]]
        for hit in round_.hits:
            assert NOTES[hit.path][hit.start : hit.end] == hit.text
            assert hit.stages.keys() == {s.name for s in round_.stages}
            for name in hit.stages:
                stage, place = round_.stage(name), hit.stages[name]
                assert stage is not None
                found = [(c.rank, c.score) for c in stage.candidates if c.uid == hit.uid]
                assert found == ([] if place is None else [(place.rank, place.score)])


@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
@settings(deadline=None)
def test_same_index_same_query_same_bytes(query: str) -> None:
    first, second = (to_json(engine().search(query), timings=False) for _ in range(2))
    assert first == second


def test_later_rounds_never_drop_the_lists_of_the_first(built: Engine) -> None:
    trace = built.search("redlock selection criteria", max_rewrites=2)
    assert len(trace.rounds) > 1
    first = {c.uid for name in ("bm25", "dense") for c in trace.rounds[0].stage(name).candidates}  # type: ignore[union-attr]
    for round_ in trace.rounds[1:]:
        fused = round_.stage("fused")
        assert fused is not None and first <= {c.uid for c in fused.candidates}
        assert {"bm25@0", "dense@0"} <= {p.name for c in fused.candidates for p in c.parts}


def test_replace_strategy_does_drop_them() -> None:
    trace = engine(feedback="replace").search("redlock selection criteria", max_rewrites=1)
    assert len(trace.rounds) == 2
    fused = trace.rounds[1].stage("fused")
    assert fused is not None and {p.name for c in fused.candidates for p in c.parts} == {"bm25", "dense"}


def test_feedback_says_which_terms_it_added_and_from_where(built: Engine) -> None:
    trace = built.search("redlock selection criteria", max_rewrites=1)
    second = trace.rounds[1]
    feedback = {h.uid for h in trace.rounds[0].hits[:3]}
    assert second.origin == "prf" and second.added_terms
    for added in second.added_terms:
        assert 0 < added.weight <= 0.5
        assert set(added.sources) <= feedback
        assert added.term in second.terms and added.term not in trace.rounds[0].terms


def test_the_loop_ends(built: Engine) -> None:
    """At the limit, at sufficient evidence, or when feedback has nothing new to say."""
    assert len(built.search("redlock selection criteria", max_rewrites=0).rounds) == 1
    queries = [r.query for r in built.search("redlock selection criteria", max_rewrites=20).rounds]
    assert len(queries) == len(set(queries)) <= 21
    alone = Engine(HashingEmbedder(), settings=Settings()).build({"a.md": "word"})
    assert len(alone.search("other", max_rewrites=20).rounds) <= 2


def test_the_grade_judges_what_the_person_asked_and_not_the_rewrite(built: Engine) -> None:
    trace = built.search("redlock selection criteria", max_rewrites=2)
    assert {r.grade.coverage for r in trace.rounds} <= {1 / 3}
    assert trace.decision == "insufficient"
    assert trace.rounds[-1].grade.missing == ("selection", "criteria")


@pytest.mark.parametrize("query", ["the of and", "的了吗", "？！", "...", "\x00\x1b[31m", "\ud800", "a" * 20_000])
def test_odd_queries_are_answered_and_the_lack_of_terms_is_said(query: str) -> None:
    trace = engine().search(query)
    dense = trace.rounds[0].stage("dense")
    assert dense is not None and len(dense.candidates) == len(NOTES)
    if not trace.rounds[0].terms:
        assert any("no keyword terms" in notice for notice in trace.notices)


@pytest.mark.parametrize("notes", [{}, {"blank.md": "  \n"}, {"one.md": "one note"}])
def test_empty_and_tiny_indexes_behave(notes: dict[str, str]) -> None:
    for mode in ("hybrid", "bm25", "dense"):
        trace = Engine(HashingEmbedder(), settings=Settings()).build(notes).search("one", top_k=20, mode=mode)
        assert len(trace.hits) == (1 if "one.md" in notes else 0)
        assert from_json(to_json(trace)) == trace
        if not trace.hits:
            assert trace.decision == "insufficient"
            assert any("empty" in n for n in trace.notices)


def test_modes_run_only_their_stages() -> None:
    names = {mode: [s.name for s in engine().search("lease", mode=mode).rounds[0].stages] for mode in ("bm25", "dense")}
    assert names == {"bm25": ["bm25", "fused", "final"], "dense": ["dense", "fused", "final"]}


def test_explain_off_keeps_ranks_and_scores(built: Engine) -> None:
    def bare(trace: Trace) -> list[list[tuple[str, int, float]]]:
        return [[(c.uid, c.rank, c.score) for c in s.candidates] for r in trace.rounds for s in r.stages]

    plain = built.search("lease 时钟", explain=False)
    assert bare(plain) == bare(built.search("lease 时钟"))
    assert not any(c.parts for r in plain.rounds for s in r.stages for c in s.candidates)


def test_hostile_reranker_cannot_dethrone_the_champion_below_weight_one(built: Engine) -> None:
    for query in ("lease", "绿茶", "fusion 名次", "时钟 tea"):
        trace = built.search(query, max_rewrites=0)
        assert trace.hits[0].stages["fused"].rank == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("reranker", [Broken(), ShortAnswer()])
def test_failing_reranker_leaves_the_fused_order_and_says_so(reranker: Broken | ShortAnswer) -> None:
    trace = engine(reranker=reranker).search("lease clock", max_rewrites=0)
    fused, final = trace.rounds[0].stage("fused"), trace.rounds[0].stage("final")
    assert fused is not None and final is not None
    assert [c.uid for c in fused.candidates] == [c.uid for c in final.candidates]
    assert trace.rounds[0].stage("rerank") is None
    assert any(reranker.name in notice and "fused order" in notice for notice in trace.notices)
    with pytest.raises(RerankError, match=reranker.name):
        engine(reranker=reranker, require_rerank=True).search("lease clock")


def test_required_reranker_that_is_not_there_is_an_error() -> None:
    with pytest.raises(RerankError, match="token states"):
        engine(require_rerank=True)
    assert any("rerank is off" in n for n in engine().search("lease").notices)


def test_candidates_beyond_the_rerank_depth_keep_fused_order_behind_the_rest() -> None:
    deep = Engine(HashingEmbedder(), Reverse(), Settings(rerank_depth=3, rerank_weight=5.0)).build(
        {f"{i}.md": f"lease number {i}" for i in range(9)}
    )
    trace = deep.search("lease number 4", max_rewrites=0)
    fused, final = trace.rounds[0].stage("fused"), trace.rounds[0].stage("final")
    assert fused is not None and final is not None
    assert {c.uid for c in final.candidates[:3]} == {c.uid for c in fused.candidates[:3]}
    assert [c.uid for c in final.candidates[3:]] == [c.uid for c in fused.candidates[3:]]


def test_same_paragraph_in_two_notes_keeps_both(built: Engine) -> None:
    """Case F2: both sources stay, in a stable order."""
    twins = {"b.txt": "one and the same paragraph", "a.txt": "one and the same paragraph"}
    trace = Engine(HashingEmbedder(), settings=Settings()).build(twins).search("same paragraph")
    assert [h.path for h in trace.hits] == ["a.txt", "b.txt"]
    assert trace.hits[0].content == trace.hits[1].content


def test_ready_made_chunks_are_taken_as_they_are() -> None:
    made = Engine(HashingEmbedder(), settings=Settings()).build({"doc": ["first piece", "second piece"]})
    trace = made.search("second")
    assert (trace.hits[0].uid, trace.hits[0].text, trace.hits[0].start) == ("doc#1", "second piece", 13)


def test_injected_parts_survive_build() -> None:
    mine = HashingEmbedder()
    made = Engine(mine, Reverse(), Settings()).build(NOTES).build({"a": "b"})
    assert made.embedder is mine
    assert made.search("b").index.reranker == "reverse"


def test_wrong_use_is_told_in_a_sentence() -> None:
    with pytest.raises(EngineError, match="mode 'fast' is not one of bm25, dense, hybrid"):
        engine().search("lease", mode="fast")
    with pytest.raises(EngineError, match="empty"):
        engine().search(" \n")
    with pytest.raises(SettingsError, match="GLASSBOX_TOPK"):
        engine().search("lease", top_k=0)
    with pytest.raises(EngineError, match="no index"):
        Engine(HashingEmbedder(), settings=Settings()).search("lease")


def test_cancelled_search_stops_between_stages(built: Engine) -> None:
    with pytest.raises(Cancelled):
        built.search("lease", cancelled=lambda: True)


def test_text_that_no_store_can_hold_is_repaired() -> None:
    made = Engine(HashingEmbedder(), settings=Settings()).build(
        {"a\ud800": "lone \udc00 half", "b": ["ready \ud83d made"]}
    )
    trace = made.search("half")
    assert trace.hits[0].text == "lone \ufffd half"
    to_json(trace).encode()
