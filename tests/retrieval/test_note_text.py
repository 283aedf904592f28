"""What a reader gets: the file as it is, what the index holds where it is gone, and the text around a chunk."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.index.passages import around, text_of
from glassbox_tui.index.rows import ChunkRow
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import load_settings


def rows(text: str, spans: list[tuple[int, int]]) -> list[ChunkRow]:
    return [
        ChunkRow(f"n.md#{i}", "n.md", "", i, a, b, (1, 1), None, (), "other", text[a:b], text[a:b], "", "")
        for i, (a, b) in enumerate(spans)
    ]


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 10)), min_size=1, max_size=8), st.integers(0, 60))
def test_overlapping_chunks_give_the_text_once_and_the_text_around_each(
    shape: list[tuple[int, int]], chars: int
) -> None:
    spans, at = [], 0
    for size, overlap in shape:
        start = max(0, at - overlap, (spans[-1][0] + 1) if spans else 0)
        at = max(at, start) + size
        spans.append((start, at))
    text = "".join(chr(0x4E00 + i) for i in range(at))
    chunks = rows(text, spans)
    assert text_of(chunks) == text
    for chunk in chunks:
        before, after = around(chunks, chunk.ordinal, chars)
        assert before == text[max(0, chunk.start - chars) : chunk.start]
        assert after == text[chunk.end : chunk.end + chars]


def test_a_gap_between_chunks_is_a_break() -> None:
    chunks = rows("abc  def", [(0, 3), (5, 8)])
    assert text_of(chunks) == "abc\n\ndef"
    assert around(chunks, 0, 9) == ("", "\n\ndef")
    assert around(chunks, 1, 9) == ("abc\n\n", "")
    assert around(chunks, 7, 9) == ("", "")


def test_a_file_that_changes_and_goes_is_said_and_its_indexed_text_is_kept(tmp_path: Path) -> None:
    note = tmp_path / "notes" / "n.md"
    note.parent.mkdir()
    body = "# Title\n\n" + "\n\n".join(f"Paragraph {i} says something about storms and tides." * 4 for i in range(30))
    note.write_text(body)
    with Engine.open(note.parent, load_settings(data=str(tmp_path / "data")), embedder=HashingEmbedder()) as engine:
        engine.update()
        found = engine.note_text("n.md")
        assert (found.text, found.changed, found.problem) == (body, False, "")
        uid = engine.snapshot.chunks[3].uid
        before, after = engine.text_around(uid)
        here = engine.snapshot.chunks[3]
        assert before.strip() and body[: here.start].endswith(before)
        assert after.strip() and body[here.end :].startswith(after)
        note.write_text("other")
        assert engine.note_text("n.md").changed
        note.unlink()
        gone = engine.note_text("n.md")
        assert "gone" in gone.problem
        assert "Paragraph 29 says" in gone.text
        assert engine.note_text("../n.md").text == ""
        assert engine.text_around("gone.md#0") == ("", "")


def test_a_text_that_was_handed_in_is_no_file_but_can_be_read() -> None:
    with Engine(HashingEmbedder()).build({"a": "some text of storms"}) as engine:
        found = engine.note_text("a")
    assert found.text == "some text of storms"
    assert "not a file" in found.problem
