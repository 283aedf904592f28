"""Nearest chunks by inner product of unit vectors: FAISS serves, numpy is the second, independent path.

Chunks are kept in one FAISS index a language, because a score may get an offset by the chunk's language (see
`models.calibration`): the best of each language are found exactly, then put in one order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.models.protocols import Matrix, Vector

Found = tuple[int, float, float]  # chunk number, score, cosine: the score is the cosine plus its language's offset


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """`matrix` is (n, d) float32 with unit rows; vector i belongs to chunk number `rows[i]` (rising).

    `groups` holds, per language, the positions in `matrix` and a FAISS IndexIDMap over IndexFlatIP whose ids are chunk
    numbers.
    """

    matrix: Matrix
    rows: NDArray[np.int64]
    groups: Mapping[str, tuple[NDArray[np.int64], Any]]

    @property
    def size(self) -> int:
        return len(self.rows)

    def vector(self, row: int) -> Vector | None:
        """The vector of a chunk number, or None where it has none yet."""
        at = int(np.searchsorted(self.rows, row))
        return self.matrix[at] if at < self.size and self.rows[at] == row else None


def build_dense(
    keys: Sequence[str], languages: Sequence[str], vectors: Mapping[str, bytes], dimension: int
) -> DenseIndex:
    """Line up the stored vectors with chunks: `keys[i]` names the embedding of chunk number i, in `languages[i]`.

    A vector of another length than `dimension` is left out: it was written by something else. Without an embedder
    (dimension 0) no chunk has a vector, whatever is stored.
    """
    size = 4 * dimension
    found = [i for i, key in enumerate(keys) if size and len(vectors.get(key, b"")) == size]
    matrix = np.frombuffer(b"".join(vectors[keys[i]] for i in found), dtype="<f4").reshape(len(found), dimension)
    return _grouped(matrix, np.array(found, dtype=np.int64), languages)


def splice_dense(
    index: DenseIndex, place: NDArray[np.int32], languages: Sequence[str], added: Mapping[int, bytes]
) -> DenseIndex:
    """What `build_dense` would make after chunks changed: old chunk i is now number `place[i]`, or gone (-1).

    `languages` and `added` (number -> vector) speak of the new numbers.
    """
    dimension = index.matrix.shape[1]
    new = sorted(number for number, vector in added.items() if dimension and len(vector) == 4 * dimension)
    fresh = np.frombuffer(b"".join(added[i] for i in new), dtype="<f4").reshape(len(new), dimension)
    rows = place[index.rows].astype(np.int64)
    kept = rows >= 0
    rows = np.concatenate([rows[kept], np.array(new, dtype=np.int64)])
    order = np.argsort(rows, kind="stable")
    return _grouped(np.concatenate([index.matrix[kept], fresh])[order], rows[order], languages)


def _grouped(matrix: Matrix, rows: NDArray[np.int64], languages: Sequence[str]) -> DenseIndex:
    spoken = np.array([languages[i] for i in rows.tolist()], dtype=object)
    groups = {}
    for language in sorted(set(spoken)):
        positions = np.flatnonzero(spoken == language)
        groups[language] = (positions, _faiss_index(matrix[positions], rows[positions]))
    return DenseIndex(matrix, rows, groups)


def _faiss_index(matrix: Matrix, rows: NDArray[np.int64]) -> Any:
    import faiss

    # One thread: for indexes of this size waking others costs more than they save, and much more on a busy machine.
    faiss.omp_set_num_threads(1)
    index = faiss.IndexIDMap(faiss.IndexFlatIP(matrix.shape[1]))
    index.add_with_ids(np.ascontiguousarray(matrix), rows)
    return index


def search_dense(
    index: DenseIndex, vector: Vector, k: int, offsets: Mapping[str, float] = {}, only: Rows | None = None
) -> list[Found]:
    """The k best by score, ties by chunk number. `offsets`: what to add by language; absent is 0.

    `only`: the chunk numbers to search among. FAISS passes the others over, so the k best of these are found exactly.
    """
    if k < 1:
        return []
    query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
    found: list[Found] = []
    for language, (positions, group) in index.groups.items():
        chosen = None if only is None else np.intersect1d(index.rows[positions], only, assume_unique=True)
        scores, rows = _nearest(group, query, k, len(positions), chosen)
        offset = offsets.get(language, 0.0)
        found += [(int(row), float(score) + offset, float(score)) for row, score in zip(rows, scores, strict=True)]
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
    index: DenseIndex, vector: Vector, k: int, offsets: Mapping[str, float] = {}, only: Rows | None = None
) -> list[Found]:
    """The same by brute force, without FAISS: what `search_dense` is held against."""
    cosines = np.einsum("nd,d->n", index.matrix, np.asarray(vector, dtype=np.float32))
    scores = cosines.astype(np.float64)
    for language, (positions, _) in index.groups.items():
        scores[positions] += offsets.get(language, 0.0)
    order = np.lexsort((index.rows, -scores))
    if only is not None:
        order = order[np.isin(index.rows[order], only)]
    order = order[:k]
    return [(int(index.rows[i]), float(scores[i]), float(cosines[i])) for i in order]
