"""What is mounted where, as the kernel's table has it: network mounts send no events, and an empty mount point is not
an empty folder. On systems without /proc the table is empty, and all mounts are taken for local ones.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path("/proc/self/mounts")

# Changes made on another machine reach no watcher here. FUSE file systems are called fuse.<program>.
_REMOTE = frozenset(
    {"9p", "acfs", "afpfs", "afs", "autofs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse", "gfs", "gfs2",
     "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "smb", "smb2", "smb3", "smbfs",
     "vboxsf", "virtiofs", "vmhgfs", "webdav"}
)  # fmt: skip
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of the table. `type` as in nfs4, fuse.sshfs, ext4."""

    point: Path
    type: str

    @property
    def remote(self) -> bool:
        return self.type in _REMOTE or self.type.startswith("fuse.")


def mounts() -> tuple[Mount, ...]:
    """All mounts, in the kernel's order: of two at one point the later one hides the earlier."""
    try:
        text = os.fsdecode(TABLE.read_bytes())
    except OSError:
        return ()
    rows = (line.split(" ") for line in text.splitlines())
    return tuple(Mount(Path(_plain(row[1])), row[2]) for row in rows if len(row) > 2)


def _plain(field: str) -> str:
    r"""The table writes a space as \040, and so on."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), field)


def mount_of(folder: Path, table: tuple[Mount, ...]) -> Mount | None:
    """The mount that `folder` lies on."""
    real = Path(os.path.realpath(folder))
    over = [m for m in table if m.point == real or m.point in real.parents]
    return max(enumerate(over), key=lambda at: (len(at[1].point.parts), at[0]))[1] if over else None


def mounts_within(root: Path, table: tuple[Mount, ...]) -> dict[str, Mount]:
    """Mount points at ("") or below `root`, by their path relative to it, with slashes."""
    real = Path(os.path.realpath(root))
    inside = (m for m in table if m.point == real or real in m.point.parents)
    return {"" if m.point == real else m.point.relative_to(real).as_posix(): m for m in inside}
