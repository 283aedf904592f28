"""Notes that change, vanish, come back and are written by two processes: the index follows, and never guesses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_updates import cold, engine_on, picture

from glassbox_tui import Engine
from glassbox_tui.index import snapshot as snapshots
from glassbox_tui.index.embedding import disk_bytes
from glassbox_tui.index.fingerprint import PROBE
from glassbox_tui.index.gate import Gate
from glassbox_tui.index.snapshot import FEW_NOTES, read_snapshot
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.models.protocols import Matrix
from glassbox_tui.notes import mounts
from glassbox_tui.notes import scan as scanning
from glassbox_tui.notes.scan import NotesError
from glassbox_tui.settings import Settings

LIMIT = 60.0


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    for i in range(6):
        (folder / ("sub" if i % 2 else ".") / f"{i}.md").write_text(f"alpha {i} beta. " * 3)
    return folder


def paths(engine: Engine) -> list[str]:
    return [note.path for note in engine.snapshot.notes]


# -- what is out of reach is not gone --------------------------------------------------------------------------------


def test_a_folder_that_went_away_is_searched_as_it_was_and_is_whole_when_it_comes_back(
    notes: Path, tmp_path: Path
) -> None:
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        before = picture(engine)
        notes.rename(tmp_path / "away")
        with pytest.raises(NotesError):
            engine.update()
        assert paths(engine) == [n[0] for n in before["notes"]] and engine.search("alpha").hits
        assert any("6 notes of the index are kept" in notice for notice in engine.search("alpha").notices)
        (tmp_path / "away").rename(notes)
        report = engine.update()
        assert (report.parsed, report.removed, report.embedded) == (0, 0, 0)
        assert picture(engine) == before


@pytest.mark.parametrize("where", ["", "sub"])
def test_an_empty_mount_point_keeps_its_notes_and_says_so(
    where: str, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = Path(os.path.realpath(notes / where))
    table = tmp_path / "mounts"
    table.write_text(f"/dev/x / ext4 rw 0 0\n/dev/y {point} ext4 rw 0 0\n")
    monkeypatch.setattr(mounts, "TABLE", table)
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        before = paths(engine)
        below = 6 if not where else 3
        held = tmp_path / "held"
        shutil.copytree(point, held)
        shutil.rmtree(point)
        point.mkdir()
        table.write_text("/dev/x / ext4 rw 0 0\n")  # unmounted
        for _ in range(2):
            report = engine.update()
            assert report.removed == 0 and [kept.notes for kept in report.kept] == [below]
        assert paths(engine) == before
        assert any("cannot be reached" in notice for notice in engine.search("alpha").notices)
        shutil.copytree(held, point, dirs_exist_ok=True, copy_function=shutil.copy2)
        table.write_text(f"/dev/x / ext4 rw 0 0\n/dev/y {point} ext4 rw 0 0\n")
        assert engine.update().kept == ()
        next(point.glob("*.md")).unlink()
        assert engine.update().removed == 1


def test_the_last_note_of_a_plain_folder_may_go(notes: Path, tmp_path: Path) -> None:
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        shutil.rmtree(notes / "sub")
        for note in notes.iterdir():
            note.unlink()
        assert engine.update().removed == 6
        assert not engine.snapshot.chunks and not engine.search("alpha").hits


def test_notes_of_a_folder_that_cannot_be_read_are_kept(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        listed = scanning._entries

        def entries(folder: Path) -> Any:  # as for anybody but root, who may read everything
            if folder.name == "sub":
                raise PermissionError(13, "Permission denied")
            return listed(folder)

        with monkeypatch.context() as patch:
            patch.setattr(scanning, "_entries", entries)
            report = engine.update()
        assert report.removed == 0 and [(kept.path, kept.notes) for kept in report.kept] == [("sub", 3)]
        assert "Permission denied" in report.kept[0].reason


# -- a save is one change --------------------------------------------------------------------------------------------


def test_a_note_that_is_away_for_a_moment_is_never_taken_for_gone(notes: Path, tmp_path: Path) -> None:
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        note, held = notes / "0.md", tmp_path / "held"
        seen: list[list[str]] = []
        note.rename(held)
        back = threading.Timer(0.1, lambda: held.rename(note))
        back.start()
        report = engine.update(changed=lambda: seen.append(paths(engine)), grace=LIMIT / 30)
        back.join()
        assert report.removed == 0 and not seen and "0.md" in paths(engine)
        note.unlink()
        assert engine.update(grace=0.05).removed == 1


# -- only what changed -----------------------------------------------------------------------------------------------


def same_snapshot(a: Any, b: Any) -> None:
    assert a.notes == b.notes and a.chunks == b.chunks and dict(a.row_of) == dict(b.row_of)
    for ours, theirs in ((a.passages.chunks, b.passages.chunks), (a.passages.notes, b.passages.notes)):
        assert ours.vocabulary == theirs.vocabulary and ours.average_length == theirs.average_length
        for name in ("indptr", "rows", "tfs", "lengths"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert np.array_equal(a.passages.note_of, b.passages.note_of)
    assert np.array_equal(a.dense.rows, b.dense.rows) and np.array_equal(a.dense.matrix, b.dense.matrix)
    assert np.array_equal(a.dense.places, b.dense.places) and a.dense.served.ntotal == b.dense.served.ntotal


def test_a_spliced_snapshot_is_the_one_that_is_read_anew(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        steps: list[Callable[[], object]] = [
            lambda: (notes / "0.md").write_text("日本 gamma delta new words. " * 9),
            lambda: (notes / "a.md").write_text(""),
            lambda: (notes / "sub" / "1.md").unlink(),
            lambda: (notes / "zz.md").write_text("last of all. " * 20),
            lambda: (notes / "sub").rename(notes / "Sub"),
            lambda: shutil.rmtree(notes / "Sub"),
        ]
        with monkeypatch.context() as patch:
            patch.setattr(snapshots, "read_snapshot", None)  # not to be called
            for step in steps:
                step()
                engine.update()
                same_snapshot(
                    engine.snapshot, read_snapshot(engine.store, engine.embedder.name, engine.embedder.dimension)
                )
        assert picture(engine) == cold(notes)


def test_a_storm_ends_as_a_cold_build(notes: Path, tmp_path: Path) -> None:
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update()
        for i in range(600):
            (notes / "sub" / f"n{i}.md").write_text(f"note {i} alpha")
        (notes / "0.md").unlink()
        report = engine.update()
        assert (report.added, report.removed, report.parsed) == (600, 1, 600)
        assert picture(engine) == cold(notes)


def test_the_third_start_reads_and_embeds_nothing(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        with engine_on(notes, tmp_path / "data") as engine:
            engine.update()
    monkeypatch.setattr("glassbox_tui.index.indexer.load", None)
    monkeypatch.setattr("glassbox_tui.index.embedding.encode_passage", None)
    with engine_on(notes, tmp_path / "data") as engine:
        report = engine.update()
    assert (report.parsed, report.embedded, report.unchanged) == (0, 0, 6)


# -- background work yields ------------------------------------------------------------------------------------------


class Recording(HashingEmbedder):
    """Remembers the order of what it embeds, and calls `meanwhile` before each."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def embed_passages(self, texts: Any) -> Matrix:
        self.meanwhile()
        self.texts += [text for text in texts if text != PROBE]  # that one is for knowing the embedder again
        return super().embed_passages(texts)


