"""File times that mislead: of a far year, or put back after an edit that keeps the size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from glassbox_tui.commands.doctor import diagnose, repair
from glassbox_tui.index import indexer
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.notes import scan
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings

LONG_AGO = 1_700_000_000


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in {"ferry.md": "The ferry leaves at noon.", "bread.md": "Bread is baked."}.items():
        (folder / name).write_text(text)
        os.utime(folder / name, (LONG_AGO, LONG_AGO))
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=str(tmp_path / "data"), embed_model="hashing")


def updated(notes: Path, settings: Settings) -> tuple[Any, set[str]]:
    with Engine.open(notes, settings, embedder=HashingEmbedder()) as engine:
        report = engine.update()
        return report, {hit.text for hit in engine.search("ferry", mode="bm25").rounds[0].hits}


# 2262 is where 64 bits of nanoseconds end; 2446 and 1901 are what file systems keep.
@pytest.mark.parametrize("seconds", [10_413_792_000, 15_000_000_000, -2_000_000_000, -1, 0, 9_223_372_037])
def test_a_file_of_any_year_is_a_note_like_others(notes: Path, settings: Settings, seconds: int) -> None:
    os.utime(notes / "ferry.md", (seconds, seconds))
    report, found = updated(notes, settings)
    assert (report.added, found) == (2, {"The ferry leaves at noon."})
    assert updated(notes, settings)[0].unchanged == 2
    assert diagnose(notes, settings, lambda _: None).healthy
    (notes / "ferry.md").write_text("The ferry leaves at four.")
    os.utime(notes / "ferry.md", (seconds, seconds))
    assert updated(notes, settings)[1] == {"The ferry leaves at four."}


def test_times_that_no_file_system_here_keeps_are_storable(monkeypatch: pytest.MonkeyPatch) -> None:
    """ZFS and others go further; the test's own disk may not."""
    for time in (2**63, 2**70, -(2**63) - 1, -(2**70)):
        assert -(2**63) <= scan._storable(time) < 2**63


def put_back(notes: Path, text: str) -> None:
    before = (notes / "ferry.md").stat()
    (notes / "ferry.md").write_text(text)
    os.utime(notes / "ferry.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (notes / "ferry.md").stat().st_size == before.st_size


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the next look were an hour later: nothing that happened so far is too new to be trusted."""
    monkeypatch.setattr(indexer, "SETTLED_NS", -3_600_000_000_000)


def test_an_edit_that_keeps_size_and_time_is_read(notes: Path, settings: Settings) -> None:
    updated(notes, settings)
    put_back(notes, "The ferry leaves at four.")
    report, found = updated(notes, settings)
    assert (report.changed, found) == (1, {"The ferry leaves at four."})
    assert updated(notes, settings)[0].parsed == 0


def test_where_no_time_tells_doctor_does_and_its_repair_mends(
    notes: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    updated(notes, settings)
    put_back(notes, "The ferry leaves at four.")
    settle(monkeypatch)
    assert updated(notes, settings)[0].changed == 0  # the update goes by what the file system says
    found = diagnose(notes, settings, lambda _: None)
    [wrong] = [one for one in found.found if not one.ok]
    assert wrong.name == "notes" and "1 changed (such as ferry.md)" in wrong.detail
    monkeypatch.setattr(indexer, "SETTLED_NS", 2_000_000_000)
    assert repair(notes, settings, lambda _: None, found).healthy
    assert updated(notes, settings)[1] == {"The ferry leaves at four."}
