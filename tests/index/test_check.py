"""`doctor`: each kind of damage is found by the check named for it, and mended to what a cold build gives (I1)."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from test_updates import cold, engine_on, picture

from glassbox_tui.commands import doctor
from glassbox_tui.index.check import CURES, Finding, check_index
from glassbox_tui.index.location import index_path
from glassbox_tui.index.lock import HOLDER, lock_of, writer_of, writing
from glassbox_tui.index.rows import checksum, chunk_columns
from glassbox_tui.index.schema import StoreError
from glassbox_tui.index.sharing import CHUNK_COLUMNS, read_chunk_row, unshare
from glassbox_tui.settings import Settings

Sql = Callable[[sqlite3.Connection], object]


@pytest.fixture
def built(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A folder of notes, a data folder, and the finished index in it."""
    notes, data = tmp_path / "notes", tmp_path / "data"
    (notes / "sub").mkdir(parents=True)
    for i in range(6):
        text = f"# Note {i}\n\n" + f"Sentence about thing{i} and number {i * 7}. 融合排名，不看分数。" * 3
        (notes / ("sub" if i % 2 else ".") / f"{i}.md").write_text(text, encoding="utf-8")
    with engine_on(notes, data) as engine:
        engine.update()
        file = engine.index_file
    assert file is not None
    return notes, data, file


def options(data: Path) -> Settings:
    return Settings(data=str(data), embed_model="hashing", chunk_chars=60, chunk_overlap=20)


def fallen(findings: tuple[Finding, ...]) -> set[str]:
    return {finding.name for finding in findings if not finding.ok}


def look(notes: Path, data: Path) -> tuple[Finding, ...]:
    settings = options(data)
    return check_index(index_path(settings, notes), notes, settings)


def as_written(db: sqlite3.Connection, path: str, **changes: int) -> None:
    """Change columns of the note's first chunk together with every checksum, as a wrong program would have."""
    id = db.execute(
        "SELECT min(c.id) FROM chunks c JOIN notes n ON n.id = c.note_id WHERE n.path = ?", (path,)
    ).fetchone()[0]
    for column, value in changes.items():
        db.execute(f'UPDATE chunks SET "{column}" = "{column}" + ? WHERE id = ?', (value, id))
    before, title, shared, *row = db.execute(
        f"SELECT c.checksum, n.title, n.shared, {CHUNK_COLUMNS} FROM chunks c JOIN notes n ON n.id = c.note_id"
        " WHERE c.id = ?",
        (id,),
    ).fetchone()
    chunk = read_chunk_row(path, title, unshare(shared), row)
    now = checksum(chunk_columns(chunk, chunk.key, chunk.content, row[-2]))
    db.execute("UPDATE chunks SET checksum = ? WHERE id = ?", (now, id))
    db.execute("UPDATE account SET amount = amount + ? WHERE name = 'checksum'", (now - before,))


def without_triggers(db: sqlite3.Connection, statement: str) -> None:
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute(statement)


def stray_vector(db: sqlite3.Connection) -> None:
    model, blob = db.execute("SELECT model, vector FROM vectors LIMIT 1").fetchone()
    db.execute("INSERT INTO vectors VALUES (?, 'nowhere', ?, ?)", (model, checksum((model, "nowhere", blob)), blob))


