"""Nearest chunks by inner product of unit vectors: FAISS serves, numpy is the second, independent path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.models.protocols import Matrix, Vector


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """`matrix` is (n, d) float32 with unit rows; vector i belongs to chunk number `rows[i]` (rising).

    `faiss` is an IndexIDMap over IndexFlatIP whose ids are chunk numbers; None when there are no vectors.
    """

    matrix: Matrix
    rows: NDArray[np.int64]
    faiss: Any

    @property
    def size(self) -> int:
        return len(self.rows)

    def vector(self, row: int) -> Vector | None:
        """The vector of a chunk number, or None where it has none yet."""
        at = int(np.searchsorted(self.rows, row))
        return self.matrix[at] if at < self.size and self.rows[at] == row else None


def build_dense(keys: Sequence[str], vectors: Mapping[str, bytes], dimension: int) -> DenseIndex:
    """Line up the stored vectors with chunks: `keys[i]` names the embedding of chunk number i.

    A vector of another length than `dimension` is left out: it was written by something else.
    """
    size = 4 * dimension
    found = [(i, vectors[key]) for i, key in enumerate(keys) if len(vectors.get(key, b"")) == size]
    matrix = np.frombuffer(b"".join(v for _, v in found), dtype="<f4").reshape(len(found), dimension)
    rows = np.fromiter((i for i, _ in found), dtype=np.int64, count=len(found))
    return DenseIndex(matrix, rows, _faiss_index(matrix, rows) if found else None)


def _faiss_index(matrix: Matrix, rows: NDArray[np.int64]) -> Any:
    import faiss

    index = faiss.IndexIDMap(faiss.IndexFlatIP(matrix.shape[1]))
    index.add_with_ids(matrix, rows)
    return index


def search_dense(index: DenseIndex, vector: Vector, k: int) -> list[tuple[int, float]]:
    """The k nearest (row, inner product), ties by row. FAISS leaves ties open, so we ask until none is cut."""
    if index.faiss is None or k < 1:
        return []
    query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
    depth = min(k + 8, index.size)
    while True:
        scores, rows = index.faiss.search(query, depth)
        if depth == index.size or scores[0, k - 1] > scores[0, -1]:
            break
        depth = min(2 * depth, index.size)
    order = np.lexsort((rows[0], -scores[0]))[:k]
    return [(int(rows[0, i]), float(scores[0, i])) for i in order]


def search_numpy(index: DenseIndex, vector: Vector, k: int) -> list[tuple[int, float]]:
    """The same by brute force, without FAISS: what `search_dense` is held against."""
    scores = np.einsum("nd,d->n", index.matrix, np.asarray(vector, dtype=np.float32))
    order = np.lexsort((index.rows, -scores))[:k]
    return [(int(index.rows[i]), float(scores[i])) for i in order]
