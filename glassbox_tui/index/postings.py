"""The forward index as it is stored: term ids and counts of one text, in a few bytes each.

Ids rise, so each is stored as its distance from the one before, with its count, both as little-endian base-128 numbers
(LEB128): two to three bytes a term where two 32-bit numbers take eight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.rows import Forward

_MOST = 5  # bytes of a number


def pack_counts(counts: Mapping[str, int], ids: Mapping[str, int]) -> bytes:
    """The terms of one text."""
    pairs = np.array(sorted((ids[term], n) for term, n in counts.items()), dtype=np.int64).reshape(-1, 2)
    pairs[1:, 0] -= pairs[:-1, 0].copy()
    return _encoded(pairs.ravel())


def unpack_forward(blobs: Sequence[bytes], vocabulary: Mapping[str, int]) -> Forward:
    """The terms of many texts, flat. Raises ValueError if one of them is not what `pack_counts` made."""
    flat = np.frombuffer(b"".join(blobs), dtype=np.uint8)
    ends = np.flatnonzero(flat < 128)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1]) if len(ends) else np.zeros(0, np.int64)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(blob) for blob in blobs], dtype=np.int64)])
    numbers = np.searchsorted(ends, bounds)  # how many numbers end before each blob begins
    lengths = ends - starts + 1
    whole = np.concatenate([np.zeros(1, np.int64), ends + 1])[numbers] == bounds  # no number goes over a border
    if not whole.all() or (numbers % 2).any() or (lengths > _MOST).any():
        raise ValueError("the words of a text are stored in no form that can be read")
    values = np.zeros(len(ends), dtype=np.int64)
    for k in range(int(lengths.max(initial=0))):
        longer = lengths > k
        values[longer] |= (flat[starts[longer] + k].astype(np.int64) & 127) << (7 * k)
    pairs = values.reshape(-1, 2)
    offsets = numbers // 2
    run = np.concatenate([np.zeros(1, np.int64), np.cumsum(pairs[:, 0])])
    ids = run[1:] - np.repeat(run[offsets[:-1]], np.diff(offsets))
    return Forward(vocabulary, offsets, ids.astype(np.int32), pairs[:, 1].astype(np.int32))


def count_postings(blob: bytes) -> int:
    """How many terms a text has."""
    return sum(byte < 128 for byte in blob) // 2


def _encoded(values: NDArray[np.int64]) -> bytes:
    lengths = np.ones(len(values), dtype=np.int64)
    for k in range(1, _MOST):
        lengths += values >= 1 << 7 * k
    at = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    out = np.zeros(int(at[-1]), dtype=np.uint8)
    for k in range(int(np.max(lengths, initial=0))):
        longer = lengths > k
        more = np.where(lengths[longer] > k + 1, 128, 0)
        out[at[:-1][longer] + k] = (values[longer] >> 7 * k & 127) | more
    return out.tobytes()
