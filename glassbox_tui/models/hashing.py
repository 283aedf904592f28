"""The embedder that needs nothing: signed feature hashing of character n-grams.

Character 2- to 4-grams of the folded text, sublinear term frequency (1 + ln tf), hashed into 512 signed dimensions
(Weinberger et al. 2009, "Feature hashing for large scale multitask learning"), L2. It finds shared spelling, not shared
meaning, in any language. Nothing depends on Python's per-process hash seed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.models.protocols import Matrix, Vector
from glassbox_tui.text.normalize import fold

DIMENSION = 512
_SIZES = (2, 3, 4)
# Stands before and after the text, so that a single character has n-grams and an empty text a vector of its own.
_BOUNDARY = "\x02"


class HashingEmbedder:
    """An `Embedder`; queries and passages are treated alike."""

    @property
    def name(self) -> str:
        return "hashing-512"

    @property
    def dimension(self) -> int:
        return DIMENSION

    def embed_query(self, text: str) -> Vector:
        return embed(text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        return np.stack([embed(text) for text in texts])


def embed(text: str) -> Vector:
    """(512,) float32, unit length. Any text without visible characters has the vector of the empty text."""
    hashes, counts = np.unique(_ngram_hashes(" ".join(fold(text).split())), return_counts=True)
    signs = np.where(hashes >> np.uint64(63), 1.0, -1.0)
    vector = np.bincount(
        (hashes % np.uint64(DIMENSION)).astype(np.int64), weights=signs * (1.0 + np.log(counts)), minlength=DIMENSION
    )
    norm = float(np.sqrt(np.dot(vector, vector)))
    if norm == 0.0:  # every n-gram met its opposite in its bucket
        return embed("") if text else np.eye(1, DIMENSION, dtype=np.float32)[0]
    out: Vector = (vector / norm).astype(np.float32)
    return out


def _ngram_hashes(text: str) -> NDArray[np.uint64]:
    """One 64-bit hash for each n-gram of the bounded text, sizes 2 to 4, in order of size and place."""
    padded = f"{_BOUNDARY}{text}{_BOUNDARY}"
    points = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    parts = []
    for size in _SIZES:
        if len(points) < size:
            break
        grams = np.full(len(points) - size + 1, size, dtype=np.uint64)
        for place in range(size):
            grams = _mix(grams ^ points[place : len(points) - size + 1 + place])
        parts.append(grams)
    return np.concatenate(parts)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every input bit reaches every output bit."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
