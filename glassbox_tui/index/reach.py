"""Notes that are out of reach are not notes that are gone: a folder that cannot be read, a disk that is not mounted.

A scan sees nothing below a mount point while nothing is mounted there. So the mount points with notes below are
remembered in the index, and one that is no mount any more and holds no note keeps the notes it had; so is the mount
that the folder itself lies on, for an empty folder may stand where a disk was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from glassbox_tui.index.location import MOUNT, mount_point
from glassbox_tui.index.scope import within
from glassbox_tui.index.store import Store
from glassbox_tui.notes.mounts import mounts, mounts_within
from glassbox_tui.notes.scan import Scan

_MOUNTS = "mounts"
UNMOUNTED = "nothing is mounted there any more"
COVERED = "another file system is mounted over it"


class HasMeta(Protocol):
    """What of a store is needed to remember: `Store`, or one that is only looked at."""

    def meta(self, key: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Kept:
    """`notes` notes at or below `path` ("" is the whole folder) could not be looked at, for a `reason`.

    `alone`: they are files that were found and could not be read, `path` the first of them.
    """

    path: str
    reason: str
    notes: int
    alone: bool = False

    def __str__(self) -> str:
        if self.alone:
            more = f" and {self.notes - 1:,} more" if self.notes > 1 else ""
            return f"{self.path!r}{more} {self.reason}: kept as last read, and tried again"
        if self.path:
            return f"notes below {self.path!r} cannot be reached ({self.reason}): {self.notes:,} are kept as last read"
        return f"the notes cannot be reached ({self.reason}): {self.notes:,} are kept as last read"


def unreachable(store: HasMeta, root: Path, found: Scan, known: Collection[str]) -> dict[str, str]:
    """Where a scan could not look: path ("" is all of it) to reason. `known`: the paths that the index holds.

    Where another disk, or none, is mounted above than was, and most of what is known is not there, all of it is away:
    whatever else may have been written into the folder meanwhile.
    """
    missed = {skip.path.rstrip("/"): skip.reason for skip in found.unread}
    for point in _remembered(store) - mounts_within(root, mounts()).keys():
        if not any(within(file.path, point) for file in found.files):
            missed[point] = UNMOUNTED
    above = store.meta(MOUNT)
    here = sum(file.path in known for file in found.files)
    if above and 2 * here < len(known) and above != mount_point(root):
        missed[""] = COVERED if os.path.ismount(above) else UNMOUNTED
    return missed


def out_of_reach(
    store: HasMeta, root: Path, found: Scan, known: Iterable[str]
) -> tuple[dict[str, str], tuple[Kept, ...]]:
    """Which of the notes `known` to the index a scan could not look at, path to reason; and the same in sentences."""
    paths = set(known)
    missed = unreachable(store, root, found, paths)
    lacking = sorted(paths - {file.path for file in found.files})
    _, kept = sort_out(lacking, missed)
    return {path: missed[where] for path in lacking for where in sorted(missed) if within(path, where)}, kept


def sort_out(gone: Sequence[str], missed: Mapping[str, str]) -> tuple[list[str], tuple[Kept, ...]]:
    """Which of the notes that a scan did not find are really gone, and how many are only out of reach, and why."""
    counts = dict.fromkeys(sorted(missed), 0)
    really = []
    for path in gone:
        for where in counts:
            if within(path, where):
                counts[where] += 1
                break
        else:
            really.append(path)
    return really, tuple(Kept(where, missed[where], n) for where, n in counts.items() if n)


def remember_mounts(store: Store, root: Path, kept: Sequence[Kept]) -> None:
    """For the next update: what is mounted now, and what notes wait for."""
    above = mount_point(root)
    if above != store.meta(MOUNT) and not any(k.path == "" and k.reason in (UNMOUNTED, COVERED) for k in kept):
        store.set_meta(MOUNT, above)
    now = mounts_within(root, mounts()).keys() | {k.path for k in kept if k.reason == UNMOUNTED}
    if now != _remembered(store):
        store.set_meta(_MOUNTS, json.dumps(sorted(now), ensure_ascii=False))


def _remembered(store: HasMeta) -> set[str]:
    return set(json.loads(store.meta(_MOUNTS) or "[]"))
