"""A note that cannot be read keeps what the index has of it, says so, and is tried again at every update."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import pytest

from glassbox_tui.index.check import check_index
from glassbox_tui.index.indexer import UpdateReport
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.notes import load
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
LONG_AGO = 1_700_000_000  # seconds; an update goes by size and time for what has not changed since

FAULTS: dict[str, OSError] = {
    "rights": PermissionError(errno.EACCES, "Permission denied"),
    "disk": OSError(errno.EIO, "Input/output error"),
    "gone while it was looked at": FileNotFoundError(errno.ENOENT, "No such file or directory"),
}


class Reader(BufferedReader):
    """A file that opens, and then fails."""

    error: OSError
    under: BufferedReader

    def read(self, *_: Any) -> bytes:
        raise self.error

    readinto = readinto1 = read  # type: ignore[assignment]


Lock = Callable[[str, OSError | None], None]


@pytest.fixture(params=["open", "read"])
def lock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lock]:
    """lock(name, error): the file fails that way from now on (None: no more). Root, who tests, may read everything."""
    locked: dict[str, OSError] = {}
    plain = load._open_regular

    def opened(path: Path) -> BufferedReader:
        file = plain(path)
        if (error := locked.get(path.name)) is None:
            return file
        if request.param == "open":
            file.close()
            raise error
        failing = Reader(file.raw)
        failing.error, failing.under = error, file  # `file` would close what is under both
        return failing

    monkeypatch.setattr(load, "_open_regular", opened)
    yield lambda name, error: locked.pop(name, None) if error is None else locked.update({name: error})  # type: ignore


class Notes:
    """A folder of two notes, and an index of it that every call opens anew, as another process would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "notes"
        self.folder.mkdir()
        self.settings = Settings(data=str(folder / "data"))
        self.write("ferry.md", "# Ferry\n\nThe ferry leaves at noon.\n")
        self.write("bread.md", "Bread is baked before sunrise.\n")

    def write(self, name: str, text: str, at: int = LONG_AGO) -> None:
        (self.folder / name).write_text(text)
        os.utime(self.folder / name, (at, at))

    def open(self, **settings: Any) -> Engine:
        return Engine.open(self.folder, dataclasses.replace(self.settings, **settings), embedder=HashingEmbedder())

    def update(self, **settings: Any) -> UpdateReport:
        with self.open(**settings) as engine:
            return engine.update()

    def found(self, query: str) -> set[str]:
        with self.open() as engine:
            return {h.path for h in engine.search(query, mode="bm25", max_rewrites=0).rounds[0].hits}

    def warnings(self, name: str) -> tuple[str, ...]:
        with self.open() as engine:
            return next(note.warnings for note in engine.notes() if note.path == name)

    @property
    def doctor(self) -> Any:
        with self.open() as engine:
            file = engine.index_file
        assert file is not None
        return next(one for one in check_index(file, self.folder, self.settings) if one.name == "notes")


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_note_unreadable_at_first_is_indexed_once_it_can_be_read(notes: Notes, lock: Lock, fault: str) -> None:
    lock("ferry.md", FAULTS[fault])
    for _ in range(2):  # nothing of the file changes, and it is tried each time
        report = notes.update()
        assert [path for path, why in report.problems if FAULTS[fault].strerror in why] == ["ferry.md"]
        assert notes.found("ferry") == set()
    assert notes.doctor.ok
    lock("ferry.md", None)
    assert not notes.doctor.ok  # an update would bring something
    report = notes.update()
    assert (report.problems, report.kept, report.changed) == ((), (), 1)
    assert notes.found("ferry") == {"ferry.md"}
    assert notes.update().parsed == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_an_indexed_note_keeps_its_text_while_it_cannot_be_read(notes: Notes, lock: Lock, fault: str) -> None:
    notes.update()
    lock("ferry.md", FAULTS[fault])
    notes.write("ferry.md", "# Ferry\n\nThe ferry leaves at midnight.\n", LONG_AGO + 100)
    for _ in range(2):
        report = notes.update()
        assert (report.problems, report.removed, report.parsed) == ((), 0, 0)
        [kept] = map(str, report.kept)
        assert "'ferry.md'" in kept and FAULTS[fault].strerror in kept and "kept as last read" in kept
        assert notes.found("ferry noon") == {"ferry.md"}
        [warning] = notes.warnings("ferry.md")
        assert FAULTS[fault].strerror in warning and "kept as last read" in warning
        assert notes.doctor.ok and "ferry.md" in notes.doctor.detail
    lock("ferry.md", None)
    assert not notes.doctor.ok
    assert notes.update().changed == 1
    assert (notes.found("midnight"), notes.found("noon"), notes.warnings("ferry.md")) == ({"ferry.md"}, set(), ())


