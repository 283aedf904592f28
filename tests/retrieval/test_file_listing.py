"""What the engine says of every file: searchable, waiting, left out and why; and of the chunks of one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.progress import Cancelled, Progress
from glassbox_tui.retrieval.listing import opening
from glassbox_tui.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    (notes / "node_modules").mkdir()
    for name in ("a.md", "b.md", "sub/c.txt"):
        (notes / name).write_text(f"# {name}\n\nabout {name}\n", "utf-8")
    (notes / "blank.md").write_text(" \n", "utf-8")
    (notes / ".hidden.md").write_text("not for searching", "utf-8")
    (notes / "node_modules" / "read.md").write_text("nor this", "utf-8")
    return notes


def opened(notes: Path, settings: Settings | None = None) -> Engine:
    index = notes.parent / "index" / "index.sqlite"
    return Engine.open(notes, settings or Settings(), index_file=index, embedder=HashingEmbedder())


def told(engine: Engine) -> dict[str, tuple[str, int, int]]:
    return {row.path: (row.status, row.chunks, row.vectors) for row in engine.files()}


def test_every_file_is_listed_with_what_became_of_it(folder: Path) -> None:
    left_out = {".hidden.md": ("skipped", 0, 0), "node_modules/": ("skipped", 0, 0)}
    with opened(folder) as engine:
        paths = ("a.md", "b.md", "blank.md", "sub/c.txt")
        assert told(engine) == left_out | dict.fromkeys(paths, ("unread", 0, 0))
        engine.update()
        ok = ("ok", 1, 1)
        assert told(engine) == left_out | {"a.md": ok, "b.md": ok, "sub/c.txt": ok, "blank.md": ("empty", 0, 0)}
        assert [row.path for row in engine.files()] == sorted(told(engine))
        assert {s.path: s.reason for s in engine.skipped} == {
            row.path: row.reason for row in engine.files() if row.status == "skipped"
        }
        assert all(row.reason for row in engine.files() if row.status != "ok")


def test_a_file_that_comes_waits_and_one_that_goes_is_gone(folder: Path) -> None:
    with opened(folder) as engine:
        engine.update()
        (folder / "new.md").write_text("new", "utf-8")
        (folder / "a.md").unlink()
        engine.update()
        assert told(engine)["new.md"] == ("ok", 1, 1)
        assert "a.md" not in told(engine)


def test_while_indexing_the_list_says_what_is_still_to_be_read_and_to_be_embedded(folder: Path) -> None:
    seen: list[dict[str, tuple[str, int, int]]] = []
    with opened(folder) as engine:

        def stop_after_the_first_note(progress: Progress) -> None:
            if progress.phase == "text" and progress.done == 1:
                raise Cancelled

        with pytest.raises(Cancelled):
            engine.update(stop_after_the_first_note)
        assert told(engine)["a.md"] == ("ok", 1, 0)
        assert told(engine)["b.md"] == ("unread", 0, 0)

        engine.update(changed=lambda: seen.append(told(engine)))
        assert seen[0]["b.md"] == ("ok", 1, 0)
        assert seen[-1]["b.md"] == ("ok", 1, 1)


def test_a_note_opens_as_it_is_written_although_its_chunks_overlap(folder: Path) -> None:
    text = "# Long\n\n" + "\n\n".join(f"Sentence {i} stands here once. 第{i}句只有一次。" for i in range(60)) + "\n"
    (folder / "long.md").write_text(text, "utf-8")
    with opened(folder, Settings(chunk_chars=120, chunk_overlap=50)) as engine:
        engine.update()
        chunks = engine.chunks("long.md")
        assert len(chunks) > 5
        assert any(a.end > b.start for a, b in pairwise(chunks))
        assert [text[c.start : c.end] for c in chunks] == [c.text for c in chunks]
        assert opening(chunks, 10**6).split() == text.split()
        assert len(opening(chunks, 100)) == 100
        assert text.split()[:5] == opening(chunks, 100).split()[:5]
        assert engine.chunks("nowhere.md") == []
        assert engine.chunks("sub") == []
