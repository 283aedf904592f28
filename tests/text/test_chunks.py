"""Chunks: nothing lost, nothing too long, structure kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbox_tui.text.chunks import ChunkOptions, ChunkSpan, chunk

fragments = st.sampled_from(
    [
        "# Title\n",
        "## 第二节\n",
        "### Deep *one*\n",
        "Setext\n======\n",
        "A sentence of English words. ",
        "中文句子，有逗号。",
        "没有标点的很长的一段中文文字" * 4,
        "https://example.org/" + "abcdef0123" * 9 + " ",
        "\n",
        "\n\n",
        "- item one\n- item two\n",
        "> quoted\n",
        "```py\nx = 1\n\ny = 2\n```\n",
        "```\nunclosed\n",
        "| a | b |\n|---|---|\n" + "".join(f"| {i} | v{i} |\n" for i in range(9)),
        "[ref]: http://x.example\n",
        "    indented code\n",
        "3.14159 " * 8,
        "👩‍💻e\u0301🇩🇪",
        "\t",
        "\x0c",
        "\0",
        "\r",
        "old Mac\rlines\r",
        "| a |\r\n|---|\r\n| 1 |\r\n",
        "<div>\nhtml\n</div>\n",
    ]
)
notes = st.lists(fragments | st.text(max_size=8), max_size=25).map("".join)
counters: dict[str, Callable[[str], int]] = {
    "characters": len,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "words": lambda text: len(text.split()),
    "pieces": lambda text: sum(1 + len(word) // 3 for word in text.split()),
}


def covered(text: str, chunks: tuple[ChunkSpan, ...], start: int = 0) -> str:
    """What no chunk holds, white space aside."""
    held = bytearray(len(text))
    for c in chunks:
        held[c.start : c.end] = b"\1" * (c.end - c.start)
    return "".join(
        char for char, here in zip(text[start:], held[start:], strict=True) if not here and not char.isspace()
    )


@settings(max_examples=200, deadline=None)
@given(notes, st.integers(10, 300), st.integers(0, 9), st.booleans(), st.sampled_from(["", "Title", "笔记 [/]"]))
def test_offsets_are_exact_nothing_is_lost_and_sizes_are_bounded(
    text: str, chars: int, tenths: int, markdown: bool, title: str
) -> None:
    chunks = chunk(text, ChunkOptions(chars, chars * tenths // 10, "sentences", markdown=markdown), title=title)
    assert covered(text, chunks) == ""
    for c in chunks:
        assert c.text == text[c.start : c.end]
        assert c.text.strip()
        assert len(c.text) <= chars
        assert c.index_text.endswith(c.text)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(chunks))


@settings(max_examples=150, deadline=None)
@given(notes, st.sampled_from(sorted(counters)), st.integers(4, 60), st.integers(30, 300), st.booleans())
def test_the_token_limit_is_never_exceeded(text: str, counter: str, limit: int, chars: int, markdown: bool) -> None:
    count = counters[counter]
    options = ChunkOptions(chars, chars // 4, "sentences", limit, count, markdown)
    chunks = chunk(text, options, title="A title of some words")
    assert all(count(c.index_text) <= limit for c in chunks)
    assert covered(text, chunks) == ""


@given(st.lists(st.integers(10, 90), min_size=8, max_size=40), st.integers(200, 500))
def test_neighbours_share_whole_sentences(lengths: list[int], chars: int) -> None:
    text = " ".join("W" + "o" * (n - 2) + "." for n in lengths)
    chunks = chunk(text, ChunkOptions(chars, 100, "sentences"))
    for a, b in pairwise(chunks):
        assert b.start < a.end
        assert a.end - b.start <= 100
        assert text[b.start] == "W"
        assert a.text.endswith(".")


def test_front_matter_is_skipped_by_start() -> None:
    text = "---\ntitle: x\n---\nBody here."
    (only,) = chunk(text, ChunkOptions(), start=17, title="x")
    assert (only.start, only.text, only.index_text) == (17, "Body here.", "x\nBody here.")


def test_headings_begin_chunks_and_give_the_path() -> None:
    text = "# Note\n\nIntro.\n\n## Empty\n\n### Leaf `code`\n\nUnder the leaf.\n\n## Last\n\nEnd.\n\n## Todo\n"
    chunks = chunk(text, ChunkOptions(), title="Note")
    assert [c.heading for c in chunks] == [("Note",), ("Note", "Empty", "Leaf code"), ("Note", "Last")]
    assert [c.text for c in chunks] == [
        "# Note\n\nIntro.",
        "## Empty\n\n### Leaf `code`\n\nUnder the leaf.",
        "## Last\n\nEnd.\n\n## Todo",
    ]
    assert chunks[1].index_text == "Note\n" + chunks[1].text
    assert chunks[0].index_text == chunks[0].text


def test_later_chunks_of_a_section_say_where_they_stand() -> None:
    text = "# Note\n\n## Part\n\n" + "A sentence that says a little. " * 60
    chunks = chunk(text, ChunkOptions(400, 80, "sentences"), title="Other title")
    assert len(chunks) > 3
    assert all(c.index_text == "Other title > Note > Part\n" + c.text for c in chunks[1:])


def test_a_heading_keeps_some_of_what_follows_even_if_that_is_long() -> None:
    for body in (
        "很长的句子没有标点" * 100,
        "| a | b |\n|---|---|\n" + "| cell | cell |\n" * 14,
        "```\n" + "code line\n" * 24 + "```",
    ):
        first, *_ = chunk(f"## A heading\n\n{body}", ChunkOptions(250, 50, "sentences"))
        assert len(first.text) > 100


def test_c1_every_chunk_of_a_table_carries_its_header() -> None:
    rows = [f"| host-{i} | 10.0.0.{i} | rack {i % 7} | note on the host number {i} |" for i in range(80)]
    text = "# Hosts\n\n| name | address | rack | remark |\n|:--|--:|---|---|\n" + "\n".join(rows) + "\n\nAfter it."
    chunks = chunk(text, ChunkOptions(), title="Hosts")
    with_rows = [c for c in chunks if "host-" in c.text]
    assert len(with_rows) > 5
    for c in with_rows:
        assert "| name | address | rack | remark |\n|:--|--:|---|---|\n| host-" in c.index_text
        assert all(line in rows for line in c.text.splitlines() if "host-" in line)  # no row is cut
    (about_70,) = [c for c in chunks if "host-70 " in c.text]
    assert "| name | address | rack | remark |" in about_70.index_text


def test_tables_and_fences_that_fit_stay_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {i} | value {i} |" for i in range(20))
    fence = "```py\n" + "\n\n".join(f"def f{i}(): return {i}" for i in range(15)) + "\n```"
    prose = "A sentence of some length in the prose. " * 12
    chunks = chunk(f"{prose}\n\n{table}\n\n{prose}\n\n{fence}\n\n{prose}", ChunkOptions())
    assert any(table in c.text for c in chunks)
    assert any(fence in c.text for c in chunks)


def test_a_long_fence_is_cut_between_lines() -> None:
    lines = [f"    value_{i} = compute(alpha={i}, beta={i})" for i in range(100)]
    text = "```py\n" + "\n".join(lines) + "\n```"
    for c in chunk(text, ChunkOptions(500, 100, "sentences")):
        assert all(
            line in {x.strip() for x in lines} | {"```py", "```"} for line in map(str.strip, c.text.splitlines())
        )


def test_c5_an_inline_picture_is_a_placeholder() -> None:
    uri = "data:image/png;base64," + "iVBORw0KGgo+/A9z" * 131_072  # 2 MB
    text = f"# Pictures\n\nBefore it.\n\n![a chart]({uri})\n\nAfter it. And ![two]({uri}) inline."
    chunks = chunk(text, ChunkOptions(), title="Pictures")
    assert len(chunks) <= 3
    indexed = "".join(c.index_text for c in chunks)
    assert "iVBOR" not in indexed
    assert indexed.count("[image/png]") == 2
    assert len(indexed) < 500
    assert covered(text, chunks) == ""
    assert all(c.text == text[c.start : c.end] for c in chunks)


def test_c6_unspaced_chinese_is_capped_and_rejoins() -> None:
    for text in ("检索增强生成的系统" * 2223, "检索、增强；生成……系统。" * 1700, "数字3.14159265和" * 2000):
        text = text[:20_000]
        chunks = chunk(text, ChunkOptions(700, 0, "sentences"))
        assert all(len(c.text) <= 700 for c in chunks)
        assert "".join(c.text for c in chunks) == text
        assert not any(re.search(r"\d\.?$", a.text) and re.match(r"\.?\d", b.text) for a, b in pairwise(chunks))


def test_a_hard_cut_goes_through_no_character() -> None:
    for cluster in ("👩‍💻", "e\u0301", "🇩🇪", "ｶﾞ", "👍🏽"):
        for c in chunk(cluster * 200, ChunkOptions(50, 0, "sentences")):
            assert len(c.text) % len(cluster) == 0
            assert c.text.startswith(cluster)


def test_what_a_hard_cut_parts_stays_together_in_a_neighbour() -> None:
    text = "一二三四五六七八九十" * 300
    chunks = chunk(text, ChunkOptions(700, 180, "sentences"))
    assert all(b.start < a.end for a, b in pairwise(chunks))


def test_plain_text_knows_no_markdown() -> None:
    text = "# not a heading\n\n| not | a table |\n|---|---|\n"
    (only,) = chunk(text, ChunkOptions(markdown=False), title="log.txt")
    assert only.heading == ()
    assert only.text == text.strip()


@pytest.mark.parametrize(
    "options",
    [
        ChunkOptions(0, 0, "sentences"),
        ChunkOptions(100, 100, "sentences"),
        ChunkOptions(100, 10, "unknown"),
        ChunkOptions(token_limit=5),
        ChunkOptions(token_limit=0, count_tokens=len),
    ],
)
def test_contradicting_options_are_refused(options: ChunkOptions) -> None:
    with pytest.raises(ValueError, match=r"chunk|token"):
        chunk("text", options)


@pytest.mark.parametrize("text", ["", " \n\t\n", "\n" * 1000, "\u3000"])
def test_a_blank_note_has_no_chunks(text: str) -> None:
    assert chunk(text, ChunkOptions(), title="Blank") == ()


@pytest.mark.parametrize("unit", ["# h\n", "> ", "- a\n", "[", "| a | b |\n", "```\n", "3.14", "\n"])
def test_hostile_repetition_takes_linear_time_and_loses_nothing(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    chunks = chunk(text, ChunkOptions(), title="T")
    assert covered(text, chunks) == ""
    assert all(len(c.text) <= 700 for c in chunks)


# -- headings that are none --------------------------------------------------------------------------------------------


def test_a_heading_of_ordinary_size_is_kept_whole_and_a_long_one_is_cut() -> None:
    ordinary, long = "An ordinary heading " * 14, "word " * 100
    [a, b] = chunk(f"# {ordinary}\n\nA.\n\n# {long}\n\nB.\n", ChunkOptions())
    assert a.heading == (ordinary.strip(),)
    assert len(b.heading[0]) <= 300 and b.heading[0].endswith("…") and long.startswith(b.heading[0][:-1])
    assert "word " * 100 in b.text + " "  # nothing of it is lost


@pytest.mark.parametrize("mark", ["---", "==="])
def test_a_text_of_many_lines_over_a_rule_is_text(mark: str) -> None:
    """To CommonMark all of it is one heading; it names nothing, and each chunk below would carry it."""
    lines = [f"line {i} of a log" for i in range(400)]
    spans = chunk("\n".join(lines) + f"\n{mark}\n\nThe end.\n", ChunkOptions())
    assert {span.heading for span in spans} == {()}
    assert all(any(line in span.text for span in spans) for line in lines)
    [two] = chunk(f"Two lines\nof a heading\n{mark}\n\nText.\n", ChunkOptions())
    assert two.heading == ("Two lines of a heading",)
