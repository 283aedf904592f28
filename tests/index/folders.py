"""A folder of notes with a finished index, for tests of what may happen to it then."""

from __future__ import annotations

from pathlib import Path

from test_updates import engine_on


def indexed(place: Path, count: int) -> tuple[Path, Path, Path]:
    """A folder of `count` notes, a data folder, and the finished index in it."""
    notes, data = place / "notes", place / "data"
    notes.mkdir()
    for i in range(count):
        (notes / f"{i}.md").write_text(f"# Note {i}\n\n" + f"Sentence about thing{i} and number {i * 7}. " * 9)
    with engine_on(notes, data) as engine:
        engine.update()
        file = engine.index_file
    assert file is not None
    return notes, data, file