def test_embedding_is_held_between_chunks_and_goes_on_newest_edit_first(notes: Path, tmp_path: Path) -> None:
    embedder = Recording()
    with Engine.open(notes, Settings(data=str(tmp_path / "data")), embedder=embedder) as engine:
        report = engine.update(hold=lambda: len(embedder.texts) >= 2)
        assert (report.embedded, report.pending) == (2, 4)
        assert len(engine.search("alpha", mode="bm25").hits) == 6  # keyword search has them all
        assert engine.info().dense_coverage == pytest.approx(2 / 6, abs=1e-6)
        (notes / "0.md").write_text("the newest edit")
        embedder.texts.clear()
        report = engine.update()
        assert "newest edit" in embedder.texts[0] and report.pending == 0
        assert engine.info().dense_coverage == 1
    assert picture_of(notes, tmp_path) == cold(notes)


def picture_of(notes: Path, tmp_path: Path) -> dict[str, Any]:
    with engine_on(notes, tmp_path / "other") as engine:
        engine.update(hold=lambda: True)
        engine.update()
        return picture(engine)


def test_no_chunk_is_begun_while_somebody_searches() -> None:
    gate, order = Gate(), list[str]()
    began, done = threading.Event(), threading.Event()

    def background() -> None:
        began.set()
        gate.give_way()
        order.append("chunk")
        done.set()

    with gate.search():
        thread = threading.Thread(target=background)
        thread.start()
        assert began.wait(LIMIT)
        order.append("search")
    assert done.wait(LIMIT)
    thread.join()
    assert order == ["search", "chunk"]


def test_progress_tells_rate_and_time_left(notes: Path, tmp_path: Path) -> None:
    told = []
    with engine_on(notes, tmp_path / "data") as engine:
        engine.update(progress=told.append)
    last = [p for p in told if p.phase == "embed"][-1]
    assert last.done == last.total and last.left == 0 and last.rate and last.rate > 0


