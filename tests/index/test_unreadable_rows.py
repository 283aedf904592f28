"""Rows that SQLite finds whole and nobody can read: opening the index builds it anew from the notes, and says so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from test_updates import cold, engine_on, picture

from glassbox_tui.index.token_codes import read_codes
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings

NO_UTF8 = "cast(x'ff41' as text)"
DAMAGES = {
    "a title": f"UPDATE notes SET title = {NO_UTF8} WHERE id = 1",
    "a path": f"UPDATE notes SET path = {NO_UTF8} WHERE id = 1",
    "a text": f"UPDATE chunks SET text = {NO_UTF8} WHERE id = 1",
    "a term": f"UPDATE terms SET term = {NO_UTF8} WHERE id = 1",
    "warnings that are no JSON": "UPDATE notes SET warnings = '[' WHERE id = 1",
    "warnings that are no list": "UPDATE notes SET warnings = '7' WHERE id = 1",
    "terms cut short": "UPDATE chunks SET terms = substr(terms, 1, 3)",
    "terms that are text": "UPDATE chunks SET terms = 'kettle'",
    "what chunks share": "UPDATE notes SET shared = '{'",
    "a heading of no number": "UPDATE chunks SET heading = 4711",
    "another column": "ALTER TABLE notes RENAME COLUMN title TO caption",
    "another table": "ALTER TABLE terms RENAME TO words",
}


@pytest.mark.parametrize("sql", DAMAGES.values(), ids=DAMAGES)
def test_an_index_with_rows_that_cannot_be_read_is_built_anew_and_that_is_said(tmp_path: Path, sql: str) -> None:
    notes, data = tmp_path / "notes", tmp_path / "data"
    notes.mkdir()
    for i in range(4):
        (notes / f"{i}.md").write_text(f"# Note {i}\n\n## Part\n\nThe kettle number {i} boils. " * 3, "utf-8")
    with engine_on(notes, data) as engine:
        engine.update()
        file = engine.index_file
    assert file is not None
    with closing(sqlite3.connect(file)) as db, db:
        db.execute(sql)
    with engine_on(notes, data) as engine:
        engine.update()
        told = [notice for notice in engine.search("kettle").notices if "damaged" in notice]
        assert len(told) == 1 and "built anew" in told[0]
    with engine_on(notes, data) as engine:  # the next start finds nothing wrong
        assert engine.update().parsed == 0 and picture(engine) == cold(notes)


def test_codes_cut_short_are_no_codes_and_the_others_stay(tmp_path: Path, e5: E5Embedder) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for i in range(3):
        (notes / f"{i}.md").write_text(f"The kettle number {i} boils.", "utf-8")
    with Engine.open(notes, Settings(data=str(tmp_path / "data")), embedder=e5) as engine:
        engine.update()
        keys = [chunk.key for chunk in engine.snapshot.chunks]
        whole, _, _ = read_codes(engine.store, e5.name, e5.dimension, keys[1:])
        assert engine.index_file is not None
        with closing(sqlite3.connect(engine.index_file)) as db, db:
            db.execute("UPDATE token_codes SET codes = substr(codes, 1, 5) WHERE key = ?", (keys[0],))
        codes, offsets, present = read_codes(engine.store, e5.name, e5.dimension, keys)
        assert present == [False, True, True] and offsets[1] == 0
        np.testing.assert_array_equal(codes, whole)
        assert any("no token codes" in notice for notice in engine.search("kettle").notices)
