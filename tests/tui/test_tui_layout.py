"""A long text in rows: nothing is lost, nothing is laid out that nobody looks at, places lead back to the text."""

from __future__ import annotations

import time
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.tui import layout
from glassbox_tui.tui.layout import last_top, lay_out, line_at, line_start, rows_from, scrolled

TEXTS = st.text(st.sampled_from("ab  \n中文。é~\t\u200d👍"), max_size=200)
LONG = st.tuples(TEXTS, st.integers(1, 60)).map(lambda t: t[0] * t[1])


def cells(text: str) -> int:
    def width(c: str) -> int:
        return 0 if unicodedata.category(c) in ("Mn", "Cf") else 2 if unicodedata.east_asian_width(c) in "WF" else 1

    return sum(map(width, text))


@given(LONG, st.integers(2, 40))
def test_the_rows_of_a_text_are_all_of_it_and_fit(text: str, width: int) -> None:
    rows = rows_from(lay_out(text), 0, width, 10**9)
    shown = "".join(text[row.start : row.end] for row in rows)
    assert shown == text.replace("\n", "")
    assert all(cells(text[row.start : row.end].rstrip(" \t\u3000")) <= max(2, width) for row in rows)
    numbers = [row.line for row in rows if row.line is not None]
    assert numbers == list(range(1, text.count("\n") + 2))


@given(LONG, st.integers(2, 40), st.integers(1, 30), st.integers(-50, 50))
def test_scrolling_by_rows_is_walking_along_the_rows(text: str, width: int, at: int, by: int) -> None:
    page = lay_out(text)
    starts = [row.start for row in rows_from(page, 0, width, 10**9)]
    here = min(at, len(starts) - 1)
    there = max(0, min(here + by, len(starts) - 1))
    assert scrolled(page, starts[here], width, by) == starts[there]
    assert rows_from(page, starts[there], width, 3)[0].start == starts[there]


@given(LONG, st.integers(2, 40), st.integers(1, 30))
def test_from_the_last_top_the_rest_just_fills_the_screen(text: str, width: int, height: int) -> None:
    page = lay_out(text)
    total = len(rows_from(page, 0, width, 10**9))
    assert len(rows_from(page, last_top(page, width, height), width, 10**9)) == min(total, height)


@given(LONG, st.data())
def test_lines_and_offsets_lead_to_each_other(text: str, data: st.DataObject) -> None:
    page = lay_out(text)
    offset = data.draw(st.integers(0, len(text)))
    line = text.count("\n", 0, offset) + 1
    assert line_at(page, offset) == line
    assert line_start(page, line) <= offset
    assert text.count("\n", 0, line_start(page, line)) == line - 1


@given(st.integers(2, 40), st.integers(0, 10**6))
def test_one_line_of_five_megabytes_is_wrapped_only_where_somebody_looks(width: int, at: int) -> None:
    wrapped: list[int] = []
    original = layout.wrapped

    def counting(text: str, width: int) -> list[tuple[int, int]]:
        wrapped.append(len(text))
        return original(text, width)

    layout.wrapped = counting  # type: ignore[assignment]
    try:
        rows = rows_from(_ONE_LINE, at, width, 40)
        scrolled(_ONE_LINE, at, width, -40)
    finally:
        layout.wrapped = original  # type: ignore[assignment]
    assert rows[0].start <= at < rows[0].end
    assert sum(wrapped) <= 250 * layout.BLOCK


_ONE_LINE = lay_out("绝对 word, " * 600_000)


def test_a_note_of_seven_megabytes_is_laid_out_at_once() -> None:
    text = "some words of a log, 一行日志\n" * 300_000
    began = time.perf_counter()
    page = lay_out(text)
    rows_from(page, len(text) // 2, 100, 40)
    assert time.perf_counter() - began < 5.0
    assert len(page.lines) == 300_001
