"""A disk that is not mounted takes no note out of the index, wherever it was mounted; what waits for it is marked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from glassbox_tui.commands.status import status
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.notes import mounts
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
NOTES = {"kettle.md": "The kettle boils at 96 degrees.", "work/plan.md": "The plan is to rest."}


def write(folder: Path) -> None:
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def opened(notes: Path, data: Path) -> Engine:
    return Engine.open(notes, Settings(data=str(data)), embedder=HashingEmbedder())


def mounted(monkeypatch: pytest.MonkeyPatch, *points: Path) -> None:
    real = {str(point) for point in (Path("/"), *points)}
    monkeypatch.setattr(os.path, "ismount", lambda path: str(path) in real)


@pytest.mark.parametrize("way", ["unmounted", "covered"])
def test_an_empty_folder_where_a_disk_was_keeps_its_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    disk, data = tmp_path / "usb", tmp_path / "data"
    notes = disk / "notes"
    write(notes)
    mounted(monkeypatch, disk)
    with opened(notes, data) as engine:
        assert engine.update().added == 2
    shutil.rmtree(notes)
    notes.mkdir()
    mounted(monkeypatch, *([] if way == "unmounted" else [disk, notes]))
    for _ in range(2):  # and once more: what was kept is remembered
        with opened(notes, data) as engine:
            report = engine.update()
            assert (report.removed, [k.notes for k in report.kept]) == (0, [2])
            trace = engine.search("kettle")
            assert trace.hits[0].path == "kettle.md"
            assert any("cannot be reached" in notice and "2 are kept" in notice for notice in trace.notices)
    write(notes)  # the disk is back
    mounted(monkeypatch, disk)
    with opened(notes, data) as engine:
        report = engine.update()
        assert (report.unchanged + report.changed, report.removed, report.kept) == (2, 0, ())
        assert not any("cannot be reached" in notice for notice in engine.search("kettle").notices)
    for path in NOTES:
        (notes / path).unlink()
    with opened(notes, data) as engine:  # emptied by a person: no mount has changed
        assert engine.update().removed == 2


def test_what_is_written_into_the_empty_folder_meanwhile_is_read_and_takes_nothing_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, data = tmp_path / "usb", tmp_path / "data"
    notes = disk / "notes"
    write(notes)
    mounted(monkeypatch, disk)
    with opened(notes, data) as engine:
        engine.update()
    shutil.rmtree(notes)
    notes.mkdir()
    (notes / "stray.md").write_text("A stray marmot.", "utf-8")
    mounted(monkeypatch)
    for _ in range(2):
        with opened(notes, data) as engine:
            report = engine.update()
            assert (report.removed, [k.notes for k in report.kept]) == (0, [2])
            assert engine.search("marmot").hits[0].path == "stray.md"
            assert engine.search("kettle").hits[0].path == "kettle.md"


def test_another_place_with_notes_is_no_lost_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, data = tmp_path / "usb", tmp_path / "data"
    notes = disk / "notes"
    write(notes)
    mounted(monkeypatch, disk)
    with opened(notes, data) as engine:
        engine.update()
    (notes / "kettle.md").unlink()
    mounted(monkeypatch)  # what was on the disk lies in the folder now, but for one note
    with opened(notes, data) as engine:
        report = engine.update()
        assert (report.removed, report.kept) == (1, ())


@pytest.mark.parametrize("where", ["", "disk"])
def test_status_marks_what_cannot_be_reached_without_an_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    notes, data = tmp_path / "notes", tmp_path / "data"
    lost = notes / where
    write(lost)
    table = tmp_path / "mounts"
    monkeypatch.setattr(mounts, "TABLE", table)
    table.write_text(f"/dev/x / ext4 rw 0 0\n/dev/y {lost} ext4 rw 0 0\n")
    mounted(monkeypatch, lost)
    settings = Settings(data=str(data), embed_model="hashing")
    with opened(notes, data) as engine:
        engine.update()
    assert not [w for w in status(notes, settings).warnings if "cannot be reached" in w.warning]
    shutil.rmtree(lost)
    lost.mkdir()
    table.write_text("/dev/x / ext4 rw 0 0\n")
    mounted(monkeypatch)
    found = status(notes, settings)
    marked = {w.path for w in found.warnings if "cannot be reached (nothing is mounted there any more)" in w.warning}
    assert marked == {str(Path(where, path)) for path in NOTES}
    assert any("2 are kept as last read" in notice for notice in found.notices)


PROGRAM = """
import shutil, subprocess, sys
from pathlib import Path
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings
place = Path(sys.argv[1]); disk = place / "disk"; notes = disk / "notes"
def update():
    with Engine.open(notes, Settings(data=str(place / "data")), embedder=HashingEmbedder()) as engine:
        report = engine.update()
        return report.added, report.removed, sum(k.notes for k in report.kept), engine.search("kettle").hits[0].path
disk.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(disk)], check=True)
notes.mkdir(); (notes / "kettle.md").write_text("The kettle boils.")
print(update())
subprocess.run(["umount", str(disk)], check=True)
notes.mkdir()
print(update())
"""


def test_a_real_disk_that_is_unmounted(tmp_path: Path) -> None:
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "mount", "-t", "tmpfs", "x", "/mnt"]).returncode:
        pytest.skip("not run: this system lets nobody mount anything; the tests above stand in")
    ran = subprocess.run(
        [*alone, sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == ["(1, 0, 0, 'kettle.md')", "(0, 0, 1, 'kettle.md')"]
