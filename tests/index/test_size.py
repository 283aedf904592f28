"""An index is at most four times the text, whatever stands above it; vectors apart, which each chunk has one of.

A chunk costs 256 bytes beside (its hashes, their index), which shows where sections are of a few letters; an empty
database takes 100 kB.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.settings import Settings
from glassbox_tui.text.markdown import LONGEST_TITLE


def log(lines: int) -> str:
    rng = random.Random(lines)
    return "".join(
        f"2026-11-{i % 28 + 1:02} 12:{i % 60:02} INFO worker-{i % 7} request {rng.randrange(16**8):08x} took {i} ms\n"
        for i in range(lines)
    )


def sections(number: int) -> str:
    return "".join(f"###### part {i}\n\nmarmot {i}\n\n" for i in range(number))


def front(keys: int) -> str:
    return "".join(f"key{i}: value {i} of the front matter\n" for i in range(keys))


LONG = "long heading of the mountain hut "
# What the first words of the note are about is "marmot"; each stands above or below something that is no heading.
INPUTS: dict[str, Callable[[], str]] = {
    "a log over a line of dashes": lambda: f"{log(8_000)}---\n\nmarmot\n",
    "a heading of 800,000 letters": lambda: f"# {'h' * 800_000}\n\nmarmot\n\n{'A sentence of the body. ' * 200}",
    "a heading of 130,000 words": lambda: f"# {'heading ' * 130_000}\n\nmarmot\n\n{'A sentence of the body. ' * 200}",
    "front matter that is too long": lambda: f"---\n{front(5_000)}---\n\nmarmot\n",
    "front matter that is never closed": lambda: f"---\n{front(5_000)}\nmarmot\n",
    "six long headings over many sections": lambda: (
        "".join(f"{'#' * level} {LONG * 9}\n\n" for level in range(1, 6)) + sections(2_000)
    ),
    "thousands of sections": lambda: sections(5_000),
    "a wide table": lambda: (
        f"|{'|'.join(f' column {i} ' for i in range(60))}|\n|{'-|' * 60}\n" + f"|{' marmot |' * 60}\n" * 1_000
    ),
    "ordinary prose": lambda: "The marmot sleeps. It whistles at noon, and its neighbours answer.\n\n" * 3_000,
}
LARGE: dict[str, Callable[[], str]] = {
    "2 MB of front matter": lambda: f"---\n{front(50_000)}---\n\nmarmot\n",
    "a heading of 19 MB": lambda: f"# {'h' * 19_000_000}\n\nmarmot\n",
}


def holds(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(text, "utf-8")
    settings = Settings(data=str(tmp_path / "data"), disable_dense=True)
    with Engine.open(tmp_path / "notes", settings) as engine:
        engine.update()
        assert engine.search("marmot").rounds[0].hits  # what stands below it is found
        assert all(len(words) <= LONGEST_TITLE for c in engine.snapshot.chunks for words in c.heading)
        assert all(len(c.index_text) <= 2 * settings.chunk_chars for c in engine.snapshot.chunks)
        chunks, file = len(engine.snapshot.chunks), engine.index_file
    assert file is not None
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert file.stat().st_size <= 4 * len(text.encode()) + 256 * chunks + 100_000


@pytest.mark.parametrize("name", INPUTS)
def test_an_index_is_at_most_four_times_the_text(tmp_path: Path, name: str) -> None:
    holds(tmp_path, INPUTS[name]())


@pytest.mark.full
@pytest.mark.parametrize("name", LARGE)
def test_nor_is_that_of_a_large_note(tmp_path: Path, name: str) -> None:
    holds(tmp_path, LARGE[name]())