def test_what_had_not_changed_is_not_read_as_new_and_the_mark_goes(notes: Notes, lock: Lock) -> None:
    notes.update()
    lock("ferry.md", FAULTS["rights"])
    os.utime(notes.folder / "ferry.md", (LONG_AGO + 9, LONG_AGO + 9))
    notes.update()
    assert notes.warnings("ferry.md") != ()
    lock("ferry.md", None)
    os.utime(notes.folder / "ferry.md", (LONG_AGO, LONG_AGO))  # as if nothing had been
    report = notes.update()
    assert (report.parsed, report.embedded, report.unchanged) == (0, 0, 2)
    assert notes.warnings("ferry.md") == ()


def test_other_settings_are_made_up_for_when_it_can_be_read_again(notes: Notes, lock: Lock) -> None:
    notes.update()
    lock("ferry.md", FAULTS["rights"])
    report = notes.update(chunk_strategy="fixed")  # every note has to be cut anew, and one cannot
    assert (report.changed, len(report.kept)) == (1, 1)
    assert notes.found("noon") == {"ferry.md"}
    lock("ferry.md", None)
    assert notes.update(chunk_strategy="fixed").changed == 1


def test_many_at_once_are_one_sentence_and_the_search_says_it(notes: Notes, lock: Lock) -> None:
    for i in range(20):
        notes.write(f"{i:02}.md", f"Note {i} on kettles.")
    notes.update()
    for i in range(20):
        lock(f"{i:02}.md", FAULTS["disk"])
        notes.write(f"{i:02}.md", "other", LONG_AGO + 5)
    with notes.open() as engine:
        assert len(engine.update().kept) == 1
        trace = engine.search("kettles")
        [said] = [notice for notice in trace.notices if "cannot be read" in notice]
        assert "'00.md' and 19 more" in said and "kept as last read" in said
        assert len(trace.rounds[0].hits) == engine.settings.top_k


def test_a_note_that_is_gone_is_gone_also_if_it_could_not_be_read_last(notes: Notes, lock: Lock) -> None:
    notes.update()
    lock("ferry.md", FAULTS["rights"])
    os.utime(notes.folder / "ferry.md", (LONG_AGO + 9, LONG_AGO + 9))
    notes.update()
    (notes.folder / "ferry.md").unlink()
    assert notes.update().removed == 1
    assert notes.found("ferry") == set()


def test_real_rights_taken_away_and_given_back(tmp_path: Path) -> None:
    """As the issue has it, with chmod; root, who may read everything, gives that right up first."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ferry.md").write_text("The ferry leaves at noon.")
    plain = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if plain and shutil.which(plain[0]) is None:
        pytest.skip("root may read everything, and there is no setpriv to give that up")
    own = {"GLASSBOX_DATA": str(tmp_path / "data"), "GLASSBOX_DISABLE_DENSE": "1", "GLASSBOX_CONFIG": os.devnull}

    def command(*args: str) -> str:
        done = subprocess.run(
            [*plain, sys.executable, "-m", "glassbox_tui", *args],
            cwd=ROOT,
            env=os.environ | own,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    (notes / "ferry.md").chmod(0)
    assert "Permission denied" in command("index", str(notes))
    (notes / "ferry.md").chmod(0o644)
    assert "Permission denied" not in command("index", str(notes))
    assert "noon" in command("retrieve", "ferry", "--notes", str(notes))
    (notes / "ferry.md").chmod(0)
    os.utime(notes / "ferry.md")
    assert "kept as last read" in " ".join(command("index", str(notes)).split())
    assert "noon" in command("retrieve", "ferry", "--notes", str(notes))
