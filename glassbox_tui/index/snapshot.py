"""What a search works on: one immutable picture of the index in memory. Updates make a new one and swap it in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.dense import DenseIndex, build_dense, splice_dense
from glassbox_tui.index.rows import ChunkRow, NoteRecord
from glassbox_tui.index.scope import Rows
from glassbox_tui.index.sparse import Ordered, Passages, SparseIndex, build_sparse, splice_sparse
from glassbox_tui.index.store import Store
from glassbox_tui.models.calibration import Calibration
from glassbox_tui.models.levelling import Places, end_of

T = TypeVar("T")

# With more notes changed than this, and than that share of all, everything is read anew.
FEW_NOTES, FEW_SHARE = 20, 0.2
MOST_NOTES = 400  # paths in one query


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Chunk number i is `chunks[i]`, the i-th in (path, start) order; sparse and dense rows are those numbers.

    `languages`: language -> the numbers of its chunks, rising.
    `ordered` is a cache: the terms in order, sorted when somebody first types half a word.
    """

    notes: tuple[NoteRecord, ...]
    chunks: tuple[ChunkRow, ...]
    row_of: Mapping[str, int]
    passages: Passages
    dense: DenseIndex
    languages: Mapping[str, Rows] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        spoken = np.array([chunk.language for chunk in self.chunks], dtype=object)
        languages = {name: np.flatnonzero(spoken == name) for name in sorted(set(spoken.tolist()))}
        object.__setattr__(self, "languages", languages)

    ordered: Ordered = field(default_factory=Ordered, compare=False)

    @property
    def sparse(self) -> SparseIndex:
        """Postings of the chunks."""
        return self.passages.chunks

    @property
    def searchable_notes(self) -> int:
        return sum(note.status == "ok" for note in self.notes)

    @property
    def dense_coverage(self) -> float:
        """Share of chunks that have a vector; 1 for an index without chunks, which lacks none."""
        return self.dense.size / len(self.chunks) if self.chunks else 1.0

    def chunk(self, uid: str) -> ChunkRow:
        return self.chunks[self.row_of[uid]]

    def place(self, uid: str) -> Places:
        """(3,): where the chunk stands between the languages; without a vector, where its letters put it."""
        row = self.row_of[uid]
        place = self.dense.place(row)
        return end_of(self.chunks[row].language) if place is None else place


def read_snapshot(store: Store, model: str, dimension: int, calibration: Calibration | None = None) -> Snapshot:
    """The index as it stands, with the vectors of `model`."""
    contents = store.read_all()
    chunks = contents.chunks
    return Snapshot(
        notes=tuple(store.notes()),
        chunks=chunks,
        row_of={chunk.uid: i for i, chunk in enumerate(chunks)},
        passages=Passages(
            build_sparse(contents.forward), build_sparse(contents.note_forward), _note_numbers(chunks, contents.notes)
        ),
        dense=build_dense([c.key for c in chunks], store.vectors(model), dimension, calibration),
    )


def renew_snapshot(
    snapshot: Snapshot, notes: Mapping[str, NoteRecord], changed: Collection[str], store: Store, model: str
) -> Snapshot:
    """The index after the notes at the paths `changed` were written or removed, and nothing else was.

    `notes` are the store's notes by path. Equal to `read_snapshot`; reads the changed notes only, if they are few.
    """
    if len(changed) > min(MOST_NOTES, max(FEW_NOTES, FEW_SHARE * len(snapshot.notes))):
        return read_snapshot(store, model, snapshot.dense.matrix.shape[1], snapshot.dense.calibration)
    old = snapshot.passages
    found = store.read_all(sorted(changed), first_term=old.chunks.width)
    chunks, place, at = _spliced(snapshot.chunks, found.chunks, changed, lambda chunk: chunk.path)
    old_names = list(dict.fromkeys(chunk.path for chunk in snapshot.chunks))
    names, note_place, note_at = _spliced(old_names, found.notes, changed, lambda name: name)
    vectors = store.vectors(model, [chunk.key for chunk in found.chunks])
    added = {i: vectors[chunks[i].key] for i in at.tolist() if chunks[i].key in vectors}
    return Snapshot(
        notes=tuple(notes[path] for path in sorted(notes)),
        chunks=chunks,
        row_of={chunk.uid: i for i, chunk in enumerate(chunks)},
        passages=Passages(
            splice_sparse(old.chunks, place, at, found.forward),
            splice_sparse(old.notes, note_place, note_at, found.note_forward),
            _note_numbers(chunks, names),
        ),
        dense=splice_dense(snapshot.dense, place, added),
    )


def add_vectors(snapshot: Snapshot, vectors: Mapping[str, bytes]) -> Snapshot:
    """The same texts, with vectors (by key) that have come in since."""
    place = np.arange(len(snapshot.chunks), dtype=np.int32)
    lacking = np.setdiff1d(place, snapshot.dense.rows, assume_unique=True).tolist()
    added = {row: vectors[key] for row in lacking if (key := snapshot.chunks[row].key) in vectors}
    return replace(snapshot, dense=splice_dense(snapshot.dense, place, added))


def without_vectors(snapshot: Snapshot) -> Snapshot:
    """The same texts, none of them embedded."""
    dense = snapshot.dense
    keys = [chunk.key for chunk in snapshot.chunks]
    return replace(snapshot, dense=build_dense(keys, {}, dense.matrix.shape[1], dense.calibration))


def _note_numbers(chunks: Sequence[ChunkRow], names: Sequence[str]) -> NDArray[np.int32]:
    number = {path: i for i, path in enumerate(names)}
    return np.array([number[chunk.path] for chunk in chunks], dtype=np.int32)


def _spliced(
    old: Sequence[T], new: Sequence[T], changed: Collection[str], path: Callable[[T], str]
) -> tuple[tuple[T, ...], NDArray[np.int32], NDArray[np.int32]]:
    """Old items less those of changed notes, with the new in their places; where the old went, where the new stand.

    Both come in the order of their paths, and so does the result.
    """
    kept = [i for i, item in enumerate(old) if path(item) not in changed]
    paths = [path(old[i]) for i in kept]
    merged, at, begin = list[T](), list[int](), 0
    for item in new:
        end = bisect_left(paths, path(item), begin)
        merged += [old[i] for i in kept[begin:end]]
        begin = end
        at.append(len(merged))
        merged.append(item)
    merged += [old[i] for i in kept[begin:]]
    place = np.full(len(old), -1, np.int32)
    place[kept] = np.delete(np.arange(len(merged), dtype=np.int32), at)
    return tuple(merged), place, np.array(at, dtype=np.int32)
