"""Nearest chunks by inner product of unit vectors: FAISS serves, numpy is the second, independent path.

A score is the cosine plus what its level gives at the chunk's place (see `models.levelling`). Both are inner products,
so the place stands behind the vector as three more numbers, and one exact search finds the best by score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.models.calibration import Calibration
from glassbox_tui.models.levelling import FLAT, Level, Places, places
from glassbox_tui.models.protocols import Matrix, Vector

Found = tuple[int, float, float]  # chunk number, score, cosine: the score is the cosine plus the level at its place


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """`matrix` is (n, d) float32 with unit rows; vector i belongs to chunk number `rows[i]` (rising).

    `places` (n, 3) is where each stands by `calibration`; `served` is a FAISS IndexIDMap over IndexFlatIP of the
    vectors with their places (n, d + 3), whose ids are chunk numbers.
    """

    matrix: Matrix
    rows: NDArray[np.int64]
    places: Places
    served: Any
    calibration: Calibration | None = None

    @property
    def size(self) -> int:
        return len(self.rows)

    def vector(self, row: int) -> Vector | None:
        """The vector of a chunk number, or None where it has none yet."""
        at = self._at(row)
        return None if at is None else self.matrix[at]

    def place(self, row: int) -> Places | None:
        """(3,): where a chunk number stands, or None where it has no vector yet."""
        at = self._at(row)
        return None if at is None else self.places[at]

    def _at(self, row: int) -> int | None:
        at = int(np.searchsorted(self.rows, row))
        return at if at < self.size and self.rows[at] == row else None


def build_dense(
    keys: Sequence[str], vectors: Mapping[str, bytes], dimension: int, calibration: Calibration | None = None
) -> DenseIndex:
    """Line up the stored vectors with chunks: `keys[i]` names the embedding of chunk number i.

    A vector of another length than `dimension` is left out: it was written by something else. Without an embedder
    (dimension 0) no chunk has a vector, whatever is stored.
    """
    size = 4 * dimension
    found = [i for i, key in enumerate(keys) if size and len(vectors.get(key, b"")) == size]
    matrix = np.frombuffer(b"".join(vectors[keys[i]] for i in found), dtype="<f4").reshape(len(found), dimension)
    return serve(matrix, np.array(found, dtype=np.int64), places(calibration, matrix), calibration)


def splice_dense(index: DenseIndex, place: NDArray[np.int32], added: Mapping[int, bytes]) -> DenseIndex:
    """What `build_dense` would make after chunks changed: old chunk i is now number `place[i]`, or gone (-1).

    `added` (number -> vector) speaks of the new numbers.
    """
    dimension = index.matrix.shape[1]
    new = sorted(number for number, vector in added.items() if dimension and len(vector) == 4 * dimension)
    fresh = np.frombuffer(b"".join(added[i] for i in new), dtype="<f4").reshape(len(new), dimension)
    rows = place[index.rows].astype(np.int64)
    kept = rows >= 0
    rows = np.concatenate([rows[kept], np.array(new, dtype=np.int64)])
    order = np.argsort(rows, kind="stable")
    matrix = np.concatenate([index.matrix[kept], fresh])[order]
    stand = np.concatenate([index.places[kept], places(index.calibration, fresh)])[order]
    return serve(matrix, rows[order], stand, index.calibration)


def serve(matrix: Matrix, rows: NDArray[np.int64], stand: Places, calibration: Calibration | None = None) -> DenseIndex:
    """The searchable form of vectors (n, d) of the chunk numbers `rows` (rising), with where each stands (n, 3)."""
    import faiss

    # One thread: for indexes of this size waking others costs more than they save, and much more on a busy machine.
    faiss.omp_set_num_threads(1)
    index = faiss.IndexIDMap(faiss.IndexFlatIP(matrix.shape[1] + stand.shape[1]))
    index.add_with_ids(np.ascontiguousarray(np.concatenate([matrix, stand], axis=1)), rows)
    return DenseIndex(matrix, rows, stand, index, calibration)


def search_dense(
    index: DenseIndex, vector: Vector, k: int, level: Level = FLAT, only: Rows | None = None
) -> list[Found]:
    """The k best by score, ties by chunk number.

    `only`: the chunk numbers to search among. FAISS passes the others over, so the k best of these are found exactly.
    """
    if k < 1 or not index.size:
        return []
    slopes = np.asarray(level.slopes, dtype=np.float32)
    query = np.concatenate([np.asarray(vector, dtype=np.float32), slopes]).reshape(1, -1)
    chosen = None if only is None else np.intersect1d(index.rows, only, assume_unique=True)
    scores, rows = _nearest(index.served, query, k, index.size, chosen)
    at = np.searchsorted(index.rows, rows)
    found = [
        (int(row), float(score) + level.base, float(score) - level.at(index.places[i]) + level.base)
        for row, score, i in zip(rows, scores, at, strict=True)
    ]
    return sorted(found, key=lambda f: (-f[1], f[0]))[:k]


def _nearest(
    group: Any, query: Matrix, k: int, size: int, only: Rows | None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """At least everything level with the k-th score: FAISS leaves ties open, so we ask until none is cut."""
    params = None
    if only is not None and len(only) < size:
        import faiss

        size = len(only)
        if not size:
            return np.zeros(0, np.float32), only
        params = faiss.SearchParameters(sel=faiss.IDSelectorBatch(only))  # type: ignore[call-arg]  # it keeps the selector
    depth = min(k + 8, size)
    while True:
        scores, rows = group.search(query, depth, params=params)
        if depth == size or scores[0, k - 1] > scores[0, -1]:
            return scores[0], rows[0]
        depth = min(2 * depth, size)


def search_numpy(
    index: DenseIndex, vector: Vector, k: int, level: Level = FLAT, only: Rows | None = None
) -> list[Found]:
    """The same by brute force, without FAISS: what `search_dense` is held against."""
    cosines = np.einsum("nd,d->n", index.matrix, np.asarray(vector, dtype=np.float32))
    scores = cosines.astype(np.float64) + index.places.astype(np.float64) @ np.asarray(level.slopes) + level.base
    order = np.lexsort((index.rows, -scores))
    if only is not None:
        order = order[np.isin(index.rows[order], only)]
    order = order[:k]
    return [(int(index.rows[i]), float(scores[i]), float(cosines[i])) for i in order]
