"""The other ways to cut a note: what each of them promises, on random notes and on plain examples."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui.settings import CHUNK_STRATEGIES
from glassbox_tui.text.chunks import ChunkOptions, ChunkSpan, chunk
from glassbox_tui.text.strategies import STRATEGIES

OTHERS = ("headings", "recursive", "fixed")
PIECES = (
    "# Title\n", "## 第二节\n", "A sentence of English words. ", "中文句子；有分号。",
    "没有标点的很长的一段中文文字" * 4,
    "x" * 70, "\n", "\n\n", "  ", "- item\n", "```py\nx = 1\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "3.14159 " * 8, "👩‍💻e\u0301🇩🇪", "\t", "\0", "<div>\n", "![p](data:image/png;base64," + "iVBORw0KGgo" * 9 + ")",
)  # fmt: skip
notes = st.lists(st.sampled_from(PIECES) | st.text(max_size=8).map(lambda s: s.replace("\r", "")), max_size=25).map(
    "".join
)
titles = st.sampled_from(["", "Title", "笔记 [/]"])


def without_pictures(chunks: tuple[ChunkSpan, ...]) -> list[ChunkSpan]:
    """A chunk may be longer than asked by the data of a picture, which it does not index."""
    return [c for c in chunks if "data:" not in c.text and "iVBOR" not in c.text]


def lost(text: str, chunks: tuple[ChunkSpan, ...]) -> str:
    held = {at for c in chunks for at in range(c.start, c.end)}
    return "".join(char for at, char in enumerate(text) if at not in held and not char.isspace())


def test_the_setting_offers_what_there_is() -> None:
    assert tuple(STRATEGIES) == CHUNK_STRATEGIES


@settings(max_examples=250, deadline=None)
@given(notes.filter(lambda text: bool(text.strip())), st.integers(5, 300), st.booleans(), titles)
def test_recursive_chunks_join_to_the_note_exactly(text: str, chars: int, markdown: bool, title: str) -> None:
    chunks = chunk(text, ChunkOptions(chars, 0, "recursive", markdown=markdown), title=title)
    assert "".join(c.text for c in chunks) == text
    assert chunks[0].start == 0
    assert chunks[-1].end == len(text)
    assert all(a.end == b.start for a, b in pairwise(chunks))
    assert all(len(c.text) <= chars for c in without_pictures(chunks))


@settings(max_examples=200, deadline=None)
@given(
    notes, st.sampled_from(OTHERS), st.integers(10, 300), st.integers(0, 9), st.booleans(), titles, st.integers(0, 40)
)
def test_offsets_are_exact_nothing_is_lost_and_sizes_are_bounded(
    text: str, strategy: str, chars: int, tenths: int, markdown: bool, title: str, front: int
) -> None:
    text = "-" * front + text
    options = ChunkOptions(chars, chars * tenths // 10, strategy, markdown=markdown)
    chunks = chunk(text, options, start=front, title=title)
    assert lost(text[front:].rjust(len(text)), chunks) == ""
    for c in chunks:
        assert c.start >= front
        assert c.text == text[c.start : c.end]
    for c in without_pictures(chunks):
        assert len(c.text) <= chars
        assert c.index_text.endswith(c.text)
        assert strategy == "recursive" or c.text.strip()
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(chunks))


@settings(max_examples=200, deadline=None)
@given(
    notes, st.sampled_from(OTHERS), st.integers(4, 60), st.integers(30, 300), st.sampled_from(["characters", "words"])
)
def test_the_token_limit_is_never_exceeded(text: str, strategy: str, limit: int, chars: int, counter: str) -> None:
    count = len if counter == "characters" else lambda s: sum(1 + len(word) // 3 for word in s.split())
    options = ChunkOptions(chars, chars // 4, strategy, limit, count)
    chunks = chunk(text, options, title="A title of some words")
    assert all(count(c.index_text) <= limit for c in chunks)
    assert lost(text, chunks) == ""
    if strategy == "recursive" and text.strip():
        assert "".join(c.text for c in chunks) == text


@given(st.integers(20, 200), st.integers(0, 9), st.integers(1, 2000))
def test_fixed_windows_have_the_size_and_share_the_overlap(chars: int, tenths: int, length: int) -> None:
    overlap = chars * tenths // 20
    text = ("abcdefghij" * 200)[:length]
    chunks = chunk(text, ChunkOptions(chars, overlap, "fixed"))
    assert all(len(c.text) == chars for c in chunks[:-1])
    assert all(a.end - b.start == overlap for a, b in pairwise(chunks))


def test_headings_windows_are_500_with_50_shared_and_stop_at_a_heading() -> None:
    text = "# Note\n\n## One\n\n" + "word " * 300 + "\n\n## Two\n\nEnd."
    chunks = chunk(text, ChunkOptions(700, 180, "headings"), title="Other")
    assert [c.heading[-1] for c in chunks] == ["One", "One", "One", "One", "Two"]
    assert [len(c.text) for c in chunks[:3]] == [500, 500, 500]
    assert all(a.end - b.start == 50 for a, b in pairwise(chunks[:4]))
    assert chunks[1].index_text == "Other > Note > One\n" + chunks[1].text
    assert chunks[4].text == "## Two\n\nEnd."


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("one two\n\nthree four\n\nfive", ["one two\n\n", "three four\n\n", "five"]),
        ("one two\nthree four\nfive", ["one two\n", "three four\n", "five"]),
        ("一二三四五。六七八九十。甲乙丙丁戊己", ["一二三四五。六七八九十。", "甲乙丙丁戊己"]),
        ("一二三四五六；七八九十甲乙；丙", ["一二三四五六；", "七八九十甲乙；丙"]),
        ("one two three four", ["one two ", "three four"]),
        ("a。b c\n\nd\ne", ["a。b c\n\nd\ne"]),
    ],
)
def test_recursive_cuts_at_the_largest_separator_there_is(text: str, pieces: list[str]) -> None:
    assert [c.text for c in chunk(text, ChunkOptions(12, 0, "recursive"))] == pieces


@pytest.mark.parametrize("strategy", OTHERS)
def test_chunks_say_under_which_headings_they_stand(strategy: str) -> None:
    text = "# Note\n\n## Part\n\n" + "A sentence that says a little. " * 60
    chunks = chunk(text, ChunkOptions(400, 80, strategy), title="Title")
    assert len(chunks) > 3
    assert chunks[2].heading == ("Note", "Part")
    assert chunks[2].index_text == "Title > Note > Part\n" + chunks[2].text


@pytest.mark.parametrize("strategy", OTHERS)
def test_no_character_is_cut(strategy: str) -> None:
    for cluster in ("👩‍💻", "e\u0301", "🇩🇪", "👍🏽"):
        for c in chunk(cluster * 200, ChunkOptions(50, 11, strategy)):
            assert c.text.startswith(cluster)
            assert c.text.endswith(cluster)


@pytest.mark.parametrize("strategy", OTHERS)
@pytest.mark.parametrize("text", ["", " \n\t\n", "\u3000"])
def test_a_blank_note_has_no_chunks(strategy: str, text: str) -> None:
    assert chunk(text, ChunkOptions(strategy=strategy), title="Blank") == ()


@pytest.mark.parametrize("strategy", OTHERS)
@pytest.mark.parametrize("unit", ["# h\n", "- a\n", "```\n", "# h\nx\n", "\n", " ", "\u0301"])
def test_hostile_repetition_takes_linear_time(strategy: str, unit: str) -> None:
    text = "a" + unit * (40_000 // len(unit))
    assert lost(text, chunk(text, ChunkOptions(strategy=strategy), title="T")) == ""
