"""Where a folder's index lives: under the data folder, named so that a person recognises it, never in the notes."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from glassbox_tui.settings import Settings


def index_path(settings: Settings, notes: Path) -> Path:
    """The database of the index of `notes` (an absolute path; links in it count as the folder they lead to)."""
    real = os.path.realpath(notes)
    name = re.sub(r"[^\w.-]+", "-", Path(real).name).strip(".-")[:40] or "notes"
    digest = hashlib.blake2b(os.fsencode(real), digest_size=6).hexdigest()
    return settings.data_dir / "indexes" / f"{name}-{digest}" / "index.sqlite"
