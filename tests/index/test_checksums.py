"""Nothing that was altered in the index changes a ranking without a word, and all of it is made anew from the notes."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from glassbox_tui.commands import doctor
from glassbox_tui.errors import GlassboxError
from glassbox_tui.index.check import check_index
from glassbox_tui.index.schema import StoreError
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings

QUESTION = "which kettle boils at 96 degrees 水壶"
NOTES = {
    "kettle.md": "# Kettle\n\nThe kettle boils at 96 degrees.\n\n## Filter\n\nIts filter is changed in May.",
    "pan.md": "# Pan\n\nThe pan is of iron, and 24 cm wide.",
    "壶.md": "# 水壶\n\n水壶在九十六度烧开，每年五月换滤芯。",
    "bread.md": "# Bread\n\nFifty minutes at 230 degrees, then rest.",
}
Found = list[tuple[str, str, dict[str, float | None]]]


def found(trace: Trace) -> Found:
    return [
        (hit.uid, hit.text, {name: None if place is None else place.score for name, place in hit.stages.items()})
        for hit in trace.hits
    ]


def ask(engine: Engine) -> Trace:
    return engine.search(QUESTION, max_rewrites=0)


class Place:
    """An index of NOTES with the bundled model, and what it finds when it is sound."""

    def __init__(self, folder: Path, e5: E5Embedder) -> None:
        self.e5, self.notes, self.data = e5, folder / "notes", folder / "data"
        self.notes.mkdir()
        for path, text in NOTES.items():
            (self.notes / path).write_text(text, "utf-8")
        with self.open() as engine:
            engine.update()
            self.right = found(ask(engine))
            assert engine.index_file is not None
            self.file = engine.index_file
        with closing(sqlite3.connect(self.file)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.bytes = self.file.read_bytes()

    @property
    def settings(self) -> Settings:
        return Settings(data=str(self.data))

    def open(self) -> Engine:
        return Engine.open(self.notes, self.settings, embedder=self.e5)

    def as_it_was(self) -> None:
        for other in self.file.parent.glob("*"):
            other.unlink()
        self.file.write_bytes(self.bytes)

    def cold(self, folder: Path) -> Found:
        with Engine.open(self.notes, Settings(data=str(folder)), embedder=self.e5) as engine:
            engine.update()
            return found(ask(engine))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, e5: E5Embedder) -> Place:
    return Place(tmp_path_factory.mktemp("sums"), e5)


ALTERED = {
    "vectors": "UPDATE vectors SET vector = (SELECT vector FROM vectors ORDER BY key DESC LIMIT 1)",
    "token codes": "UPDATE token_codes SET codes = zeroblob(length(codes))",
    "tokens cut off": "UPDATE token_codes SET truncated = truncated + 1",
    "a chunk's text": "UPDATE chunks SET text = replace(text, 'kettle', 'cattle')",
    "a chunk's terms": "UPDATE chunks SET terms = (SELECT terms FROM chunks ORDER BY id DESC LIMIT 1)",
    "a note's title": "UPDATE notes SET title = 'Trap'",
    "what chunks share": "UPDATE notes SET shared = replace(shared, 'Kettle', 'Cattle')",
    "a word": "UPDATE terms SET term = 'boiler' WHERE term = 'boil'",
}


@pytest.mark.parametrize("sql", ALTERED.values(), ids=ALTERED)
def test_what_is_altered_is_said_at_the_first_search_and_mended_by_the_next_update(place: Place, sql: str) -> None:
    place.as_it_was()
    with closing(sqlite3.connect(place.file)) as db, db:
        assert db.execute(sql).rowcount > 0
    with place.open() as engine:
        trace = ask(engine)
        assert any("damaged" in notice or "not what was written" in notice for notice in trace.notices)
        engine.update()
        assert found(ask(engine)) == place.right
    with place.open() as engine:
        assert engine.update().embedded == 0
        again = ask(engine)
        assert found(again) == place.right
        assert not any("not what was written" in notice for notice in again.notices)


@pytest.mark.parametrize("sql", [*ALTERED.values(), "UPDATE notes SET warnings = '['"], ids=[*ALTERED, "warnings"])
def test_doctor_sees_it_and_its_repair_mends_it(place: Place, sql: str) -> None:
    place.as_it_was()
    with closing(sqlite3.connect(place.file)) as db, db:
        db.execute(sql)
    wrong = [f for f in check_index(place.file, place.notes, place.settings) if not f.ok]
    assert wrong and all(f.cure for f in wrong)
    doctor.repair(place.notes, place.settings, lambda _: None, doctor.Diagnosis(str(place.file), tuple(wrong)))
    with place.open() as engine:
        engine.update()
        assert found(ask(engine)) == place.right
    assert all(f.ok for f in check_index(place.file, place.notes, place.settings))


def test_the_right_ranking_is_that_of_a_cold_build(place: Place, tmp_path: Path) -> None:
    assert place.right == place.cold(tmp_path)
    assert len(place.right) >= 4


def damaged(place: Place, number: int, size: int) -> str:
    """Overwrite `size` bytes somewhere in the file and look at what becomes of it; "" if all is as it should be."""
    place.as_it_was()
    rng = random.Random(number * 100 + size)
    at = rng.randrange(len(place.bytes) - size)
    junk = bytes(rng.randrange(256) for _ in range(size))
    place.file.write_bytes(place.bytes[:at] + junk + place.bytes[at + size :])
    said = f"{size} bytes at {at}"
    try:
        with place.open() as engine:
            trace = ask(engine) if engine.snapshot.chunks else None
            told = trace is None or any("damaged" in n or "not what was written" in n for n in trace.notices)
            if trace is not None and found(trace) != place.right and not told:
                return f"{said}: another ranking, and not a word"
            engine.update()
            if found(ask(engine)) == place.right:
                return ""
    except StoreError as error:
        if str(place.file) not in str(error):
            return f"{said}: {error}"
    try:
        wrong = tuple(f for f in check_index(place.file, place.notes, place.settings) if not f.ok)
        doctor.repair(place.notes, place.settings, lambda _: None, doctor.Diagnosis(str(place.file), wrong))
        with place.open() as engine:
            engine.update()
            return "" if found(ask(engine)) == place.right else f"{said}: wrong after the repair ({wrong})"
    except GlassboxError as error:
        return f"{said}: after the repair, {error}"


@pytest.mark.parametrize("size", [1, 20])
def test_bytes_written_over_the_file(place: Place, size: int) -> None:
    assert [fault for number in range(8) if (fault := damaged(place, number, size))] == []


@pytest.mark.full
@pytest.mark.parametrize(("size", "times"), [(1, 100), (20, 50)])
def test_bytes_written_over_the_file_many_times(place: Place, size: int, times: int) -> None:
    assert [fault for number in range(times) if (fault := damaged(place, number, size))] == []


def test_codes_beyond_the_sample_are_checked_by_the_search_that_reads_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.as_it_was()
    monkeypatch.setattr("glassbox_tui.index.keeper.LOOKED_AT", 0)
    with closing(sqlite3.connect(place.file)) as db, db:
        db.execute("UPDATE token_codes SET codes = zeroblob(length(codes))")
    with place.open() as engine:
        assert not any("not what was written" in notice for notice in engine.notices)
        trace = ask(engine)
        assert any("not what was written" in notice for notice in trace.notices)
        assert trace.last.stage("rerank") is None or not np.any(
            [hit.stages["rerank"] is not None for hit in trace.hits]
        )
        engine.update()
        assert found(ask(engine)) == place.right
