"""Notes whose file is there and cannot be read now: what the index has of them stays, marked, and is tried again.

No rights, a disk error, a file that goes away while it is looked at: none of it says that the text is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from glassbox_tui.index.reach import Kept
from glassbox_tui.index.rows import NoteRecord
from glassbox_tui.notes.load import UNREADABLE

_MARK = "; it is kept as last read"


def is_unread(note: NoteRecord) -> bool:
    """Whether the last try to read this note's file failed, so that the next update tries again."""
    return note.status == UNREADABLE or any(warning.endswith(_MARK) for warning in note.warnings)


def unmarked(note: NoteRecord) -> NoteRecord:
    return replace(note, warnings=tuple(warning for warning in note.warnings if not warning.endswith(_MARK)))


def still_unread(known: NoteRecord, reason: str) -> NoteRecord:
    """What the index keeps of a note that it knows and that cannot be read for a `reason` (as `load` gives it)."""
    if known.status == UNREADABLE:
        return replace(known, reason=reason)
    kept = unmarked(known)
    return replace(kept, warnings=(*kept.warnings, reason + _MARK))


def told(unread: Sequence[tuple[str, str]]) -> tuple[Kept, ...]:
    """The notes that were kept, (path, reason) each: one account for each reason."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for path, reason in unread:
        by_reason[reason].append(path)
    return tuple(Kept(paths[0], reason, len(paths), alone=True) for reason, paths in by_reason.items())
