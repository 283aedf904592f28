"""A folder for the time of one run, inside the data folder: all that we write belongs there."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from glassbox_tui.settings import Settings

_ABANDONED = 86_400.0  # seconds; no run of ours takes a day


@contextmanager
def scratch_folder(settings: Settings, name: str) -> Iterator[Path]:
    """An empty folder, gone afterwards. What a killed run of this `name` left a day ago goes too. Raises OSError."""
    base = settings.data_dir
    base.mkdir(parents=True, exist_ok=True)
    for left in base.glob(f".{name}-*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=base) as made:
        yield Path(made)
