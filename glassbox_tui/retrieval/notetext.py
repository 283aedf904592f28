"""The text of one note, for a reader: the file as it is, or what the index holds where the file is gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from glassbox_tui.index.passages import around, text_of
from glassbox_tui.index.rows import ChunkRow
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.notes.reading import NoteText, read_note

AROUND_CHARS = 600


def note_text(root: Path | None, snapshot: Snapshot, path: str, follow_links: bool = False) -> NoteText:
    """The note `path` of the folder `root` (None: the index was built from texts). Never raises.

    Where the file cannot be read, `problem` says why and `text` is what was indexed of it, if anything was.
    """
    if root is None:
        found = NoteText(path, problem=f"{path} is a text that was handed in, not a file")
    else:
        digest = next((n.digest for n in snapshot.notes if n.path == path), "")
        found = read_note(root, path, digest, follow_links)
    return replace(found, text=text_of(_chunks(snapshot, path))) if found.problem else found


def text_around(snapshot: Snapshot, uid: str, chars: int = AROUND_CHARS) -> tuple[str, str]:
    """What the index holds before and after a chunk, at most `chars` characters each; blank if it is not there now."""
    if uid not in snapshot.row_of:
        return "", ""
    chunk = snapshot.chunk(uid)
    return around(_chunks(snapshot, chunk.path), chunk.ordinal, chars)


def _chunks(snapshot: Snapshot, path: str) -> list[ChunkRow]:
    return [chunk for chunk in snapshot.chunks if chunk.path == path]
