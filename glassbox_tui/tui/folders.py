"""Which folder of notes to open: what is typed, completed from the disk; and the folders that were open before.

Everything here may wait for a disk or a network mount: it is called from a thread that nobody waits for.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glassbox_tui.notes.scan import NotesError, kind_of, path_text
from glassbox_tui.tui import memory

MOST_RECENT = 20
MOST_OFFERED = 500  # completions; who has more types another letter


@dataclass(frozen=True, slots=True)
class Offers:
    """What fits what was typed: folders on disk (with a slash at their end) and notes, and recent folders."""

    typed: str
    found: tuple[str, ...]
    recent: tuple[str, ...]


def offers(typed: str, recent: Sequence[str]) -> Offers:
    """Completions of a path as it is typed, "~" included; hidden ones only after a dot. Never raises."""
    return Offers(typed, _on_disk(typed) if typed else (), tuple(r for r in recent if typed.casefold() in r.casefold()))


def _on_disk(typed: str) -> tuple[str, ...]:
    head, slash, start = typed.rpartition("/")
    try:
        folder = Path(head + slash).expanduser()
        with os.scandir(folder) as entries:
            found = [
                head + slash + entry.name + ("/" if entry.is_dir() else "")
                for entry in entries
                if entry.name.startswith(start)
                and (start.startswith(".") or not entry.name.startswith("."))
                and (entry.is_dir() or kind_of(entry.name))
            ]
    except (OSError, ValueError, RuntimeError):  # RuntimeError: ~name of nobody
        return ()
    return tuple(sorted(found, key=str.casefold)[:MOST_OFFERED])


def completed(typed: str, found: Sequence[str]) -> str:
    """`typed`, grown to what all completions begin with."""
    return os.path.commonprefix(list(found)) or typed  # noqa: RUF071 - letters are typed, not parts of paths


def checked(typed: str) -> Path:
    """The absolute path of the folder (or note) that was typed. Raises NotesError, one sentence."""
    if not typed.strip():
        raise NotesError("type the path of a folder of notes")
    for given in (typed, typed.strip()):  # a name may begin or end with a blank
        try:
            path = Path(given).expanduser()
            if stat.S_ISDIR(path.stat().st_mode):
                os.scandir(path).close()  # that it may be listed
            elif not kind_of(path.name):
                raise NotesError(f"{path_text(given)} is not a note: .md, .txt and .pdf files are")
            return Path(os.path.abspath(path))  # noqa: PTH100 - links in it stay as they are
        except FileNotFoundError:
            continue
        except OSError as error:
            raise NotesError(f"cannot open {path_text(given)}: {error.strerror or error}") from None
        except (ValueError, RuntimeError) as error:  # RuntimeError: ~name of nobody
            raise NotesError(f"cannot open {path_text(given)}: {error}") from None
    raise NotesError(f"there is no folder {path_text(typed.strip())}")


# -- recent folders ----------------------------------------------------------------------------------------------------


def recent(file: Path) -> tuple[str, ...]:
    """Folders that were open before, the last first. A file that is missing or makes no sense holds none."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(found, list):
        return ()
    return tuple(dict.fromkeys(path for path in found if isinstance(path, str) and path.startswith("/")))[:MOST_RECENT]


def remember(file: Path, folder: str) -> tuple[str, ...]:
    """Put `folder` first among the recent ones, and keep them."""
    kept = (folder, *(path for path in recent(file) if path != folder))[:MOST_RECENT]
    memory.replace_text(file, json.dumps(kept, indent=1) + "\n")
    return kept
