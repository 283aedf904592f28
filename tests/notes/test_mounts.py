"""Mount tables as Linux writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from glassbox_tui.notes import mounts
from glassbox_tui.notes.mounts import mount_of, mounts_within

LINES = r"""/dev/vda / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
nas:/vol /srv/my\040notes nfs4 rw 0 0
me@host: /srv/plain/remote fuse.sshfs rw 0 0
tmpfs /srv/plain tmpfs rw 0 0
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[mounts.Mount, ...]:
    file = tmp_path / "mounts"
    file.write_text(LINES)
    monkeypatch.setattr(mounts, "TABLE", file)
    return mounts.mounts()


@pytest.mark.parametrize(
    ("folder", "kind", "remote"),
    [
        ("/srv/my notes/a", "nfs4", True),
        ("/srv/my notes", "nfs4", True),
        ("/srv/my notes too", "ext4", False),
        ("/srv/plain", "tmpfs", False),
        ("/srv/plain/remote/x", "fuse.sshfs", True),
        ("/home", "ext4", False),
    ],
)
def test_a_folder_lies_on_the_nearest_mount_above_it(
    table: tuple[mounts.Mount, ...], folder: str, kind: str, remote: bool
) -> None:
    mount = mount_of(Path(folder), table)
    assert mount is not None and (mount.type, mount.remote) == (kind, remote)


def test_mounts_below_a_folder_are_named_from_it(table: tuple[mounts.Mount, ...]) -> None:
    assert mounts_within(Path("/srv"), table).keys() == {"my notes", "plain", "plain/remote"}
    assert mounts_within(Path("/srv/plain"), table).keys() == {"", "remote"}
    assert not mounts_within(Path("/home"), table)


def test_without_a_table_nothing_is_known_to_be_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "TABLE", tmp_path / "none")
    assert mounts.mounts() == ()
    assert mount_of(tmp_path, ()) is None
