"""FAISS and numpy, two ways to the same neighbours."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui.index.dense import DenseIndex, build_dense, search_dense, search_numpy, serve
from glassbox_tui.models.levelling import FLAT, Level

DIMENSION = 32


def dense_of(n: int, seed: int, repeat: int = 0) -> DenseIndex:
    """n random unit vectors, the first of them standing `repeat` more times; every third chunk has none yet."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, DIMENSION)).astype(np.float32)
    rows = np.concatenate([rows, np.repeat(rows[:1], repeat, axis=0)]) if n else rows
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    keys = [str(i) for i in range(len(rows) * 3 // 2)]
    have = [key for i, key in enumerate(keys) if i % 3 != 2][: len(rows)]
    index = build_dense(keys, {key: row.tobytes() for key, row in zip(have, rows, strict=False)}, DIMENSION)
    # Places of our own: at the ends, between them, and hubs.
    stand = np.zeros((index.size, 3), np.float32)
    stand[:, 0] = [(1.0, 1.0, 0.0, 0.0, 0.3)[row % 5] for row in index.rows.tolist()]
    stand[::7, 1], stand[::6, 2] = 0.05, 0.02
    return serve(index.matrix, index.rows, stand)


# In thousandths: of slopes too small for a float32 sum neither order is wrong.
SLOPE = st.integers(-200, 200).map(lambda n: n / 1000)
LEVELS = st.one_of(st.just(FLAT), st.builds(Level, SLOPE, st.tuples(SLOPE, SLOPE, SLOPE)))


def test_without_an_embedder_no_chunk_has_a_vector() -> None:
    assert build_dense(["a", "b"], {}, 0).size == 0


@given(st.integers(0, 60), st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 30), LEVELS)
@settings(deadline=None)
def test_faiss_and_numpy_agree_on_neighbours_and_scores(n: int, seed: int, k: int, repeat: int, level: Level) -> None:
    index = dense_of(n, seed, repeat)
    query = np.random.default_rng(seed + 1).normal(size=DIMENSION).astype(np.float32)
    query /= np.linalg.norm(query)
    served, brute = search_dense(index, query, k, level), search_numpy(index, query, k, level)
    np.testing.assert_allclose([found[1] for found in served], [found[1] for found in brute], atol=1e-6)
    # The order is the same but for scores that are one in float32: .006 x .05 and .015 x .02.
    every = {row: (score, cosine) for row, score, cosine in search_numpy(index, query, max(1, index.size), level)}
    assert len({row for row, _, _ in served}) == len(brute)
    np.testing.assert_allclose([found[1:] for found in served], [every[row] for row, _, _ in served], atol=1e-6)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1), LEVELS)
@settings(deadline=None)
def test_levelling_never_changes_the_order_of_chunks_that_stand_at_one_place(n: int, seed: int, level: Level) -> None:
    index = dense_of(n, seed)
    query = index.matrix[0]
    place = dict(zip(index.rows.tolist(), map(tuple, index.places.tolist()), strict=True))
    cosine = {row: float(np.dot(vector, query)) for row, vector in zip(place, index.matrix, strict=True)}
    found = search_dense(index, query, n, level)
    for row, score, told in found:
        added = level.base + sum(slope * x for slope, x in zip(level.slopes, place[row], strict=True))
        assert abs(told - cosine[row]) < 1e-5 and abs(score - told - added) < 1e-6
    for where in set(place.values()):
        scores = [cosine[row] for row, _, _ in found if place[row] == where]
        assert all(a >= b - 1e-6 for a, b in pairwise(scores))


@given(st.integers(0, 60), st.integers(0, 2**32 - 1), st.integers(1, 20), st.sets(st.integers(0, 99)), LEVELS)
@settings(deadline=None)
def test_only_some_chunks_are_searched_and_none_of_their_best_is_missed(
    n: int, seed: int, k: int, chosen: set[int], level: Level
) -> None:
    index = dense_of(n, seed, repeat=20)
    query = np.random.default_rng(seed + 1).normal(size=DIMENSION).astype(np.float32)
    only = np.array(sorted(chosen), dtype=np.int64)
    served, brute = search_dense(index, query, k, level, only), search_numpy(index, query, k, level, only)
    filtered = [row for row, _, _ in search_dense(index, query, index.size, level) if row in chosen][:k]
    assert [row for row, _, _ in served] == [row for row, _, _ in brute] == filtered


def test_equal_vectors_come_in_chunk_order_however_many_there_are() -> None:
    index = dense_of(1, 1, repeat=200)
    assert [row for row, _, _ in search_dense(index, index.matrix[0], 5)] == index.rows[:5].tolist()


def test_no_vectors_and_more_wanted_than_there_are() -> None:
    empty = build_dense(["a"], {}, DIMENSION)
    assert search_dense(empty, np.ones(DIMENSION, np.float32), 20) == []
    one = dense_of(1, 2)
    assert len(search_dense(one, one.matrix[0], 20)) == 1


def test_vectors_of_another_length_are_left_out() -> None:
    """A vector that some other model wrote under this name must not be mixed in."""
    good = np.ones(DIMENSION, np.float32).tobytes()
    index = build_dense(["a", "b"], {"a": good, "b": good[:-4]}, DIMENSION)
    assert index.rows.tolist() == [0]
    assert index.vector(1) is None
