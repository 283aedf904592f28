"""While the index is being embedded: what a stage cannot see keeps its place, and nothing else changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.lab.whatif import final_at
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.fusion import RankedList, rrf
from glassbox_tui.retrieval.moves import First
from glassbox_tui.retrieval.places import kept_places, placed
from glassbox_tui.retrieval.stepping import resumed, step
from glassbox_tui.retrieval.trace import Round, Stage
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings

UIDS = [f"n{i:02d}.md#0" for i in range(12)]


@st.composite
def lists(draw: st.DrawFn) -> tuple[list[str], list[str], set[str]]:
    """A list before, a stage's own list, and what that stage cannot see."""
    before = draw(st.permutations(UIDS))[: draw(st.integers(0, 12))]
    lacking = draw(st.sets(st.sampled_from(UIDS)))
    own = [uid for uid in draw(st.permutations(UIDS)) if uid not in lacking][: draw(st.integers(0, 12))]
    return before, own, lacking


@given(lists())
def test_the_unseen_keep_their_places_and_the_seen_their_order(case: tuple[list[str], list[str], set[str]]) -> None:
    before, own, lacking = case
    order = kept_places(own, before, lacking)
    assert [uid for uid in order if uid not in lacking] == own
    assert set(order) == set(own) | (set(before) & lacking)
    for uid in set(before) & lacking:
        # Never worse than before; better only where nobody was seen that could have stood before it.
        assert order.index(uid) <= before.index(uid)
        if order.index(uid) < before.index(uid):
            assert order[: order.index(uid)].count(own[-1]) if own else True


@given(st.permutations(UIDS), st.permutations(UIDS))
def test_at_the_ends_it_is_one_list_or_the_other(before: list[str], own: list[str]) -> None:
    assert kept_places(own, before, ()) == tuple(own)
    assert kept_places((), before, UIDS) == tuple(before)
    ranked = RankedList("dense", 1.0, own)
    assert placed(ranked, before, ()) is ranked


@given(lists(), st.floats(0, 5), st.floats(0, 5), st.permutations(UIDS))
def test_an_unseen_first_of_the_keywords_stays_first(
    case: tuple[list[str], list[str], set[str]], dense: float, rerank: float, late: list[str]
) -> None:
    """Whatever the few that were embedded have for scores, and however much their stages weigh."""
    before, own, lacking = case
    if not before or before[0] not in lacking:
        return
    fused = [
        c.uid
        for c in rrf([RankedList("bm25", 1.0, before), placed(RankedList("dense", dense, own), before, lacking)], 60)
    ]
    assert fused[0] == before[0]
    seen = [uid for uid in late if uid in fused and uid not in lacking]
    final = rrf([RankedList("fused", 1.0, fused), placed(RankedList("rerank", rerank, seen), fused, lacking)], 60)
    assert final[0].uid == before[0]


TOPICS = ("lease", "clock", "quorum", "session", "harbour", "ferry", "pilot", "tide", "bread", "oven", "yeast", "flour")
NOTES = {
    f"{topic}-{i}.md": f"# {topic.title()} {i}\n\nThe {topic} of part {i} depends on the {TOPICS[(n + i) % 12]}."
    for n, topic in enumerate(TOPICS)
    for i in range(3)
}
QUERIES = ("the lease of part 2", "what does the ferry depend on", "oven and yeast", "quorum clock")


def with_vectors_of(paths: Sequence[str], embedder: E5Embedder | HashingEmbedder, **settings: float) -> Engine:
    """An index in which only the chunks of these notes are embedded."""
    engine = Engine(embedder, settings=replace(Settings(max_rewrites=0), **settings)).build(NOTES)  # type: ignore[arg-type]
    store = engine.store
    keys = [(c.key,) for c in engine.snapshot.chunks if c.path not in paths]
    for table in ("vectors", "token_codes"):
        store._write.executemany(f"DELETE FROM {table} WHERE key = ?", keys)
    engine._use(store)
    return engine


def named(round_: Round, name: str) -> Stage:
    found = round_.stage(name)
    assert found is not None
    return found


def order(round_: Round, name: str) -> list[str]:
    return [c.uid for c in named(round_, name).candidates]


def test_with_no_vector_at_all_the_final_order_is_the_keywords(e5: E5Embedder) -> None:
    engine = with_vectors_of([], e5)
    for query in QUERIES:
        last = engine.search(query).last
        assert order(last, "bm25")
        assert order(last, "fused") == order(last, "final") == order(last, "bm25")
        assert last.hits[0].stages["dense"] is None


def test_with_few_vectors_the_few_do_not_overtake_the_rest(e5: E5Embedder) -> None:
    few = ["bread-0.md", "tide-1.md"]
    engine = with_vectors_of(few, e5)
    for query in QUERIES:
        last = engine.search(query).last
        unseen = [uid for uid in order(last, "bm25") if uid.partition("#")[0] not in few]
        assert [uid for uid in order(last, "final") if uid in unseen] == unseen
        assert order(last, "final")[0] == order(last, "bm25")[0]
        # Ranks stay honest: what a stage could not see has none there.
        assert {uid.partition("#")[0] for uid in order(last, "dense")} <= set(few)
        assert set(named(last, "dense").lacking) == set(unseen)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_parts_add_up_say_so_and_the_lists_give_the_final_order_again(e5: E5Embedder, share: float) -> None:
    engine = with_vectors_of(sorted(NOTES)[: int(share * len(NOTES))], e5)
    said = set[str]()
    for query in QUERIES:
        trace = engine.search(query)
        assert from_json(to_json(trace)) == trace
        for stage in trace.last.stages:
            for c in stage.candidates:
                assert math.isclose(sum(p.value for p in c.parts), c.score, abs_tol=1e-6)
                said |= {p.detail.partition(", ")[2] for p in c.parts if stage.name in ("fused", "final")}
        recorded = named(trace.last, "final")
        assert final_at(trace.last, trace.settings["rerank_weight"], trace.settings["rrf_k"]) == recorded.candidates
    assert ("no vector yet" in said) == (0 < share < 1 or share == 0)
    assert (said == {""}) == (share == 1)


def test_a_weak_keyword_match_without_a_vector_is_not_left_out() -> None:
    """The floor is for chunks that have another voice."""
    rare = "zebra of the lease"
    full = with_vectors_of(list(NOTES), HashingEmbedder(), bm25_floor=0.9)
    none_but_one = with_vectors_of(["bread-0.md"], HashingEmbedder(), bm25_floor=0.9)
    assert order(full.search(rare).last, "bm25") == []
    assert {uid.partition("-")[0] for uid in order(none_but_one.search(rare).last, "bm25")} >= {"lease"}


def test_a_round_taken_up_by_hand_has_the_places_of_the_loop(e5: E5Embedder) -> None:
    engine = with_vectors_of(sorted(NOTES)[:9], e5)
    engine.settings = replace(engine.settings, max_rewrites=2)
    query = "harbour pilots who steer ships"
    looped = engine.search(query)
    if len(looped.rounds) < 2:
        pytest.skip("the loop had no second round")
    stepped = step(engine, First(query))
    assert stepped.proposal is not None
    assert order(stepped.proposal.round, "fused") == order(looped.rounds[1], "fused")
    before, _, _ = resumed(stepped.trace, engine.pipeline())
    assert any(r.said for r in before.origin_lists)