CHUNK = "(SELECT min(id) FROM chunks)"
DAMAGE: dict[str, tuple[Sql, set[str]]] = {
    "a vector is longer than 1": (
        lambda db: db.execute("UPDATE vectors SET vector = ?", (np.full(512, 0.5, "<f4").tobytes(),)),
        {"vectors"},
    ),
    "a vector is no number": (
        lambda db: db.execute("UPDATE vectors SET vector = ?", (np.full(512, np.nan, "<f4").tobytes(),)),
        {"vectors"},
    ),
    "a vector has another dimension": (
        lambda db: db.execute(
            "UPDATE vectors SET vector = ? WHERE key = (SELECT min(key) FROM vectors)", (np.float32([1]).tobytes(),)
        ),
        {"vectors"},
    ),
    "a vector is lost": (
        lambda db: db.execute("DELETE FROM vectors WHERE key = (SELECT min(key) FROM vectors)"),
        {"coverage"},
    ),
    "token codes are cut short": (
        lambda db: db.execute(
            "INSERT INTO token_codes VALUES ('hashing-512', (SELECT min(key) FROM vectors), 0, 0, x'010203')"
        ),
        {"token codes"},
    ),
    "a vector is of no chunk": (
        lambda db: stray_vector(db),
        {"orphans"},
    ),
    "a text is another": (
        lambda db: db.execute(f"UPDATE chunks SET text = upper(text) WHERE id = {CHUNK}"),
        {"chunks", "spans"},
    ),
    "a span is off by one": (lambda db: as_written(db, "0.md", start=1, end=1), {"spans"}),
    "a span is too long": (lambda db: as_written(db, "0.md", end=1), {"chunks", "spans"}),
    "a chunk is out of order": (lambda db: as_written(db, "0.md", ordinal=1000), {"chunks"}),
    "a note's postings are empty": (
        lambda db: db.execute("UPDATE notes SET terms = x'' WHERE path = '0.md'"),
        {"postings"},
    ),
    "a term is gone": (
        lambda db: db.execute("DELETE FROM terms WHERE term = 'thing3'"),
        {"postings"},
    ),
    "a note is gone without its chunks": (
        lambda db: db.execute("DELETE FROM notes WHERE path = '0.md'"),
        {"foreign keys"},
    ),
    "a row is gone that was accounted for": (
        lambda db: without_triggers(db, f"DELETE FROM chunks WHERE id = {CHUNK}"),
        {"account"},
    ),
    "a checksum is another": (
        lambda db: db.execute(f"UPDATE chunks SET checksum = checksum + 1 WHERE id = {CHUNK}"),
        {"account"},
    ),
    "a table is gone": (lambda db: db.execute("DROP TABLE vectors"), {"account"}),
    "the schema is another": (lambda db: db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'"), {"schema"}),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named_and_mended_to_a_cold_build(built: tuple[Path, Path, Path], kind: str) -> None:
    notes, data, file = built
    damage, names = DAMAGE[kind]
    with closing(sqlite3.connect(file)) as db:
        damage(db)
        db.commit()
    found = doctor.diagnose(notes, options(data), lambda _: None)
    assert names <= fallen(found.found)
    assert all(finding.cure in CURES for finding in found.found if not finding.ok)
    mended = doctor.repair(notes, options(data), lambda _: None, found)
    assert mended.left is not None and fallen(mended.left) == set()
    with engine_on(notes, data) as engine:
        assert engine.update().parsed == 0
        assert picture(engine) == cold(notes)


def test_a_sound_index_is_sound_and_looking_changes_nothing(built: tuple[Path, Path, Path]) -> None:
    notes, data, file = built
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    found = look(notes, data)
    assert fallen(found) == set()
    names = {finding.name for finding in found}
    assert {"permissions", "writer", "disk space", "database", "schema", "foreign keys", "account", "chunks"} <= names
    assert {"postings", "vectors", "coverage", "token codes", "orphans", "notes", "spans"} <= names
    assert {
        path: path.read_bytes() for path in file.parent.iterdir() if path.name in {p.name for p in before}
    } == before


@pytest.mark.parametrize("garbage", [b"no database" * 500, b""], ids=["garbage", "empty"])
def test_what_is_no_database_is_rebuilt(built: tuple[Path, Path, Path], garbage: bytes) -> None:
    notes, data, file = built
    file.write_bytes(garbage)
    found = doctor.diagnose(notes, options(data), lambda _: None)
    assert not found.healthy
    assert doctor.repair(notes, options(data), lambda _: None, found).healthy


def test_a_folder_that_went_on_is_named_and_caught_up_with(built: tuple[Path, Path, Path]) -> None:
    notes, data, _ = built
    (notes / "new.md").write_text("new")
    (notes / "0.md").write_text("changed")
    (notes / "2.md").unlink()
    found = look(notes, data)
    [behind] = [finding for finding in found if not finding.ok]
    assert (behind.name, behind.cure) == ("notes", "recheck")
    assert all(word in behind.detail for word in ("1 new (such as new.md)", "1 changed", "1 gone"))
    assert doctor.repair(notes, options(data), lambda _: None, doctor.Diagnosis(str(_), found)).healthy


def test_a_folder_that_cannot_be_reached_costs_the_index_nothing(built: tuple[Path, Path, Path]) -> None:
    notes, data, file = built
    notes.rename(notes.with_name("elsewhere"))
    found = check_index(file, notes, options(data))
    assert fallen(found) == {"notes"} and "the index is kept" in str(found)


def test_others_eyes_are_shut_out(built: tuple[Path, Path, Path]) -> None:
    notes, data, file = built
    file.parent.chmod(0o755)
    found = doctor.diagnose(notes, options(data), lambda _: None)
    assert fallen(found.found) == {"permissions"}
    assert doctor.repair(notes, options(data), lambda _: None, found).healthy
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_who_writes_is_said_and_nothing_is_repaired_meanwhile(built: tuple[Path, Path, Path]) -> None:
    """I3: the lock goes with its holder; what the holder left behind is told and cleared."""
    notes, data, file = built
    with closing(sqlite3.connect(file)) as db:
        stray_vector(db)
        db.commit()
    code = (
        "import sys, time; from pathlib import Path; from glassbox_tui.index.lock import lock_of, writing\n"
        "with writing(lock_of(Path(sys.argv[1]))): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        holder, held = writer_of(file)
        assert holder is not None and held and (holder.pid, holder.host) == (other.pid, socket.gethostname())
        found = look(notes, data)
        assert any(f.name == "writer" and f.ok and str(other.pid) in f.detail for f in found)
        assert fallen(found) == set()  # what is half done is not wrong while it is being done
        bad = Finding("orphans", False, "", "drop")
        with pytest.raises(StoreError, match=r"another process is writing"):
            doctor.repair(notes, options(data), lambda _: None, doctor.Diagnosis(str(file), (bad,)))
        other.kill()
    assert writer_of(file) == (holder, False)
    found = look(notes, data)
    assert fallen(found) == {"writer", "orphans"}
    assert doctor.repair(notes, options(data), lambda _: None, doctor.Diagnosis(str(file), found)).healthy
    assert writer_of(file) == (None, False)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "[]", '{"pid": 1}', "\udcff".encode("utf-8", "surrogatepass")])
def test_a_note_of_the_writer_that_is_none_names_nobody(built: tuple[Path, Path, Path], text: str | bytes) -> None:
    _, _, file = built
    file.with_name(HOLDER).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert writer_of(file) == (None, False)


def test_the_lock_of_one_process_is_let_go_with_its_name(built: tuple[Path, Path, Path]) -> None:
    _, _, file = built
    with writing(lock_of(file)):
        assert json.loads(file.with_name(HOLDER).read_text())["pid"] == os.getpid()
    assert writer_of(file) == (None, False)


def test_an_index_that_is_short_of_its_account_is_set_aside_at_the_start_and_its_vectors_are_kept(
    built: tuple[Path, Path, Path],
) -> None:
    """I1: counts and checksums are compared whenever an index is opened."""
    notes, data, file = built
    for damage in (
        f"DELETE FROM chunks WHERE id = {CHUNK}",
        f"UPDATE chunks SET checksum = 1 WHERE id = {CHUNK}",
        "DELETE FROM notes WHERE path = '0.md'",
    ):
        with closing(sqlite3.connect(file)) as db:
            without_triggers(db, damage)
            db.commit()
        with engine_on(notes, data) as engine:
            assert any("damaged" in notice and "of its vectors" in notice for notice in engine.notices)
            report = engine.update()
            assert (report.added, report.embedded) == (6, 0)
        assert len({path.name.partition("set-aside-")[2][:15] for path in file.parent.glob("*.set-aside-*")}) == 1
        with engine_on(notes, data) as engine:
            assert picture(engine) == cold(notes)
