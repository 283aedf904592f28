"""Keyword scores across languages against BM25 written out by hand, and what must hold of any of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, search_passages
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.crossing import Crossing, Found
from glassbox_tui.retrieval.translation import equation, held_by_translation
from glassbox_tui.settings import Settings
from glassbox_tui.text.translations import Alternative, Gloss

HOW = Bm25()
TEXTS = [
    "the defense of the harbour was weak",
    "a harbour with a lighthouse and a lamp",
    "protection and defense, defense and protection",
    "the Super Bowl was played in the harbour",
    "a bowl of soup",
    "nothing to see",
]


def snapshot_of(texts: Sequence[str]) -> Snapshot:
    notes = {f"{i:03}.md": [text] for i, text in enumerate(texts)}
    return Engine(HashingEmbedder(), settings=Settings(disable_rerank=True)).build(notes).snapshot


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return snapshot_of(TEXTS)


def gloss(word: str, start: int, *meanings: tuple[str, float]) -> Gloss:
    alternatives = tuple(Alternative(text, tuple(text.split()), weight) for text, weight in meanings)
    return Gloss(word, start, start + len(word), alternatives)


def everywhere(snapshot: Snapshot) -> np.ndarray:  # type: ignore[type-arg]
    return np.arange(len(snapshot.chunks))


def search(snapshot: Snapshot, glosses: Sequence[Gloss], how: Bm25 = HOW, rows: object = None) -> list[Found]:
    chosen = everywhere(snapshot) if rows is None else rows
    return Crossing(glosses, snapshot.passages, chosen, how).search(10)  # type: ignore[arg-type]


def test_one_meaning_of_one_term_is_bm25(snapshot: Snapshot) -> None:
    for term in ("defens", "harbour", "bowl"):
        found = search(snapshot, [gloss("词", 0, (term, 1.0))])
        plain = search_passages(snapshot.passages, {term: 1.0}, 10, HOW)
        assert [(f.row, f.score) for f in found] == [(row, pytest.approx(score)) for row, score in plain]


def test_the_best_meaning_counts_and_not_the_sum(snapshot: Snapshot) -> None:
    both = search(snapshot, [gloss("防守", 0, ("defens", 1.0), ("protect", 1.0))])
    alone = dict(search_passages(snapshot.passages, {"defens": 1.0}, 10, HOW))
    other = dict(search_passages(snapshot.passages, {"protect": 1.0}, 10, HOW))
    assert {f.row for f in both} == alone.keys() | other.keys()
    for found in both:
        assert found.score <= max(alone.get(found.row, 0.0), other.get(found.row, 0.0)) + 1e-9
        assert len(found.parts) == 1


def test_a_word_that_may_be_anything_says_less(snapshot: Snapshot) -> None:
    sure = search(snapshot, [gloss("词", 0, ("lamp", 1.0))])
    vague = search(snapshot, [gloss("词", 0, ("lamp", 1.0), ("defens", 1.0), ("bowl", 1.0), ("noth", 1.0))])
    score = {f.row: f.score for f in vague}
    assert sure[0].row == 1 and score[1] < sure[0].score


def test_a_chunk_reads_overlapping_words_as_it_holds_them(snapshot: Snapshot) -> None:
    glosses = [
        gloss("超级碗", 0, ("super bowl", 1.0)),
        gloss("碗", 2, ("bowl", 1.0)),
        gloss("碗港", 2, ("lamp", 1.0)),
    ]
    found = {f.row: f for f in search(snapshot, glosses)}
    assert [p.gloss.word for p in found[3].parts] == ["超级碗"]
    assert [p.gloss.word for p in found[4].parts] == ["碗"]
    assert [p.gloss.word for p in found[1].parts] == ["碗港"]
    assert max(found, key=lambda row: found[row].score) == 3


def test_what_is_held_is_a_share_of_what_was_asked(snapshot: Snapshot) -> None:
    glosses = [gloss("灯", 0, ("lamp", 1.0)), gloss("港", 1, ("harbour", 1.0)), gloss("鹮", 2)]
    found = {f.row: f for f in search(snapshot, glosses)}
    n = len(TEXTS)
    lamp, harbour, unknown = (math.log1p((n - df + 0.5) / (df + 0.5)) for df in (1, 3, 0))
    total = lamp + harbour + unknown
    assert found[1].held == pytest.approx((lamp + harbour) / total)
    assert found[0].held == pytest.approx(harbour / total)
    least = Bm25(floor=(harbour / total + (lamp + harbour) / total) / 2)
    assert [f.row for f in search(snapshot, glosses, least)] == [1]


def test_only_the_chunks_named_are_searched_and_counted(snapshot: Snapshot) -> None:
    rows = np.array([0, 1])
    found = search(snapshot, [gloss("港", 0, ("harbour", 1.0))], rows=rows)
    assert {f.row for f in found} == {0, 1}
    alone = search(snapshot_of(TEXTS[:2]), [gloss("港", 0, ("harbour", 1.0))])
    assert [f.score for f in found] == pytest.approx([f.score for f in alone])


def test_nothing_known_nothing_found(snapshot: Snapshot) -> None:
    assert search(snapshot, []) == []
    assert search(snapshot, [gloss("鹮", 0), gloss("词", 1, ("absent", 1.0))]) == []
    assert search(snapshot, [gloss("灯", 0, ("lamp", 1.0))], rows=np.zeros(0, np.int64)) == []


STEMS = ["defens", "harbour", "lighthous", "lamp", "protect", "super bowl", "bowl soup", "noth", "absent"]


@st.composite
def questions(draw: st.DrawFn) -> list[Gloss]:
    spans = st.tuples(st.integers(0, 6), st.integers(1, 3))
    meanings = st.lists(st.tuples(st.sampled_from(STEMS), st.floats(0.1, 1.0)), max_size=4)
    drawn = draw(st.lists(st.tuples(spans, meanings), max_size=6))
    return sorted((gloss("字" * size, start, *found) for (start, size), found in drawn), key=lambda g: (g.start, g.end))


@given(questions(), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.0, 0.2]))
def test_parts_sum_do_not_overlap_and_beat_every_single_word(
    glosses: list[Gloss], note_share: float, floor: float
) -> None:
    snapshot = SNAPSHOT
    how = Bm25(note_share=note_share, floor=floor)
    found = search(snapshot, glosses, how)
    assert [(-f.score, f.row) for f in found] == sorted((-f.score, f.row) for f in found)
    alone = [{f.row: f.score for f in search(snapshot, [g], Bm25(note_share=note_share))} for g in glosses]
    for hit in found:
        assert math.fsum(p.value for p in hit.parts) == pytest.approx(hit.score)
        assert all(a.gloss.end <= b.gloss.start for a, b in zip(hit.parts, hit.parts[1:], strict=False))
        assert hit.score >= max(scores.get(hit.row, 0.0) for scores in alone) - 1e-9
        assert floor - 1e-9 <= hit.held <= 1.0


@given(questions())
def test_what_a_chunk_scores_by_it_holds(glosses: list[Gloss]) -> None:
    crossing = Crossing(glosses, SNAPSHOT.passages, everywhere(SNAPSHOT), HOW)
    strength, which = crossing.held(range(len(TEXTS)))
    assert ((strength > 0) == (which >= 0)).all() and (strength <= 1.0).all()
    for hit in crossing.search(10):
        for part in hit.parts:
            number = glosses.index(part.gloss)
            assert which[hit.row, number] >= 0


def test_a_token_is_held_by_the_word_it_is_part_of(snapshot: Snapshot) -> None:
    glosses = [gloss("防守", 0, ("defens", 0.9)), gloss("灯塔", 2, ("lighthous", 1.0))]
    crossing = Crossing(glosses, snapshot.passages, np.array([0, 1, 3]), HOW)
    held, words = held_by_translation(crossing, [1, 0, 2], [(0, 1), (1, 2), (2, 4), (4, 5)])
    assert held.tolist() == [[0, 0, 1, 0], [pytest.approx(0.9), pytest.approx(0.9), 0, 0], [0, 0, 0, 0]]
    assert words[0] == ["", "", equation("灯塔", "lighthous"), ""]
    assert words[1][0] == "防守 = defens"


SNAPSHOT = snapshot_of(TEXTS)
