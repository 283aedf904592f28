"""A long text laid out in rows of terminal cells, only where somebody looks.

The text is cut once into units: its lines, and lines of more than `BLOCK` characters into blocks. A unit is wrapped by
itself, so a place in the text (an offset) leads to its row without laying out what is before it, in a note of many
megabytes as in one line of them. Rows are spans of the text: what they are drawn as is the caller's affair.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import get_character_cell_size
from rich.text import Text

from glassbox_tui.text.normalize import visible

BLOCK = 2_000  # characters; the longest stretch that is ever wrapped at once
_BREAK = re.compile(r"[ \t\u3000]")
_MOST_LOOKED_BACK = 40  # characters; no break there: a word is cut

_Place = tuple[int, int]  # a unit, and a row of it


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """`units[i]` is where unit i starts, `lines[i]` where line i + 1 does; both hold 0 and rise."""

    text: str
    units: Sequence[int]
    lines: Sequence[int]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen: text[start:end]. `line` is its 1-based number where a line begins here, else None."""

    start: int
    end: int
    line: int | None


def lay_out(text: str) -> Layout:
    """The units of `text`. Takes time in proportion to its lines, some 30 ms for 200,000 of them."""
    lines = array("q", [0])
    lines.extend(match.end() for match in re.finditer("\n", text))
    units: array[int] | Sequence[int] = lines
    ends = [*lines[1:], len(text) + 1]
    if any(end - start > BLOCK for start, end in zip(lines, ends, strict=True)):
        units = array("q", (at for start, end in zip(lines, ends, strict=True) for at in _blocks(text, start, end)))
    return Layout(text, units, lines)


def _blocks(text: str, start: int, end: int) -> Iterator[int]:
    yield start
    while end - start > BLOCK:
        stop = start + BLOCK
        blank = max(text.rfind(" ", stop - 200, stop), text.rfind("\u3000", stop - 200, stop))
        start = blank + 1 if blank > 0 else stop
        yield start


def line_at(layout: Layout, offset: int) -> int:
    """The 1-based line on which `offset` lies."""
    return bisect_right(layout.lines, max(0, offset))


def line_start(layout: Layout, line: int) -> int:
    """Where a 1-based line starts; the nearest line there is for one that is not."""
    return layout.lines[min(max(1, line), len(layout.lines)) - 1]


def rows_from(layout: Layout, top: int, width: int, count: int) -> list[Row]:
    """At most `count` rows of `width` cells, the first the one that holds offset `top`."""
    unit, skip = _place(layout, top, width)
    rows: list[Row] = []
    while unit < len(layout.units) and len(rows) < count:
        for at, (start, end) in enumerate(_rows_of(layout, unit, width)):
            if at >= skip and len(rows) < count:
                rows.append(Row(start, end, _line_number(layout, start) if at == 0 else None))
        unit, skip = unit + 1, 0
    return rows


def scrolled(layout: Layout, top: int, width: int, by: int) -> int:
    """The offset of the row that stands `by` rows below (above, if negative) the one that holds `top`; clamped."""
    unit, row = _place(layout, top, width)
    row += by
    while row < 0 and unit > 0:
        unit -= 1
        row += len(_rows_of(layout, unit, width))
    while row >= (count := len(_rows_of(layout, unit, width))):
        if unit == len(layout.units) - 1:
            row = count - 1
        else:
            row -= count
            unit += 1
    return _rows_of(layout, unit, width)[max(0, row)][0]


def last_top(layout: Layout, width: int, height: int) -> int:
    """The offset from which the rest of the text just fills `height` rows."""
    return scrolled(layout, len(layout.text), width, 1 - max(1, height))


def _place(layout: Layout, offset: int, width: int) -> _Place:
    unit = max(0, bisect_right(layout.units, max(0, offset)) - 1)
    rows = _rows_of(layout, unit, width)
    return unit, max(0, bisect_right([start for start, _ in rows], offset) - 1)


def _line_number(layout: Layout, start: int) -> int | None:
    at = bisect_left(layout.lines, start)
    return at + 1 if at < len(layout.lines) and layout.lines[at] == start else None


def _rows_of(layout: Layout, unit: int, width: int) -> list[tuple[int, int]]:
    """The spans of the rows of one unit; an empty line has one empty row."""
    start = layout.units[unit]
    last = unit + 1 == len(layout.units)
    end = len(layout.text) if last else layout.units[unit + 1]
    if end > start and layout.text[end - 1] == "\n":
        end -= 1
    return [(start + a, start + b) for a, b in wrapped(layout.text[start:end], width)]


def wrapped(text: str, width: int) -> list[tuple[int, int]]:
    """`text` (one line) as spans of at most `width` cells, broken after blanks where there are any; they cover it.

    A blank that ends a row does not count: it may stand past the edge, where nobody draws it.
    """
    shown = visible(text, keep_newlines=False)
    width = max(2, width)
    if shown.isascii() and len(shown) <= width:
        return [(0, len(text))]
    narrow = shown.isascii()
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(shown):
        end = min(start + width, len(shown)) if narrow else _fitting(shown, start, width)
        if end < len(shown):
            end = _break_before(shown, start, end)
        spans.append((start, end))
        start = end
    return spans or [(0, 0)]


def soft_wrap(text: Text, width: int) -> list[Text]:
    """One line of styled text as rows of at most `width` cells; Chinese is broken anywhere, words at blanks."""
    rows = [text[a:b] if b > a else Text() for a, b in wrapped(text.plain, width)]
    for row in rows:
        if row.cell_len > width:
            row.rstrip()
    return rows


def _fitting(shown: str, start: int, width: int) -> int:
    """Where `width` cells from `start` are full. Marks of no width stay with the character before them."""
    used, at = 0, start
    while at < len(shown):
        used += get_character_cell_size(shown[at])
        if used > width:
            break
        at += 1
    return max(at, start + 1)


def _break_before(shown: str, start: int, end: int) -> int:
    """The last place in (start, end] where a row may end: after a blank, or beside a wide character."""
    if _BREAK.match(shown[end]):
        return end + 1
    for at in range(end, max(start, end - _MOST_LOOKED_BACK), -1):
        if _BREAK.match(shown[at - 1]):
            return at
        if get_character_cell_size(shown[at - 1]) == 2 or get_character_cell_size(shown[at]) == 2:
            return at
    return end
