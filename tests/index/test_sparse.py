"""BM25 against the closed form, the golden case and rank_bm25, an implementation that is not ours."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from glassbox_tui.index.rows import Forward
from glassbox_tui.index.sparse import (
    Bm25,
    Passages,
    SparseIndex,
    best,
    build_sparse,
    idf,
    passage_parts,
    score_parts,
    search_passages,
    search_sparse,
)

WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "融合", "排名"]), min_size=1, max_size=12)


def index_of(texts: Sequence[Sequence[str]]) -> SparseIndex:
    vocabulary = {term: i for i, term in enumerate(dict.fromkeys(t for text in texts for t in text))}
    counts = [sorted(Counter(vocabulary[t] for t in text).items()) for text in texts]
    flat = np.array([pair for pairs in counts for pair in pairs], dtype=np.int32).reshape(-1, 2)
    offsets = np.cumsum([0, *(len(pairs) for pairs in counts)], dtype=np.int64)
    return build_sparse(Forward(vocabulary, offsets, flat[:, 0].copy(), flat[:, 1].copy()))


def scores_of(index: SparseIndex, query: Sequence[str], how: Bm25) -> dict[int, float]:
    return dict(search_sparse(index, {t: float(n) for t, n in Counter(query).items()}, index.size + 5, how))


def test_golden_case() -> None:
    """Worked by hand: N = 3, lengths 4, 4, 6, so the norm of text 1 is 1.5 (0.25 + 0.75 * 4 / (14/3)) = 1.33929.

    alpha: ln(1 + 2.5/1.5) * 2 * 2.5 / (2 + 1.33929) = 1.46862; beta: ln(1 + 1.5/2.5) * 2.5 / 2.33929 = 0.50230.
    """
    texts = ("alpha alpha beta gamma", "beta delta epsilon zeta", "lorem ipsum dolor sit amet et")
    index, terms = index_of([t.split() for t in texts]), {"alpha": 1.0, "beta": 1.0}
    assert score_parts(index, 0, terms, Bm25()) == [
        ("alpha", pytest.approx(1.46862, abs=1e-5)),
        ("beta", pytest.approx(0.50230, abs=1e-5)),
    ]
    assert search_sparse(index, terms, 1, Bm25()) == [(0, pytest.approx(1.97092, abs=1e-5))]


@given(st.integers(1, 9), st.floats(0.01, 5))
def test_closed_form_in_texts_of_equal_length(tf: int, k1: float) -> None:
    """With every length equal, b drops out: idf * tf (k1 + 1) / (tf + k1)."""
    index = index_of([["rare"] * tf + ["pad"] * (10 - tf), ["pad"] * 10, ["other"] * 10, ["other"] * 10])
    expected = math.log(1 + 3.5 / 1.5) * tf * (k1 + 1) / (tf + k1)
    [(row, score)] = search_sparse(index, {"rare": 1.0}, 9, Bm25(k1, 0.75))
    assert (row, score > 0) == (0, True)
    assert score == pytest.approx(expected, abs=1e-9)


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS, st.floats(0.1, 3), st.floats(0, 1))
def test_okapi_equals_rank_bm25(texts: list[list[str]], query: list[str], k1: float, b: float) -> None:
    theirs = BM25Okapi(texts, k1=k1, b=b, epsilon=0.25).get_scores(query)
    ours = scores_of(index_of(texts), query, Bm25(k1, b, "okapi"))
    holding = {i for i, text in enumerate(texts) if set(text) & set(query)}
    assert set(ours) == holding
    for row in holding:
        assert ours[row] == pytest.approx(theirs[row], abs=1e-9)


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_lucene_is_positive_exactly_where_a_term_is_held(texts: list[list[str]], query: list[str]) -> None:
    """Also a term in half the notes, or in all of them, keeps its matches (case B1)."""
    found = scores_of(index_of(texts), query, Bm25())
    assert {row for row, score in found.items() if score > 0} == {i for i, t in enumerate(texts) if set(t) & set(query)}


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_parts_add_up_and_order_is_by_score_then_row(texts: list[list[str]], query: list[str]) -> None:
    index = index_of(texts)
    terms = {t: float(n) for t, n in Counter(query).items()}
    found = search_sparse(index, terms, 5, Bm25())
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
    for row, score in found:
        assert math.fsum(v for _, v in score_parts(index, row, terms, Bm25())) == pytest.approx(score, abs=1e-9)


@given(st.lists(WORDS, min_size=2, max_size=8), WORDS, st.integers(1, 8))
def test_a_cut_list_is_the_head_of_the_whole_list(texts: list[list[str]], query: list[str], k: int) -> None:
    index, terms = index_of(texts), dict.fromkeys(query, 1.0)
    assert search_sparse(index, terms, k, Bm25()) == search_sparse(index, terms, 99, Bm25())[:k]


def test_score_rises_strictly_with_term_frequency() -> None:
    index = index_of([["a"] * n + ["x"] * (20 - n) for n in range(1, 8)])
    found = scores_of(index, ["a"], Bm25())
    assert all(found[i] < found[i + 1] for i in range(6))


def test_repeated_query_term_counts_as_often_as_it_is_said() -> None:
    index = index_of([["a", "b"], ["b", "c"]])
    assert scores_of(index, ["a", "a"], Bm25())[0] == pytest.approx(2 * scores_of(index, ["a"], Bm25())[0])


def test_empty_index_and_unknown_terms_find_nothing() -> None:
    empty = index_of([])
    assert search_sparse(empty, {"a": 1.0}, 20, Bm25()) == []
    assert search_sparse(index_of([["a"]]), {}, 20, Bm25()) == []
    assert search_sparse(index_of([["a"]]), {"z": 1.0}, 20, Bm25()) == []
    assert math.isfinite(idf(empty, "a")) and math.isfinite(idf(empty, "a", "okapi"))


def test_ties_fall_by_row() -> None:
    assert best(np.array([0, 1, 2, 3]), np.array([1.0, 2.0, 2.0, 2.0]), 2) == [(1, 2.0), (2, 2.0)]


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS, st.floats(0, 1))
def test_floor_keeps_the_matches_that_hold_enough_of_the_query(
    texts: list[list[str]], query: list[str], floor: float
) -> None:
    """Recounted term by term: terms that no text holds weigh too, and at most."""
    index, terms = index_of(texts), {t: float(n) for t, n in Counter(query).items()}
    mass = {
        t: n * math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        for t, n in terms.items()
        for df in [sum(t in x for x in texts)]
    }
    shares = {i: sum(m for t, m in mass.items() if t in text) / sum(mass.values()) for i, text in enumerate(texts)}
    found = {row for row, _ in search_sparse(index, terms, 99, Bm25(floor=floor))}
    assert all(shares[row] >= floor - 1e-9 for row in found)
    assert found >= {i for i, text in enumerate(texts) if set(text) & set(query) and shares[i] >= floor + 1e-9}


GROUPS = st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=5)


def passages_of(notes: list[list[list[str]]]) -> Passages:
    """Notes as lists of chunks; a note's terms are its chunks' together."""
    chunks = [chunk for note in notes for chunk in note]
    of = [i for i, note in enumerate(notes) for _ in note]
    whole = index_of([[word for chunk in note for word in chunk] for note in notes])
    return Passages(index_of(chunks), whole, np.array(of, dtype=np.int32))


@given(GROUPS, WORDS, st.floats(0, 1))
def test_a_passage_scores_between_itself_and_its_note(
    notes: list[list[list[str]]], query: list[str], share: float
) -> None:
    """Recomputed from two plain searches, one over chunks and one over notes."""
    passages, terms = passages_of(notes), {t: float(n) for t, n in Counter(query).items()}
    own = dict(search_sparse(passages.chunks, terms, 99, Bm25()))
    whole = dict(search_sparse(passages.notes, terms, 99, Bm25()))
    found = dict(search_passages(passages, terms, 99, Bm25(note_share=share)))
    assert found.keys() == own.keys()
    for row, score in found.items():
        expected = (1 - share) * own[row] + share * whole[int(passages.note_of[row])]
        assert score == pytest.approx(expected, abs=1e-9)
        parts = passage_parts(passages, row, terms, Bm25(note_share=share))
        assert math.fsum(a + b for _, a, b in parts) == pytest.approx(score, abs=1e-9)


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS, st.floats(0, 1))
def test_notes_of_one_chunk_score_their_plain_bm25(texts: list[list[str]], query: list[str], share: float) -> None:
    passages, terms = passages_of([[text] for text in texts]), dict.fromkeys(query, 1.0)
    for (row, score), (other, plain) in zip(
        search_passages(passages, terms, 99, Bm25(note_share=share)),
        search_sparse(passages.chunks, terms, 99, Bm25()),
        strict=True,
    ):
        assert score == pytest.approx(plain, abs=1e-9)
        assert row == other or plain == pytest.approx(
            dict(search_sparse(passages.chunks, terms, 99, Bm25()))[row], abs=1e-9
        )
