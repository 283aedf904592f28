"""A note for somebody to read: the file as it is now, and whether it is still what the index knows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from glassbox_tui.notes.scan import NotesError, kind_of, locate, path_text


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note's text, or in `problem` why there is none. `pages`: where each page starts (PDF only).

    `changed`: the file is not what was indexed, so offsets and lines may be off.
    """

    path: str
    text: str = ""
    encoding: str = ""
    kind: str = ""
    pages: tuple[int, ...] = ()
    changed: bool = False
    problem: str = ""


def note_file(root: Path, path: str, follow_links: bool = False) -> Path:
    """The file of the note `path` under `root` (a folder, or the note itself), made sure of.

    Paths come from an index or a Trace, which anybody may have written: only what a scan could have found is opened.
    `follow_links`: the setting of that name, which lets links lead outside.
    Raises NotesError with one sentence: gone, outside the folder, hidden, or no note.
    """
    parts = PurePosixPath(path).parts
    base = root.parent if root.is_file() else root
    alone = root.is_file() and path != path_text(root.name)
    if not parts or path.startswith("/") or ".." in parts or "\0" in path or alone:
        raise NotesError(f"{path!r} is no path inside the notes folder")
    if kind_of(path) is None or any(part.startswith(".") for part in parts):
        raise NotesError(f"{path!r} is not a note: hidden, or no .md, .markdown, .txt or .pdf file")
    try:
        found = locate(root, path)
        real, real_base = Path(os.path.realpath(found, strict=True)), Path(os.path.realpath(base))
    except FileNotFoundError:
        raise NotesError(f"{path} is gone from {base}") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise NotesError(f"{path} cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    if not follow_links and real_base not in real.parents:
        raise NotesError(f"{path} is a link that leads outside the notes folder")
    if not real.is_file():
        raise NotesError(f"{path} is not a regular file")
    return found


def read_note(root: Path, path: str, digest: str, follow_links: bool = False) -> NoteText:
    """The text of a note as the file is now; `digest` is what the index has seen ("": it has not). Never raises."""
    # The app knows NoteText from its start, and must not wait for what reads one.
    from glassbox_tui.notes.load import load

    try:
        found = load(note_file(root, path, follow_links), path)
    except NotesError as error:
        return NoteText(path, problem=str(error))
    changed = bool(digest) and found.digest != digest
    if found.status not in {"ok", "empty"}:
        return NoteText(path, kind=found.kind, changed=changed, problem=f"{path}: {found.reason}")
    return NoteText(path, found.text, found.encoding, found.kind, found.pages, changed)
