"""Which files the user wants left out: patterns as in a .gitignore, from a setting and from .glassboxignore files.

A pattern of a file counts from the file's folder down. Of several that fit a path the last decides, a deeper file
before a higher one, and the setting last of all; `!` takes a path back in. What lies in a folder that is left out stays
out.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from glassbox_tui.settings import Settings, SettingsError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".glassboxignore"
SETTING = "GLASSBOX_IGNORE"
_LARGEST = 100_000  # bytes of an ignore file
_MOST_STARS = 4  # between two slashes: with more, a matching regular expression may take minutes for one long name


@dataclass(frozen=True, slots=True)
class Rules:
    """What a person asked of the scan. `follow_links`: also where links lead out of the notes folder.

    `ours`: the data folder. What we write is no note, wherever it lies.
    """

    patterns: tuple[str, ...] = ()
    follow_links: bool = False
    ours: Path | None = field(default=None, compare=False)


NO_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Layer:
    """The patterns of one place, each with what the user wrote. `base`: the folder they count from, "" or "sub/"."""

    base: str
    source: str
    spec: GitIgnoreSpec
    written: tuple[str, ...]


def rules_of(settings: Settings) -> Rules:
    """The part of the settings that a scan obeys. Raises SettingsError for a pattern that is none."""
    patterns = split(settings.ignore)
    for pattern in patterns:
        if why := fault(pattern):
            raise SettingsError(f"{SETTING}: {pattern!r} {why}")
    return Rules(patterns, settings.follow_links, settings.data_dir)


def split(patterns: str) -> tuple[str, ...]:
    """Patterns as a setting holds them: on lines of their own, or with commas between."""
    return tuple(stripped for pattern in re.split(r"[,\n]", patterns) if (stripped := pattern.strip()))


def fault(pattern: str) -> str:
    """Why this is no pattern that can be used, "" if it is one."""
    from pathspec import GitIgnoreSpec

    if any(len(re.findall(r"\*+", part)) > _MOST_STARS for part in pattern.split("/")):
        return f"has more than {_MOST_STARS} stars in one name"
    try:
        GitIgnoreSpec.from_lines([pattern])
    except (ValueError, re.error):
        return "is no pattern as in a .gitignore"
    return ""


def layer_of(patterns: Sequence[str], base: str = "", source: str = SETTING) -> tuple[Layer | None, tuple[str, ...]]:
    """The layer that `patterns` make, None if none of them can be used; and what is wrong with those that cannot."""
    from pathspec import GitIgnoreSpec

    wrong = {number: why for number, pattern in enumerate(patterns) if (why := fault(pattern))}
    sound = [pattern for number, pattern in enumerate(patterns) if number not in wrong]
    # Without blank lines and comments: numbers of patterns are then places in what was written.
    used = [one for one in sound if any(p.include is not None for p in GitIgnoreSpec.from_lines([one]).patterns)]
    told = tuple(f"line {number + 1}, {patterns[number]!r}, {why}" for number, why in wrong.items())
    # To git, `sub/**` leaves out what is in sub and not sub itself, as `sub/*` does; pathspec takes it for both.
    spec = GitIgnoreSpec.from_lines([re.sub(r"/\*\*/?$", "/*", one.rstrip()) for one in used])
    return Layer(base, source, spec, tuple(used)) if used else None, told


def file_layer(folder: Path, base: str) -> tuple[Layer | None, tuple[str, ...]]:
    """The layer of the ignore file in `folder`; None if it holds none, and why it does not."""
    path = folder / IGNORE_FILE
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # nor a link: what stands outside has no say
            return None, ("is not a regular file, so nothing is left out by it",)
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except OSError as error:
        return None, (f"cannot be read ({error.strerror or error}), so nothing is left out by it",)
    if len(raw) > _LARGEST:
        return None, (f"is larger than {_LARGEST // 1000} kB, so nothing is left out by it",)
    return layer_of(raw.decode("utf-8-sig", "replace").splitlines(), base, base + IGNORE_FILE)


def left_out(layers: Sequence[Layer], path: str) -> str | None:
    """By which pattern `path` (relative to the root; a folder's ends with a slash) is left out; None if by none."""
    for layer in reversed(layers):
        found = layer.spec.check_file(path[len(layer.base) :])
        if found.include is not None and found.index is not None:
            return f"left out by {layer.written[found.index]!r} in {layer.source}" if found.include else None
    return None
