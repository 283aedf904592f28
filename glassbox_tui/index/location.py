"""Where a folder's index lives: under the data folder, named so that a person recognises it, never in the notes."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from glassbox_tui.notes.scan import path_text
from glassbox_tui.settings import Settings

# What an index says of the notes it is of (table `meta`): their folder, and the mount point it lay below.
NOTES, MOUNT = "notes", "mount"


def index_path(settings: Settings, notes: Path) -> Path:
    """The database of the index of `notes` (an absolute path; links in it count as the folder they lead to)."""
    real = os.path.realpath(notes)
    name = re.sub(r"[^\w.-]+", "-", Path(real).name).strip(".-")[:40] or "notes"
    digest = hashlib.blake2b(os.fsencode(real), digest_size=6).hexdigest()
    return settings.data_dir / "indexes" / f"{name}-{digest}" / "index.sqlite"


def notes_name(notes: Path) -> str:
    """The folder of notes as its index names it."""
    return path_text(os.path.realpath(notes))


def mount_point(path: Path) -> str:
    """What `path` is mounted on: the nearest folder above it that is a mount point."""
    real = Path(os.path.realpath(path))
    return path_text(str(next(folder for folder in (real, *real.parents) if os.path.ismount(folder))))
