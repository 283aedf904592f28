"""`purge`: removes the index of a folder, or those of folders that are no more. The notes are never touched."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from filelock import Timeout

from glassbox_tui.index.check import size_of
from glassbox_tui.index.location import MOUNT, NOTES, index_path, notes_name
from glassbox_tui.index.lock import lock_of, writer_of
from glassbox_tui.index.schema import StoreError
from glassbox_tui.settings import Settings


@dataclass(frozen=True, slots=True)
class Kept:
    """An index on disk: its folder, the notes it is of ("" if it does not say), its size in bytes."""

    folder: Path
    notes: str
    mount: str
    size: int

    @property
    def is_gone(self) -> bool:
        """Whether the notes are no more: not there, though what they were on is mounted."""
        known = self.notes and "\\x" not in self.notes  # such a name is not the one on the disk
        return bool(known) and not os.path.lexists(self.notes) and os.path.ismount(self.mount)


def kept(settings: Settings) -> list[Kept]:
    """Every index there is, by name."""
    folders = sorted((settings.data_dir / "indexes").glob("*"))
    return [_kept(folder) for folder in folders if folder.is_dir()]


def of_notes(settings: Settings, notes: Path) -> list[Kept]:
    """The index of `notes` (which may be gone), and those that comparisons made beside it."""
    usual = index_path(settings, notes).parent
    beside = [one for one in kept(settings) if one.folder.name.startswith(f"{usual.name}-")]
    name = notes_name(notes)
    return ([_kept(usual)] if usual.is_dir() else []) + [one for one in beside if one.notes in ("", name)]


def remove(index: Kept) -> None:
    """Delete the folder of an index. Raises StoreError: another process writes it, or it cannot be removed."""
    file = index.folder / "index.sqlite"
    try:
        with lock_of(file).acquire(timeout=0):
            shutil.rmtree(index.folder)
    except Timeout:
        holder, _ = writer_of(file)
        who = f" ({holder})" if holder is not None else ""
        raise StoreError(f"another process{who} is writing the index in {index.folder}: it was not removed") from None
    except OSError as error:
        raise StoreError(f"the index in {index.folder} cannot be removed: {error.strerror or error}") from None


def lines(indexes: Sequence[Kept]) -> list[str]:
    """What would go: a line each."""
    return [f"{one.folder}: {one.size / 1e6:,.1f} MB, of {one.notes or 'notes it does not name'}" for one in indexes]


def _kept(folder: Path) -> Kept:
    about: dict[str, str] = {}
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        uri = f"{(folder / 'index.sqlite').absolute().as_uri()}?{mode}"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as db:
                about = dict(db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", (NOTES, MOUNT)).fetchall())
            break
        except sqlite3.Error:  # damaged, or of an older version: its size is known all the same
            continue
    return Kept(folder, about.get(NOTES, ""), about.get(MOUNT, ""), size_of(folder))
