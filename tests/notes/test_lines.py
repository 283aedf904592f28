"""Offsets to lines and pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.notes.lines import line_range, page_of


def test_spans_of_a_small_note() -> None:
    text = "one\ntwo\n\nfour"
    assert line_range(text, 0, 3) == (1, 1)
    assert line_range(text, 0, 4) == (1, 1)  # the newline belongs to its line
    assert line_range(text, 0, 5) == (1, 2)
    assert line_range(text, 4, 9) == (2, 3)
    assert line_range(text, 9, 13) == (4, 4)
    assert line_range(text, 13, 13) == (4, 4)
    assert line_range("", 0, 0) == (1, 1)


@given(st.text(alphabet="ab\n", min_size=1), st.data())
def test_lines_are_those_an_editor_would_show(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    line_of = []
    for number, line in enumerate(text.split("\n"), 1):
        line_of += [number] * (len(line) + 1)
    assert line_range(text, start, end) == (line_of[start], line_of[end - 1])


def test_pages() -> None:
    assert page_of((), 5) is None
    assert [page_of((0, 10, 10, 25), at) for at in (0, 9, 10, 24, 25, 999)] == [1, 1, 3, 3, 4, 4]
