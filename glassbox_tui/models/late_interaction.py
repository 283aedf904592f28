"""Late interaction over stored token codes: each query token meets its best token of a chunk (ColBERT's MaxSim).

Token states come from the forward pass that makes the chunk's vector. They are centred on the model's mean state,
brought to unit length and kept at 2 bits a dimension, four dimensions to a byte (96 bytes a token at 384 dimensions).

Quantiser: a coordinate of a unit vector in d dimensions is close to N(0, 1/d), so the four levels are those of the
2-bit Lloyd-Max quantiser of a Gaussian, (0.4528, 1.510) sigma with the threshold at 0.9816 sigma (Max 1960, "Quantizing
for minimum distortion", table I). Decoded rows are brought back to unit length, so only the ratio of the levels counts;
we take 10 : 3 (3.333 for 3.336).

Whole-number levels are there for one more reason: with the query rows rounded to whole numbers too (16 bits a
coordinate), every product and every partial sum of the inner product is a whole number below 2**24, which float32 holds
exactly. A similarity is thus the same bits on every CPU, for every BLAS, and whatever else shares the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.models.protocols import Matrix, Vector

Codes = NDArray[np.uint8]  # (tokens, dimension / 4)
Sims = NDArray[np.float32]
Index = NDArray[np.int64]

PER_BYTE = 4
_THRESHOLD = 0.9816  # sigma
_INNER, _OUTER = 3, 10
_LEVELS = np.array([-_OUTER, -_INNER, _INNER, _OUTER], dtype=np.float32)
# Tokens decoded at a time: bounds memory (8192 x 384 floats are 12 MB) and stays near the cache.
_BLOCK_TOKENS = 8192


def quantise(states: Matrix, mean: Vector) -> Codes:
    """(tokens, d) raw states -> (tokens, d / 4) codes. ValueError if d is no multiple of 4 or a state is not finite."""
    tokens, dimension = states.shape
    if dimension % PER_BYTE:
        raise ValueError(f"late interaction needs a dimension that is a multiple of {PER_BYTE}, not {dimension}")
    if not np.isfinite(states).all():
        raise ValueError("token states hold values that are not numbers")
    rows = prepare_query(states, mean)
    step = np.float32(_THRESHOLD / np.sqrt(dimension))
    levels: Codes = (rows > -step).astype(np.uint8)
    levels += rows > 0
    levels += rows > step
    quads = levels.reshape(tokens, dimension // PER_BYTE, PER_BYTE)
    codes: Codes = (quads << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2, dtype=np.uint8)
    return codes


def dequantise(codes: Codes) -> Matrix:
    """(tokens, d / 4) codes -> (tokens, d) float32 unit rows."""
    return _decode(codes) * _inverse_norms(codes)[:, None]


def prepare_query(states: Matrix, mean: Vector) -> Matrix:
    """(tokens, d) raw states -> float32 unit rows around the mean. A state equal to the mean stays a zero row."""
    rows = np.asarray(states, dtype=np.float32) - np.asarray(mean, dtype=np.float32)
    norms = np.sqrt(np.einsum("td,td->t", rows, rows, dtype=np.float64))
    out: Matrix = (rows / np.maximum(norms, 1e-12)[:, None]).astype(np.float32)
    return out


def best_matches(query_rows: Matrix, codes: Codes) -> tuple[Sims, Index]:
    """For each query row its best token of one chunk: cosine (q,) and the token's index (q,), the first of equals.

    A chunk without tokens gives -1 (the least cosine) and index -1.
    """
    sims, index = best_matches_many(query_rows, codes, np.array([0, len(codes)]))
    return sims[0], index[0]


def best_matches_many(query_rows: Matrix, codes: Codes, offsets: NDArray[np.integer]) -> tuple[Sims, Index]:
    """`best_matches` for many chunks at once: chunk i owns the rows offsets[i] .. offsets[i + 1] of `codes`.

    Returns cosines (chunks, q) float32 and token indices within each chunk (chunks, q) int64. A chunk's result does not
    depend on the other chunks (see the module's head).
    """
    bounds = np.asarray(offsets, dtype=np.int64)
    chunks, queries = len(bounds) - 1, len(query_rows)
    sims = np.full((chunks, queries), -1.0, dtype=np.float32)
    index = np.full((chunks, queries), -1, dtype=np.int64)
    if queries == 0 or chunks <= 0:
        return sims[: max(chunks, 0)], index[: max(chunks, 0)]
    whole, unit = _whole_numbers(query_rows)
    first = 0
    while first < chunks:
        # As many whole chunks as fit a block, at least one.
        last = int(np.searchsorted(bounds, bounds[first] + _BLOCK_TOKENS, side="right")) - 1
        last = min(max(last, first + 1), chunks)
        block = codes[bounds[first] : bounds[last]]
        scores = (whole @ _decode(block).T) * (_inverse_norms(block) * unit)  # (q, tokens)
        for chunk in range(first, last):
            part = scores[:, bounds[chunk] - bounds[first] : bounds[chunk + 1] - bounds[first]]
            if part.shape[1]:
                best = part.argmax(axis=1)
                index[chunk] = best
                sims[chunk] = part[np.arange(queries), best]
        first = last
    return sims, index


@dataclass(frozen=True, slots=True)
class DecodedTokens:
    """Codes decoded once, for texts that every query is held against: whole-number levels (tokens, d), 1 / length."""

    levels: Matrix
    inverse_norms: Vector


def decode_tokens(codes: Codes) -> DecodedTokens:
    return DecodedTokens(_decode(codes), _inverse_norms(codes))


def best_similarities(query_rows: Matrix, tokens: DecodedTokens, offsets: NDArray[np.integer]) -> Sims:
    """The cosines (chunks, q) of `best_matches_many`, to the bit; every chunk must have a token."""
    whole, unit = _whole_numbers(query_rows)
    scores = (whole @ tokens.levels.T) * (tokens.inverse_norms * unit)
    return np.asarray(np.maximum.reduceat(scores, np.asarray(offsets, dtype=np.int64)[:-1], axis=1).T)


def contributions(sims: Sims, weights: NDArray[np.floating] | None = None) -> NDArray[np.float64]:
    """Each query token's share (..., q) of the rerank score; the score is their sum: the (weighted) mean of `sims`.

    `weights` (q,) are not negative, e.g. square roots of idf; None, or all zero, weighs every token alike.
    """
    count = sims.shape[-1]
    if count == 0:
        return np.zeros(sims.shape, dtype=np.float64)
    shares = np.ones(count) if weights is None or not np.any(weights) else np.asarray(weights, dtype=np.float64)
    parts: NDArray[np.float64] = sims.astype(np.float64) * (shares / shares.sum())
    return parts


def _whole_numbers(query_rows: Matrix) -> tuple[Matrix, np.float32]:
    """Unit rows -> rows of whole numbers (as float32) and the unit they are counted in.

    The largest power of two S with OUTER * (S * sqrt(d) + d / 2) < 2**24: a unit row's coordinates sum, in absolute
    value, to at most sqrt(d), and rounding adds at most d / 2.
    """
    dimension = query_rows.shape[1]
    room = (2**24 / _OUTER - dimension / 2) / np.sqrt(dimension)
    scale = 2.0 ** np.floor(np.log2(room))
    return np.rint(query_rows * np.float32(scale)), np.float32(1 / scale)


def _decode(codes: Codes) -> Matrix:
    """(tokens, d / 4) codes -> (tokens, d) whole-number levels as float32."""
    tokens, width = codes.shape
    levels: Matrix = np.take(_byte_levels(), codes, axis=0).reshape(tokens, width * PER_BYTE)
    return levels


def _inverse_norms(codes: Codes) -> Vector:
    squares = np.take(_byte_squares(), codes).sum(axis=1, dtype=np.int64)
    # A row of no dimensions has no length; it never occurs, but must not divide by zero.
    inverse: Vector = (1.0 / np.sqrt(np.maximum(squares, 1))).astype(np.float32)
    return inverse


@cache
def _byte_levels() -> Matrix:
    """(256, 4): the four levels that a byte holds, lowest bits first."""
    values = np.arange(256)
    table: Matrix = np.stack([_LEVELS[values >> shift & 3] for shift in (0, 2, 4, 6)], axis=1)
    return table


@cache
def _byte_squares() -> NDArray[np.int32]:
    """(256,): the sum of the squares of a byte's four levels."""
    squares: NDArray[np.int32] = (_byte_levels() ** 2).sum(axis=1).astype(np.int32)
    return squares
