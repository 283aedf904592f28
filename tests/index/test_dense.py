"""FAISS and numpy, two ways to the same neighbours."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui.index.dense import DenseIndex, build_dense, search_dense, search_numpy

DIMENSION = 32


def dense_of(n: int, seed: int, repeat: int = 0) -> DenseIndex:
    """n random unit vectors, the first of them standing `repeat` more times; every third chunk has none yet."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, DIMENSION)).astype(np.float32)
    rows = np.concatenate([rows, np.repeat(rows[:1], repeat, axis=0)]) if n else rows
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    keys = [str(i) for i in range(len(rows) * 3 // 2)]
    have = [key for i, key in enumerate(keys) if i % 3 != 2][: len(rows)]
    languages = ["cjk" if i % 5 < 2 else "other" for i in range(len(keys))]
    return build_dense(keys, languages, {key: row.tobytes() for key, row in zip(have, rows, strict=False)}, DIMENSION)


def test_without_an_embedder_no_chunk_has_a_vector() -> None:
    assert build_dense(["a", "b"], ["cjk", "other"], {}, 0).size == 0


OFFSETS = st.fixed_dictionaries({}, optional={"cjk": st.floats(-0.2, 0.2), "other": st.floats(-0.2, 0.2)})


@given(st.integers(0, 60), st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 30), OFFSETS)
@settings(deadline=None)
def test_faiss_and_numpy_agree_on_neighbours_and_scores(
    n: int, seed: int, k: int, repeat: int, offsets: dict[str, float]
) -> None:
    index = dense_of(n, seed, repeat)
    query = np.random.default_rng(seed + 1).normal(size=DIMENSION).astype(np.float32)
    query /= np.linalg.norm(query)
    served, brute = search_dense(index, query, k, offsets), search_numpy(index, query, k, offsets)
    assert [row for row, _, _ in served] == [row for row, _, _ in brute]
    np.testing.assert_allclose([found[1:] for found in served], [found[1:] for found in brute], atol=1e-6)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1), OFFSETS)
@settings(deadline=None)
def test_offsets_never_change_the_order_within_a_language(n: int, seed: int, offsets: dict[str, float]) -> None:
    index = dense_of(n, seed)
    query = index.matrix[0]
    plain, levelled = search_dense(index, query, n), search_dense(index, query, n, offsets)
    for language, (positions, _) in index.groups.items():
        own = set(index.rows[positions].tolist())
        assert [r for r, _, _ in plain if r in own] == [r for r, _, _ in levelled if r in own]
        assert all(abs(s - c - offsets.get(language, 0.0)) < 1e-9 for r, s, c in levelled if r in own)


@given(st.integers(0, 60), st.integers(0, 2**32 - 1), st.integers(1, 20), st.sets(st.integers(0, 99)), OFFSETS)
@settings(deadline=None)
def test_only_some_chunks_are_searched_and_none_of_their_best_is_missed(
    n: int, seed: int, k: int, chosen: set[int], offsets: dict[str, float]
) -> None:
    index = dense_of(n, seed, repeat=20)
    query = np.random.default_rng(seed + 1).normal(size=DIMENSION).astype(np.float32)
    only = np.array(sorted(chosen), dtype=np.int64)
    served, brute = search_dense(index, query, k, offsets, only), search_numpy(index, query, k, offsets, only)
    filtered = [row for row, _, _ in search_dense(index, query, index.size, offsets) if row in chosen][:k]
    assert [row for row, _, _ in served] == [row for row, _, _ in brute] == filtered


def test_equal_vectors_come_in_chunk_order_however_many_there_are() -> None:
    index = dense_of(1, 1, repeat=200)
    assert [row for row, _, _ in search_dense(index, index.matrix[0], 5)] == index.rows[:5].tolist()


def test_no_vectors_and_more_wanted_than_there_are() -> None:
    empty = build_dense(["a"], ["other"], {}, DIMENSION)
    assert search_dense(empty, np.ones(DIMENSION, np.float32), 20) == []
    one = dense_of(1, 2)
    assert len(search_dense(one, one.matrix[0], 20)) == 1


def test_vectors_of_another_length_are_left_out() -> None:
    """A vector that some other model wrote under this name must not be mixed in."""
    good = np.ones(DIMENSION, np.float32).tobytes()
    index = build_dense(["a", "b"], ["other", "other"], {"a": good, "b": good[:-4]}, DIMENSION)
    assert index.rows.tolist() == [0]
    assert index.vector(1) is None
