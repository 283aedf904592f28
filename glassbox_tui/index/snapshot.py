"""What a search works on: one immutable picture of the index in memory. Updates make a new one and swap it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glassbox_tui.index.dense import DenseIndex, build_dense
from glassbox_tui.index.rows import ChunkRow, NoteRecord
from glassbox_tui.index.sparse import Passages, SparseIndex, build_sparse
from glassbox_tui.index.store import Store


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Chunk number i is `chunks[i]`, the i-th in (path, start) order; sparse and dense rows are those numbers."""

    notes: tuple[NoteRecord, ...]
    chunks: tuple[ChunkRow, ...]
    row_of: Mapping[str, int]
    passages: Passages
    dense: DenseIndex

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


def read_snapshot(store: Store, model: str, dimension: int) -> Snapshot:
    """The index as it stands, with the vectors of `model`."""
    contents = store.read_all()
    chunks = contents.chunks
    number = {path: i for i, path in enumerate(contents.notes)}
    return Snapshot(
        notes=tuple(store.notes()),
        chunks=chunks,
        row_of={chunk.uid: i for i, chunk in enumerate(chunks)},
        passages=Passages(
            build_sparse(contents.forward),
            build_sparse(contents.note_forward),
            np.array([number[chunk.path] for chunk in chunks], dtype=np.int32),
        ),
        dense=_dense(chunks, store, model, dimension),
    )


def refresh_vectors(snapshot: Snapshot, store: Store, model: str, dimension: int) -> Snapshot:
    """The same texts with the vectors that have come in since."""
    return replace(snapshot, dense=_dense(snapshot.chunks, store, model, dimension))


def _dense(chunks: Sequence[ChunkRow], store: Store, model: str, dimension: int) -> DenseIndex:
    return build_dense([c.key for c in chunks], [c.language for c in chunks], store.vectors(model), dimension)
