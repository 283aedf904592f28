"""Where a person's synonyms are: `synonyms.txt` at the top of the notes folder, or the file that a setting names."""

from __future__ import annotations

import stat
from functools import lru_cache
from pathlib import Path

from glassbox_tui.notes.decode import decode
from glassbox_tui.text.synonyms import LARGEST, NONE, Synonyms, parse_synonyms

SYNONYMS_FILE = "synonyms.txt"
LEFT_OUT = "your synonyms: they are used, and not searched"


def read_synonyms(root: Path | None, named: str = "") -> tuple[Synonyms, tuple[str, ...]]:
    """The synonyms that hold for the notes at `root`, and a notice for each thing that is wrong with them.

    `named`: the file that the settings name, "" for the one in the folder, which need not be there. Never raises.
    """
    path = Path(named).expanduser() if named else None if root is None else root / SYNONYMS_FILE
    if path is None:
        return NONE, ()
    shown = str(path) if named else SYNONYMS_FILE
    try:
        info = path.stat() if named else path.lstat()  # what leads out of the notes folder is not followed
        if not stat.S_ISREG(info.st_mode):
            return NONE, (f"your synonyms ({shown}): not a regular file, so none are read",)
        found = _parsed(str(path), info.st_size, info.st_mtime_ns, info.st_ino)
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError) and not named
        why = getattr(error, "strerror", None) or str(error)
        return NONE, () if missing else (f"your synonyms ({shown}) cannot be read ({why}), so none are used",)
    return found, tuple(f"your synonyms ({shown}): {fault}" for fault in found.faults)


@lru_cache(8)
def _parsed(path: str, size: int, mtime_ns: int, inode: int) -> Synonyms:
    """The file's synonyms; read again when its size, time or inode is another."""
    with Path(path).open("rb") as file:
        raw = file.read(4 * LARGEST + 4)
    read = decode(raw)
    if read.binary:
        raise ValueError(read.binary)
    return parse_synonyms(read.text)
