"""Files that the app writes for the user, under the data folder: whole or not at all, and never over an older one."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

SLUG_CHARS = 40


def replace_file(path: Path, text: str) -> None:
    """Write `text` to `path` in one step. Raises OSError."""
    written = _written(path.parent, text)
    try:
        written.replace(path)
    except OSError:
        written.unlink(missing_ok=True)
        raise


def new_file(folder: Path, stem: str, suffix: str, text: str) -> Path:
    """Write `text` to `folder/stem.suffix`, or stem-2, stem-3 ... if that is there. Its path; raises OSError."""
    written = _written(folder, text)
    try:
        for number in count(1):
            path = folder / f"{stem}{'' if number == 1 else f'-{number}'}.{suffix}"
            try:
                path.touch(0o600, exist_ok=False)  # the name is ours now: a rename alone would write over another's
            except FileExistsError:
                continue
            return written.replace(path)
    finally:
        written.unlink(missing_ok=True)
    raise AssertionError("count() has no end")


def _written(folder: Path, text: str) -> Path:
    """A new file in `folder` with `text` on the disk; only its owner may read it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(prefix=".glassbox-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108
        raise
    return Path(name)


def stem_of(query: str, now: datetime) -> str:
    """A dated file name that says what was asked: 20261130-171502-why-fuse-ranks."""
    words = re.sub(r"[^\w]+", "-", query).strip("-_").lower()
    while len(words) > SLUG_CHARS or len(words.encode()) > 120:
        words = words[:-1]
    return "-".join(part for part in (now.strftime("%Y%m%d-%H%M%S"), words.strip("-_")) if part)
