"""Late interaction: the fast path against plain float arithmetic, and the independence of what shares a call."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glassbox_tui.models.late_interaction import (
    best_matches,
    best_matches_many,
    best_similarities,
    contributions,
    decode_tokens,
    dequantise,
    prepare_query,
    quantise,
)

Floats = NDArray[np.float32]


def states(seed: int, tokens: int, dimension: int) -> Floats:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(tokens, dimension)) * 2 + rng.normal(size=dimension)).astype(np.float32)


def query_and_chunks(
    seed: int, lengths: list[int], queries: int, dimension: int
) -> tuple[Floats, list[NDArray[np.uint8]]]:
    """Rows of a query of `queries` tokens, and the codes of chunks of the given lengths, about one mean."""
    mean = states(seed, 1, dimension)[0]
    rows = prepare_query(states(seed + 1, queries, dimension), mean)
    return rows, [quantise(states(seed + 2 + i, n, dimension), mean) for i, n in enumerate(lengths)]


sizes = st.lists(st.integers(0, 9), min_size=1, max_size=8)
dimensions = st.sampled_from([4, 32, 384, 1024])


@given(st.integers(0, 2**32 - 1), sizes, st.integers(1, 5), dimensions)
@settings(max_examples=60, deadline=None)
def test_best_matches_are_those_of_a_loop_over_all_pairs(
    seed: int, lengths: list[int], queries: int, dimension: int
) -> None:
    rows, chunks = query_and_chunks(seed, lengths, queries, dimension)
    sims, index = best_matches_many(rows, np.concatenate(chunks), np.cumsum([0, *lengths]))
    for c, codes in enumerate(chunks):
        decoded = dequantise(codes).astype(np.float64)
        for q, row in enumerate(rows.astype(np.float64)):
            if not len(decoded):
                assert (sims[c, q], index[c, q]) == (-1, -1)
                continue
            cosines = [float(np.dot(row, token)) for token in decoded]
            assert sims[c, q] == pytest.approx(max(cosines), abs=2e-4)
            assert cosines[index[c, q]] == pytest.approx(max(cosines), abs=2e-4)


@given(st.integers(0, 2**32 - 1), sizes, st.integers(1, 40), dimensions)
@settings(max_examples=60, deadline=None)
def test_a_chunk_scores_the_same_bits_alone_and_in_company(
    seed: int, lengths: list[int], queries: int, dimension: int
) -> None:
    rows, chunks = query_and_chunks(seed, lengths, queries, dimension)
    sims, index = best_matches_many(rows, np.concatenate(chunks), np.cumsum([0, *lengths]))
    for c, codes in enumerate(chunks):
        alone, at = best_matches(rows, codes)
        assert sims[c].tobytes() == alone.tobytes()
        assert index[c].tolist() == at.tolist()
        for q in range(queries):  # nor on the other query tokens
            assert best_matches(rows[q : q + 1], codes)[0][0] == sims[c, q]


def test_more_tokens_than_one_block_holds_change_nothing() -> None:
    mean = np.zeros(32, np.float32)
    codes = quantise(states(1, 30_000, 32), mean)
    rows = prepare_query(states(2, 3, 32), mean)
    offsets = np.array([0, 1, 9_000, 9_000, 29_999, 30_000])
    sims, index = best_matches_many(rows, codes, offsets)
    for c in range(5):
        alone, at = best_matches(rows, codes[offsets[c] : offsets[c + 1]])
        assert sims[c].tolist() == alone.tolist()
        assert index[c].tolist() == at.tolist()


def test_memory_is_bounded_however_many_chunks_are_ranked() -> None:
    mean = np.zeros(384, np.float32)
    codes = np.tile(quantise(states(1, 300, 384), mean), (300, 1))  # 90,000 tokens: 138 MB as floats
    rows = prepare_query(states(2, 8, 384), mean)
    tracemalloc.start()
    best_matches_many(rows, codes, np.arange(0, 90_001, 300))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_codes_take_96_bytes_a_token_and_come_back_as_what_they_stand_for(seed: int, tokens: int) -> None:
    mean = states(seed, 1, 384)[0]
    codes = quantise(states(seed, tokens, 384), mean)
    assert codes.shape == (tokens, 96)
    assert codes.dtype == np.uint8
    decoded = dequantise(codes)
    assert np.linalg.norm(decoded, axis=1) == pytest.approx(np.ones(tokens), abs=1e-6)
    # A decoded row is no longer at the same distance from the thresholds, but on the same side of zero.
    again = dequantise(quantise(decoded, np.zeros(384, np.float32)))
    assert (np.sign(again) == np.sign(decoded)).all()


def test_two_bits_keep_what_theory_says_they_keep() -> None:
    # Max (1960), table I: a 4-level quantiser of a Gaussian has a mean squared error of 0.1175, so the cosine between
    # a vector and its code is sqrt(1 - 0.1175).
    mean = np.zeros(384, np.float32)
    raw = np.random.default_rng(5).normal(size=(500, 384)).astype(np.float32)
    cosine = (prepare_query(raw, mean) * dequantise(quantise(raw, mean))).sum(axis=1).mean()
    assert cosine == pytest.approx(math.sqrt(1 - 0.1175), abs=0.002)


def test_a_token_meets_itself_first() -> None:
    mean = states(7, 1, 384)[0]
    raw = states(8, 50, 384)
    sims, index = best_matches(prepare_query(raw, mean), quantise(raw, mean))
    assert index.tolist() == list(range(50))
    assert sims.min() > 0.9


def test_a_state_equal_to_the_mean_is_harmless() -> None:
    mean = states(7, 1, 8)[0]
    sims, _ = best_matches(prepare_query(mean[None], mean), quantise(mean[None], mean))
    assert sims.tolist() == [0.0]


def test_no_query_tokens_give_no_columns() -> None:
    codes = quantise(states(1, 3, 8), np.zeros(8, np.float32))
    sims, index = best_matches_many(np.zeros((0, 8), np.float32), codes, np.array([0, 3]))
    assert sims.shape == index.shape == (1, 0)
    assert contributions(sims).sum(axis=1).tolist() == [0.0]


def test_no_chunks_give_no_rows() -> None:
    sims, _ = best_matches_many(np.eye(2, 8, dtype=np.float32), np.zeros((0, 2), np.uint8), np.array([0]))
    assert sims.shape == (0, 2)


# A weight is an idf or 0. Below 1e-300 the product of the other route, 5e-324 * .5, is 0, and its mean no mean.
WEIGHTS = st.just(0.0) | st.floats(1e-9, 100)


@given(st.lists(st.tuples(st.floats(-1, 1, width=32), WEIGHTS), min_size=1, max_size=20))
def test_contributions_add_up_to_the_weighted_mean(pairs: list[tuple[float, float]]) -> None:
    sims = np.array([s for s, _ in pairs], dtype=np.float32)
    weights = np.array([w for _, w in pairs])
    total = math.fsum(w for _, w in pairs)
    expected = (
        math.fsum(float(s) * w for s, w in zip(sims, weights, strict=True)) / total if total else float(sims.mean())
    )
    assert contributions(sims, weights).sum() == pytest.approx(expected, abs=1e-5)


def test_states_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="not numbers"):
        quantise(np.full((1, 8), np.nan, np.float32), np.zeros(8, np.float32))


def test_a_dimension_that_does_not_fill_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 4, not 6"):
        quantise(np.zeros((1, 6), np.float32), np.zeros(6, np.float32))


@given(st.integers(1, 12), st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_decoded_once_gives_the_same_bits(queries: int, lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    zero = np.zeros(32, np.float32)
    codes = quantise(rng.normal(size=(sum(lengths), 32)).astype(np.float32), zero)
    rows = prepare_query(rng.normal(size=(queries, 32)).astype(np.float32), zero)
    offsets = np.cumsum([0, *lengths])
    sims, _ = best_matches_many(rows, codes, offsets)
    assert best_similarities(rows, decode_tokens(codes), offsets).tobytes() == sims.tobytes()
