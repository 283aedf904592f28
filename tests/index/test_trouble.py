"""What goes wrong with an index file: a full disk, damage, a place that cannot be written. Never a traceback."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import indexed
from test_updates import engine_on

from glassbox_tui.index.rows import Embedding, NoteRecord, checksum
from glassbox_tui.index.schema import DamagedError, StoreError
from glassbox_tui.index.store import Store, open_store


@pytest.fixture
def built(tmp_path: Path) -> tuple[Path, Path, Path]:
    return indexed(tmp_path, 40)


RECORD = NoteRecord("a.md", "", 0, 0, 0, "md", "", "", "ok", "", (), "")
METHODS: dict[str, tuple[Any, ...]] = {
    "others_wrote": (),
    "is_new": (),
    "meta": ("schema",),
    "set_meta": ("a", "b"),
    "touch_note": (RECORD,),
    "remove_notes": (["a.md"],),
    "put_embeddings": ("m", [Embedding("k", np.ones(1, np.float32), None, 0)]),
    "remove_embeddings": ([("m", "k")],),
    "drop_orphans": (),
    "notes": (),
    "read_all": (),
    "missing_keys": ("m",),
    "index_text": ("k",),
    "vectors": ("m",),
    "coded": ("m",),
    "models": (),
    "some_vector": ("m",),
    "forget_model": ("m",),
    "token_codes": ("m", ["k"]),
    "truncated": ("m",),
    "replace_note": (RECORD, [], {}),
    "take_embeddings": (Path("nowhere"),),
}


def test_every_public_method_is_tried_here() -> None:
    public = {name for name, value in vars(Store).items() if callable(value) and not name.startswith("_")}
    assert public - {"close"} == set(METHODS)


# `others_wrote` reads no table, `take_embeddings` another file.
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"take_embeddings", "others_wrote"}))
def test_whatever_sqlite_raises_is_a_store_error(tmp_path: Path, method: str) -> None:
    """One table less makes each statement fail as a full or broken disk would: through sqlite3.Error."""
    store = Store(tmp_path / "index.sqlite")
    with sqlite3.connect(tmp_path / "index.sqlite") as other:
        for table in ("token_codes", "vectors", "chunks", "notes", "terms", "meta", "account"):
            other.execute(f"DROP TABLE {table}")
    other.close()
    with pytest.raises(StoreError, match=r"index\.sqlite"):
        getattr(store, method)(*METHODS[method])
    store.close()


def test_full_disk_is_one_sentence_and_the_rest_is_kept(built: tuple[Path, Path, Path]) -> None:
    notes, data, _ = built
    with engine_on(notes, data) as engine:
        pages = engine.store._write.execute("PRAGMA page_count").fetchone()[0]
        engine.store._write.execute(f"PRAGMA max_page_count = {pages}")  # as if the disk ended here
        (notes / "new.md").write_text("word " * 40_000)
        with pytest.raises(StoreError, match=r"full.*make room"):
            engine.update()
        assert engine.search("thing7").hits[0].path == "7.md"  # the connection is not left inside a transaction
    with engine_on(notes, data) as engine:
        assert engine.update().added == 1
        assert engine.search("thing7").hits[0].path == "7.md"


def scribble(file: Path, start: int, size: int) -> None:
    with file.open("r+b") as out:
        out.seek(start)
        out.write(b"\xa5" * size)


def drop(file: Path, table: str) -> None:
    with sqlite3.connect(file) as db:
        db.execute(f"DROP TABLE {table}")
    db.close()


DAMAGE = {
    "no meta table": lambda file: drop(file, "meta"),
    "no chunks table": lambda file: drop(file, "chunks"),
    "no account table": lambda file: drop(file, "account"),
    "no database": lambda file: file.write_bytes(b"garbage" * 1000),
    "header": lambda file: scribble(file, 0, 64),
    "first page": lambda file: scribble(file, 100, 3000),
    "middle": lambda file: scribble(file, file.stat().st_size // 2 // 4096 * 4096, 8 * 4096),
    "end": lambda file: scribble(file, file.stat().st_size - 6 * 4096, 6 * 4096),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_index_is_set_aside_and_built_anew(built: tuple[Path, Path, Path], how: str) -> None:
    """I2: no damage blocks a start, and what can be saved is."""
    notes, data, file = built
    DAMAGE[how](file)
    with engine_on(notes, data) as engine:
        assert any("damaged" in notice and "set aside" in notice for notice in engine.notices)
        report = engine.update()
        assert report.added == 40 and engine.snapshot.dense_coverage == 1.0
        assert engine.search("thing7").hits[0].path == "7.md"
    assert list(file.parent.glob("*.set-aside-*"))
    with engine_on(notes, data) as engine:  # once is enough
        assert engine.notices == ()
        assert engine.update().parsed == 0


def test_vectors_that_can_be_read_are_taken_over(built: tuple[Path, Path, Path]) -> None:
    """I2: the schema row says another version; all vectors are sound, so nothing is embedded again."""
    notes, data, file = built
    with sqlite3.connect(file) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    db.close()
    with engine_on(notes, data) as engine:
        assert any("of its vectors" in notice for notice in engine.notices)
        report = engine.update()
        assert report.added == 40 and report.embedded == 0 and engine.snapshot.dense_coverage == 1.0


def test_a_kill_between_setting_aside_and_taking_over_costs_no_vector(built: tuple[Path, Path, Path]) -> None:
    notes, data, file = built
    file.rename(file.with_name(f"{file.name}.set-aside-20260101-000000"))
    with engine_on(notes, data) as engine:
        report = engine.update()
        assert (report.added, report.embedded) == (40, 0) and engine.snapshot.dense_coverage == 1.0


def test_unsound_vectors_and_lost_codes_stay_behind(tmp_path: Path) -> None:
    old = Store(tmp_path / "old.sqlite")
    unit = np.array([0.6, 0.8], np.float32)
    codes = np.zeros((2, 3), np.uint8)
    old.put_embeddings("m", [Embedding("good", unit, codes, 1), Embedding("lost", unit, None, 0)])
    old.put_embeddings("m", [Embedding("long", unit * 2, codes, 0), Embedding("nan", unit * np.nan, codes, 0)])
    old.put_embeddings("m", [Embedding("turned", unit, codes, 0), Embedding("other codes", unit, codes + 1, 0)])
    old.put_embeddings("plain", [Embedding("good", unit, None, 0)])
    with sqlite3.connect(tmp_path / "old.sqlite") as db:
        for key, blob in (("odd", b"\1\2\3"), ("empty", b"")):
            db.execute("INSERT INTO vectors VALUES ('m', ?, ?, ?)", (key, checksum(("m", key, blob)), blob))
        db.execute("UPDATE vectors SET vector = ? WHERE key = 'turned'", ((unit * -1).tobytes(),))
        db.execute("UPDATE token_codes SET codes = zeroblob(6) WHERE key = 'other codes'")
    db.close()
    new = Store(tmp_path / "new.sqlite")
    assert new.take_embeddings(tmp_path / "old.sqlite") == 2
    assert set(new.vectors("m")) == set(new.vectors("plain")) == {"good"}
    assert new.token_codes("m", ["good"]) == {"good": codes.tobytes()} and new.truncated("m") == 1
    assert new.take_embeddings(tmp_path / "none.sqlite") == 0
    old.close(), new.close()


def test_place_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"Not a directory|File exists") as raised:
        open_store(tmp_path / "file" / "index.sqlite")
    assert not isinstance(raised.value, DamagedError) and "Errno" not in str(raised.value)
