"""Reciprocal rank fusion against its closed form, and the promises the pipeline builds on."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glassbox_tui.retrieval.fusion import RankedList, heard_once, rrf, uid_key
from glassbox_tui.retrieval.trace import Candidate

UIDS = [f"{note}.md#{i}" for note in "ab" for i in range(12)]
LISTS = st.lists(
    st.tuples(st.permutations(UIDS).map(lambda p: p[:9]), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 3.0])),
    min_size=1,
    max_size=4,
)


def fuse(lists: list[tuple[list[str], float]], k: int = 60) -> tuple[Candidate, ...]:
    return rrf([RankedList(f"l{i}", weight, uids) for i, (uids, weight) in enumerate(lists)], k)


def test_two_firsts() -> None:
    [both] = rrf([RankedList("bm25", 1, ["x#0"]), RankedList("dense", 1, ["x#0"])], 60)
    assert both.score == pytest.approx(2 / 61)
    assert [(p.name, p.detail) for p in both.parts] == [("bm25", "1/(60+1)"), ("dense", "1/(60+1)")]


@given(LISTS, st.integers(1, 100))
def test_every_score_is_the_sum_of_weighted_reciprocal_ranks(lists: list[tuple[list[str], float]], k: int) -> None:
    """Recomputed in exact fractions, straight from the ranks."""
    for candidate in fuse(lists, k):
        exact = sum(
            (Fraction(weight) / (k + uids.index(candidate.uid) + 1) for uids, weight in lists if candidate.uid in uids),
            Fraction(0),
        )
        assert candidate.score == pytest.approx(float(exact), abs=1e-12)
        assert sum(p.value for p in candidate.parts) == candidate.score


@given(LISTS)
def test_the_union_ranked_without_gaps_by_score_then_place(lists: list[tuple[list[str], float]]) -> None:
    fused = fuse(lists)
    assert {c.uid for c in fused} == {uid for uids, _ in lists for uid in uids}
    assert [c.rank for c in fused] == list(range(1, len(fused) + 1))
    keys = [(-c.score, uid_key(c.uid)) for c in fused]
    assert keys == sorted(keys)


@given(LISTS)
def test_first_in_every_list_is_first(lists: list[tuple[list[str], float]]) -> None:
    assume(any(weight > 0 for _, weight in lists))
    champion = "z.md#0"  # last by name, so that no tie helps it
    assert fuse([([champion, *uids], weight) for uids, weight in lists])[0].uid == champion


@given(LISTS)
def test_a_repeated_id_counts_once(lists: list[tuple[list[str], float]]) -> None:
    assert fuse(lists) == fuse([(uids + uids[:3], weight) for uids, weight in lists])


@given(st.integers(2, 30), st.floats(0, 0.999))
def test_a_reversing_reranker_cannot_dethrone_the_champion_below_weight_one(n: int, weight: float) -> None:
    fused = [f"n.md#{n - i}" for i in range(n)]  # the champion is last by position: no tie helps it
    final = rrf([RankedList("fused", 1, fused), RankedList("rerank", weight, fused[::-1])], 60)
    assert final[0].uid == fused[0]


def test_ties_fall_by_path_then_by_number_and_not_by_text() -> None:
    fused = rrf([RankedList("a", 1, ["n.md#10"]), RankedList("b", 1, ["n.md#9"]), RankedList("c", 1, ["a.md#11"])], 60)
    assert [c.uid for c in fused] == ["a.md#11", "n.md#9", "n.md#10"]


def test_foreign_ids_have_an_order_too() -> None:
    assert sorted(["x", "a#b", "a#2", "a#²"], key=uid_key) == ["a#2", "a#b", "a#²", "x"]


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.sampled_from([0.2, 0.5, 1.0]),
    st.sampled_from([0.2, 0.5, 1.0]),
    st.sampled_from(["", "@0", "/b"]),
)
def test_a_chunk_in_both_languages_is_heard_once_by_keywords(
    own: list[str], translated: list[str], weight: float, other: float, suffix: str
) -> None:
    """The better of the two lists counts, whatever else is fused; other lists and all places stay."""
    lists = [RankedList(f"bm25{suffix}", weight, own), RankedList(f"translated{suffix}", other, translated)]
    dense = RankedList(f"dense{suffix}", 1.0, ["a", "d"])
    found = {c.uid: c for c in rrf(heard_once([*lists, dense], 60), 60)}
    assert found.keys() == {*own, *translated, "a", "d"}
    for uid, candidate in found.items():
        says = [w / (61 + ids.index(uid)) for ids, w in ((own, weight), (translated, other)) if uid in ids]
        meant = 1 / (61 + dense.uids.index(uid)) if uid in dense.uids else 0.0
        assert candidate.score == pytest.approx(max(says, default=0.0) + meant)
        assert sum(part.value for part in candidate.parts) == candidate.score


def test_a_note_with_a_word_of_each_language_does_not_outvote_one_that_holds_the_question() -> None:
    lists = [
        RankedList("bm25", 1.0, ["whole", "mixed"]),
        RankedList("translated", 1.0, ["mixed"]),
        RankedList("dense", 1.0, ["whole", "other", "mixed"]),
    ]
    assert rrf(heard_once(lists, 60), 60)[0].uid == "whole"
    assert rrf(lists, 60)[0].uid == "mixed"  # what it would be