# -- less of it ------------------------------------------------------------------------------------------------------


def test_keyword_search_alone_loads_no_model_and_embeds_nothing(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassbox_tui.retrieval.engine.open_embedder", None)
    with Engine.open(notes, Settings(data=str(tmp_path / "data"), disable_dense=True)) as engine:
        assert engine.update().embedded == 0
        trace = engine.search("alpha")
        assert trace.hits and [s.name for s in trace.last.stages] == ["bm25", "fused", "final"]
        assert "dense search is off (GLASSBOX_DISABLE_DENSE)" in trace.notices
        with pytest.raises(Exception, match="GLASSBOX_DISABLE_DENSE"):
            engine.search("alpha", mode="dense")


def test_keyword_search_alone_opens_a_folder_of_many_notes(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for i in range(2 * FEW_NOTES):
        (tmp_path / "notes" / f"{i}.md").write_text(f"alpha number{i}", encoding="utf-8")
    with Engine.open(tmp_path / "notes", Settings(data=str(tmp_path / "data"), disable_dense=True)) as engine:
        engine.update()
        assert engine.search("number7").hits[0].path == "7.md"


def test_without_token_codes_nothing_is_reranked_and_with_them_again_they_are_made(
    notes: Path, tmp_path: Path, e5: Any
) -> None:
    def count(engine: Engine) -> int:
        rows = engine.store.token_codes(e5.name, [c.key for c in engine.snapshot.chunks])
        return len(rows)

    data = str(tmp_path / "data")
    with Engine.open(notes, Settings(data=data, token_codes=False), embedder=e5) as engine:
        assert engine.update().embedded == 6 and count(engine) == 0
        trace = engine.search("alpha")
        assert any("GLASSBOX_TOKEN_CODES" in notice for notice in trace.notices)
        assert "rerank" not in {s.name for s in trace.last.stages} and engine.update().embedded == 0
    with Engine.open(notes, Settings(data=data), embedder=e5) as engine:
        assert engine.update().embedded == 6 and count(engine) == 6
        assert "rerank" in {s.name for s in engine.search("alpha").last.stages}


# -- one writer ------------------------------------------------------------------------------------------------------

WRITER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_updates import engine_on
with engine_on(Path(sys.argv[1]), Path(sys.argv[2])) as engine:
    embedded = []
    def progress(p):
        if p.phase == "embed" and p.done == 3:
            print("embedding", flush=True)
            time.sleep(600)  # until we are killed
    engine.update(progress=progress)
"""


def test_a_second_process_reads_along_and_takes_over_when_the_first_is_killed(notes: Path, tmp_path: Path) -> None:
    code = WRITER.format(tests=str(Path(__file__).parent))
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(notes), str(tmp_path / "data")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None and writer.stdout.readline() == "embedding\n"
        with engine_on(notes, tmp_path / "data") as engine:
            told: list[None] = []
            assert engine.update(changed=lambda: told.append(None)).locked
            assert len(engine.search("alpha", mode="bm25").hits) == 6
            assert engine.update(changed=lambda: told.append(None)).locked
            assert not told  # nothing new was written in between
            writer.kill()
            writer.wait()
            report = engine.update()
            assert not report.locked and report.parsed == 0 and report.embedded > 0
            assert picture(engine) == cold(notes)
    finally:
        writer.kill()
        writer.wait()


def test_a_long_embedding_is_announced_with_the_time_and_the_disk_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, e5: Any
) -> None:
    monkeypatch.setattr("glassbox_tui.index.embedding.LONG_SECONDS", 0.0)
    folder = tmp_path / "notes"
    folder.mkdir()
    for i in range(24):
        (folder / f"{i}.md").write_text(f"note {i}: " + "what a note says of things. " * 16)
    told = []
    with Engine.open(folder, Settings(data=str(tmp_path / "data")), embedder=e5) as engine:
        engine.update(progress=told.append, hold=lambda: True)
        file = engine.index_file
        assert file is not None
        engine.store._write.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = file.stat().st_size
        engine.update(progress=told.append)
        engine.store._write.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        grown = file.stat().st_size - before
        keys = [chunk.key for chunk in engine.snapshot.chunks]
        codes = sum(map(len, engine.store.token_codes(e5.name, keys).values()))
    (plan,) = [p for p in told if p.phase == "plan"]
    assert plan.total == 24 and plan.left is not None and plan.left > 0
    assert plan.detail == "0 MB"  # in millions
    assert disk_bytes(24, 24, codes, e5.dimension) == pytest.approx(grown, rel=0.3)
