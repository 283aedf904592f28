"""The files of a folder as a person asks about them: what is searchable, what waits, what is left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from glassbox_tui.index.scope import rows_within
from glassbox_tui.notes.scan import Scan, kind_of

if TYPE_CHECKING:
    from glassbox_tui.index.snapshot import Snapshot

UNREAD, SKIPPED = "unread", "skipped"


@dataclass(frozen=True, slots=True)
class NoteInfo:
    """One file. `status` "ok" means searchable, else `reason` says why not. `vectors` of its `chunks` are embedded.

    Two statuses are of files the index does not hold: "unread" (found, and read by the next update) and "skipped"
    (left out; the path of a folder ends with a slash).
    """

    path: str
    title: str
    status: str
    reason: str
    warnings: tuple[str, ...]
    encoding: str
    kind: str
    size: int
    chunks: int
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class ChunkInfo:
    """One chunk of a note: where it stands, and its text."""

    uid: str
    heading: tuple[str, ...]
    lines: tuple[int, int]
    page: int | None
    start: int
    end: int
    text: str
    embedded: bool


def notes_of(snapshot: Snapshot) -> list[NoteInfo]:
    """Every file the index knows, by path."""
    chunks = Counter(chunk.path for chunk in snapshot.chunks)
    vectors = Counter(snapshot.chunks[row].path for row in snapshot.dense.rows.tolist())
    return [
        NoteInfo(
            n.path, n.title, n.status, n.reason, n.warnings, n.encoding, n.kind, n.size, chunks[n.path], vectors[n.path]
        )
        for n in snapshot.notes
    ]  # fmt: skip


def files_of(snapshot: Snapshot, seen: Scan) -> list[NoteInfo]:
    """Every file of the folder, by path: what the index knows, and what the last look at the folder saw beside it."""
    known = {note.path for note in snapshot.notes}
    unread = [
        NoteInfo(f.path, "", UNREAD, "not read yet", (), "", kind_of(f.path) or "", f.size, 0)
        for f in seen.files
        if f.path not in known
    ]
    skipped = [NoteInfo(s.path, "", SKIPPED, s.reason, (), "", "", 0, 0) for s in seen.skipped]
    return sorted([*notes_of(snapshot), *unread, *skipped], key=lambda row: row.path)


def chunks_of(snapshot: Snapshot, path: str) -> list[ChunkInfo]:
    """The chunks of one note in reading order; none for a path the index does not hold."""
    return [
        ChunkInfo(
            c.uid, c.heading, c.lines, c.page, c.start, c.end, c.text, snapshot.dense.vector(int(row)) is not None
        )
        for row in rows_within(snapshot.chunks, path)
        if (c := snapshot.chunks[row]).path == path
    ]


def opening(chunks: Sequence[ChunkInfo], length: int) -> str:
    """The note's text from its first chunks, what neighbours share once, about `length` characters of it."""
    pieces, size, end = list[str](), 0, 0
    for chunk in chunks:
        if size >= length:
            break
        gap = "\n" if pieces and chunk.start > end else ""
        pieces.append(gap + chunk.text[max(0, end - chunk.start) :])
        size, end = size + len(pieces[-1]), max(end, chunk.end)
    return "".join(pieces)[:length]
