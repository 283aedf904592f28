"""From offsets in a note's text to what a person can look up: lines and pages."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence


def line_range(text: str, start: int, end: int) -> tuple[int, int]:
    """First and last line, 1-based and inclusive, that `text[start:end]` touches.

    A newline belongs to the line it ends, so a span that ends with one does not reach into the next line. An empty
    span lies on the line of its start.
    """
    first = text.count("\n", 0, start) + 1
    return first, first + text.count("\n", start, max(start, end - 1))


def page_of(pages: Sequence[int], start: int) -> int | None:
    """The 1-based page on which offset `start` lies; `pages` are the pages' start offsets. None without pages."""
    return max(1, bisect_right(pages, start)) if pages else None


def line_ranges(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """`line_range` of many spans, with one pass over the text."""
    newlines = [match.start() for match in re.finditer("\n", text)]
    return [(bisect_left(newlines, start) + 1, bisect_left(newlines, max(start, end - 1)) + 1) for start, end in spans]
