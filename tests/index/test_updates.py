"""Whatever happened on the way, the index ends as a cold build of the same folder would be."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.sparse import SparseIndex
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.trace_json import to_json
from glassbox_tui.settings import Settings

QUERIES = ("alpha beta", "重启 nginx", "融合排名", "gamma 7", "的了吗")
PIECES = ("alpha beta gamma.", "重启nginx后502。", "RRF 融合排名，不看分数。", "# heading", "delta 7 epsilon.", "\n\n")


def engine_on(notes: Path, data: Path) -> Engine:
    return Engine.open(notes, Settings(data=str(data), chunk_chars=60, chunk_overlap=20), embedder=HashingEmbedder())


def picture(engine: Engine) -> dict[str, Any]:
    """Everything an index holds that a search could see, by names and not by numbers that depend on history."""
    snapshot = engine.snapshot
    paths = list(dict.fromkeys(chunk.path for chunk in snapshot.chunks))
    vectors = {
        c.uid: None if (v := snapshot.dense.vector(i)) is None else v.tobytes() for i, c in enumerate(snapshot.chunks)
    }
    return {
        "notes": [(n.path, n.digest, n.title, n.status, n.chunker) for n in snapshot.notes],
        "chunks": snapshot.chunks,
        "postings": postings(snapshot.sparse, [chunk.uid for chunk in snapshot.chunks]),
        "note postings": postings(snapshot.passages.notes, paths),
        "vectors": vectors,
        "rankings": [
            to_json(engine.search(q, mode=mode), timings=False) for q in QUERIES for mode in ("hybrid", "bm25")
        ],
    }


def postings(sparse: SparseIndex, names: list[str]) -> dict[str, list[tuple[str, float]]]:
    return {
        term: [(names[row], tf) for row, tf in zip(sparse.rows[where], sparse.tfs[where], strict=True)]
        for term in sparse.vocabulary
        if (where := sparse.postings(term)).stop > where.start
    }


def warm() -> None:
    """Import and read what every engine needs, so that a fork of this process need not."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.md").write_text("warm 预热", encoding="utf-8")
        with engine_on(Path(folder), Path(folder, "data")) as engine:
            engine.update()


def cold(notes: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as data, engine_on(notes, Path(data)) as engine:
        engine.update()
        return picture(engine)


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "append", "delete", "move", "touch"]),
        st.sampled_from(["a.md", "b.md", "sub/c.txt", "sub/d.md", "é 空.md"]),
        st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join),
    ),
    min_size=1,
    max_size=8,
)


@given(EDITS, st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_incremental_index_equals_cold_rebuild(edits: list[tuple[str, str, str]], every: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        notes, data = Path(folder, "notes"), Path(folder, "data")
        notes.mkdir()
        with engine_on(notes, data) as engine:
            for i, edit in enumerate(edits):
                apply(notes, *edit)
                if i % every == 0:
                    engine.update()
            engine.update()
            assert picture(engine) == cold(notes)
            assert engine.update().parsed == 0


def apply(notes: Path, what: str, name: str, text: str) -> None:
    path = notes / name
    path.parent.mkdir(exist_ok=True)
    if what == "write" or (what == "append" and not path.exists()):
        path.write_text(text, encoding="utf-8")
    elif what == "append":
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    elif path.exists():
        {"delete": path.unlink, "move": lambda: path.rename(notes / "moved.md"), "touch": path.touch}[what]()


def test_only_what_changed_is_read_and_embedded(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for i in range(5):
        (notes / f"{i}.md").write_text(f"note number {i}. " * 3)
    with engine_on(notes, tmp_path / "data") as engine:
        assert engine.update().added == 5
        (notes / "2.md").write_text("something else")
        os.utime(notes / "3.md")
        report = engine.update()
    assert (report.parsed, report.changed, report.embedded, report.unchanged) == (1, 1, 1, 4)


def test_searches_are_told_of_a_change_and_of_nothing_else(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("alpha")
    told: list[bool] = []
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update(changed=lambda: told.append(True))
        assert told
        before, told = engine.snapshot, []
        engine.update(changed=lambda: told.append(True))
        assert not told and engine.snapshot is before
        (notes / "a.md").write_text("alpha beta")
        engine.update(changed=lambda: told.append(True))
        assert told and engine.search("beta").hits


def test_what_another_process_indexed_is_seen_by_the_next_update(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("alpha")
    with engine_on(notes, tmp_path / "data") as mine, engine_on(notes, tmp_path / "data") as theirs:
        mine.update()
        (notes / "b.md").write_text("beta")
        theirs.update()
        assert mine.update().parsed == 0
        assert [h.path for h in mine.search("beta", mode="bm25").hits] == ["b.md"]


def test_moved_note_keeps_its_vectors(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("a thought. " * 30)
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        (notes / "a.txt").rename(notes / "b.txt")
        report = engine.update()
    assert (report.added, report.removed) == (1, 1)


def test_another_embedder_shares_the_index_and_no_vector(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("alpha beta")

    class Other(HashingEmbedder):
        name = "other"

    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
    with Engine.open(notes, Settings(data=str(tmp_path / "data")), embedder=Other()) as engine:
        assert engine.info().dense_coverage == 0
        assert engine.search("alpha", max_rewrites=0).hits  # keyword search serves meanwhile
        assert engine.update().embedded == 1
        assert engine.info().dense_coverage == 1
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        assert engine.update().embedded == 0


def test_second_writer_reads_along(tmp_path: Path) -> None:
    """I3: within one process too."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("alpha beta")
    with engine_on(notes, tmp_path / "data") as first, engine_on(notes, tmp_path / "data") as second:
        reports = []
        first.update(changed=lambda: reports.append(second.update()))
        assert reports and all(report.locked for report in reports)
        assert [h.path for h in second.search("alpha").hits] == ["a.md"]
        assert not second.update().locked


def test_index_of_another_version_is_set_aside_and_built_anew(tmp_path: Path) -> None:
    """I2: another version of the program never blocks a start."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("alpha beta")
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        file = engine.index_file
        engine.store.set_meta("schema", "0")
    with engine_on(notes, tmp_path / "data") as engine:
        assert any("schema 0" in notice and "set aside" in notice for notice in engine.notices)
        assert engine.update().added == 1
        assert [h.path for h in engine.search("alpha").hits] == ["a.md"]
    assert file is not None and list(file.parent.glob("*.set-aside-*"))
