"""Which heading names a note and its chunks: the one a reader sees, and never one in a comment or in code."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.notes.load import load
from glassbox_tui.text.chunks import CHUNK_STRATEGIES, ChunkOptions, chunk
from glassbox_tui.text.markdown import _blocks, first_heading, sections

# What opens something that hides headings, and what closes it again.
HIDING = {
    "comment": ("<!--", "-->"),
    "comment behind a comment": ("<!-- a --> <!-- b", "-->"),
    "pre": ("<pre>", "</pre>"),
    "pre with a class": ('<PRE class="x">', "</PRE>"),
    "script": ("<script>", "</script>"),
    "style": ("<style>", "</style>"),
    "textarea": ("<textarea rows=2>", "</textarea>"),
    "pre within another block": ("<details>\n<summary>log</summary>\n<pre>", "</pre>\n</details>"),
    "comment within another block": ("<div>\n<!--", "-->\n</div>"),
    "fence": ("```", "```"),
    "longer fence": ("~~~~ sh", "~~~~"),
    "list": ("- item\n", ""),
    "instruction": ("<?php", "?>"),
    "cdata": ("<![CDATA[", "]]>"),
}
HEADINGS = ["# hidden", "hidden\n====", "## hidden", "  # hidden #"]
BLANKS = ["\n", "\n\n"]


def indented(name: str, lines: str) -> str:
    return "".join(f"  {line}\n" for line in lines.split("\n")) if name == "list" else lines + "\n"


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("heading", HEADINGS)
@pytest.mark.parametrize("name", HIDING)
def test_what_no_reader_sees_as_a_heading_names_nothing(name: str, heading: str, blank: str, tmp_path: Path) -> None:
    opened, closed = HIDING[name]
    text = f"{opened}{blank}{indented(name, heading)}{blank}{closed}\n\n# Shown\n\nBelow it.\n"
    file = tmp_path / "note.md"
    file.write_text(text, encoding="utf-8")
    assert load(file, "note.md").title == first_heading(text) == "Shown"
    assert {title for part in sections(text, 0) for title in part.path} == {"Shown"}
    assert {title for span in chunk(text, ChunkOptions(chars=40, overlap=5)) for title in span.heading} == {"Shown"}


@given(
    st.lists(st.sampled_from([*(w for pair in HIDING.values() for w in pair), *HEADINGS, "# Seen", "", "words"])),
    st.integers(0, 3_000),
)
def test_the_title_is_the_same_from_a_beginning_and_from_the_whole(lines: list[str], more: int) -> None:
    text = "\n".join(["x" * more, "", *lines])
    tops = [block.title for block in _blocks(text, 0, len(text)) if block.level == 1 and block.title]
    assert first_heading(text) == (tops[0] if tops else "")


@pytest.mark.parametrize("mark", ["=", "==========", "  ==="])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_heading_of_several_lines_keeps_all_of_them(count: int, mark: str, tmp_path: Path) -> None:
    lines = [f"line {number} of *it*" for number in range(count)]
    file = tmp_path / "note.md"
    file.write_text("\n".join([*lines, mark, "", "Text."]), encoding="utf-8")
    wanted = " ".join(lines).replace("*", "")
    assert load(file, "note.md").title == wanted
    assert {span.heading for span in chunk(file.read_text("utf-8"), ChunkOptions())} == {(wanted,)}


def levels(most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 4), min_size=1, max_size=most)


@pytest.mark.parametrize("strategy", CHUNK_STRATEGIES)
@given(levels(30), levels(8), st.booleans())
def test_a_chunk_of_headings_alone_is_named_by_the_first_of_them(
    strategy: str, before: list[int], after: list[int], body: bool
) -> None:
    """With a body between them or none: it is named by no heading that stands below it, and the body by its own."""
    said = [f"{'#' * level} Heading {number}" for number, level in enumerate(before)]
    behind = [f"{'#' * level} Later {number}" for number, level in enumerate(after)]
    text = "\n".join([*said, *(["", "Body.", "", *behind] if body else [])]) + "\n"
    open_at: dict[int, list[tuple[int, str]]] = {}
    path: list[tuple[int, str]] = []
    place = 0
    for line in text.splitlines():
        if line.startswith("#"):
            marks, name = line.split(" ", 1)
            path = [*(one for one in path if one[0] < len(marks)), (len(marks), name)]
            open_at[place] = path
        place += len(line) + 1
    for span in chunk(text, ChunkOptions(strategy=strategy, chars=60, overlap=10)):
        if body and span.start < text.index("Body.") + 5 and text.index("Body.") < span.end:
            continue
        at = max(start for start in open_at if start <= max(span.start, 0))
        assert span.heading == tuple(name for _, name in open_at[at])


@pytest.mark.parametrize(
    "text",
    [
        "<div><pre>\n\n" * 8_000,
        "<div><!--\n\n# a\n\n--></div>\n\n" * 4_000,
        "# \n" * 20_000,
        "```\n# a\n```\n" * 8_000,
        "- # a\n" * 8_000,
    ],
    ids=["never closed", "closed again", "empty", "fences", "items"],
)
def test_a_title_is_looked_for_in_linear_time(text: str) -> None:
    def seconds(given: str) -> float:
        began = time.process_time()
        first_heading(given)
        return time.process_time() - began

    short = min(seconds(text[: len(text) // 8]) for _ in range(2))
    assert seconds(text) < 8 * 4 * short + 0.2
