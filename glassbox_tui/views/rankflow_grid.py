"""The lines of the rank flow: which lane each takes between two columns, and the cells they and the letters fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import or_

from glassbox_tui.views.look import Look

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LIGHT = {3: "│", 12: "─", 9: "╰", 5: "╯", 10: "╭", 6: "╮", 11: "├", 7: "┤", 14: "┬", 13: "┴", 15: "┼"}
_HEAVY = {3: "┃", 12: "━", 9: "┗", 5: "┛", 10: "┏", 6: "┓", 11: "┣", 7: "┫", 14: "┳", 13: "┻", 15: "╋"}
_ASCII = dict.fromkeys(range(16), "+") | {3: "|", 12: "-"}
_ASCII_HEAVY = _ASCII | {3: "#", 12: "="}


def _braille(arms: Mapping[int, int]) -> dict[int, str]:
    """A character for each set of ways: the dots of its arms together (U+2800 + dots, one bit a dot)."""
    return {ways: chr(0x2800 | reduce(or_, (arms[w] for w in arms if ways & w))) for ways in range(1, 16)}


# Dots 1 2 3 7 stand in the left column from top to bottom, 4 5 6 8 in the right one. A light line is one dot thick (the
# left column, the second row), a heavy one two.
_BRAILLE = _braille({_UP: 0x03, _DOWN: 0x46, _LEFT: 0x02, _RIGHT: 0x12})
_BRAILLE_HEAVY = _braille({_UP: 0x1B, _DOWN: 0xF6, _LEFT: 0x36, _RIGHT: 0x36})
_LINES: Mapping[Look, tuple[Mapping[int, str], Mapping[int, str]]] = {
    "unicode": (_LIGHT, _HEAVY),
    "wide": (_BRAILLE, _BRAILLE_HEAVY),
    "ascii": (_ASCII, _ASCII_HEAVY),
}


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text of one kind. `role`: head, rank, node, line, name or blank; `chunk` indexes RankFlow.chunks."""

    text: str
    role: str
    chunk: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A chunk's place in one column of the picture."""

    row: int
    mark: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from a chunk's place in one column to its place in a later one."""

    chunk: int
    start: Node
    end: Node


def lanes(edges: Sequence[Edge], count: int) -> dict[int, int]:
    """A lane (0 is leftmost) for each edge that changes rows, so that lines share as little as they can.

    Channel routing: where one line leaves a row and another arrives at it, the leaving one should turn first; two lines
    may share a lane if their rows do not meet. Cycles (two chunks swap) cannot be satisfied; letters settle those.
    """
    moving = [e for e in edges if e.start.row != e.end.row]
    leaves = {e.start.row: e.chunk for e in moving}
    before = {e.chunk: leaves.get(e.end.row) for e in moving}  # whoever leaves the row I arrive at turns before me
    depth: dict[int, int] = {}
    for e in moving:
        seen = [e.chunk]
        while (earlier := before[seen[-1]]) is not None and earlier not in seen and earlier not in depth:
            seen.append(earlier)
        base = depth[earlier] + 1 if earlier is not None and earlier in depth else 0
        for steps, chunk in enumerate(reversed(seen)):
            depth[chunk] = base + steps
    used: list[list[tuple[int, int]]] = [[] for _ in range(max(count, 1))]
    chosen = {e.chunk: 0 for e in edges}
    for e in sorted(moving, key=lambda e: (depth[e.chunk], abs(e.start.row - e.end.row), e.chunk)):
        low, high = sorted((e.start.row, e.end.row))
        earlier = before[e.chunk]
        least = chosen[earlier] + 1 if earlier is not None and depth[earlier] < depth[e.chunk] else 0

        def cost(lane: int, low: int = low, high: int = high, least: int = least) -> tuple[int, int]:
            shared = sum(max(0, min(high, b) - max(low, a) + 1) for a, b in used[lane])
            return shared + (3 if lane < least else 0), lane

        lane = min(range(len(used)), key=cost)
        used[lane].append((low, high))
        chosen[e.chunk] = lane
    return chosen


class Grid:
    """The drawing area while it is being drawn: per cell which ways lines leave it, or a letter."""

    def __init__(self, rows: int) -> None:
        self._lines: list[dict[int, tuple[int, int, bool]]] = [{} for _ in range(rows)]
        self._text: list[dict[int, tuple[str, int]]] = [{} for _ in range(rows)]

    def path(self, edge: Edge, left: int, right: int, turn: int, *, heavy: bool) -> None:
        """Join two nodes: along the first row to column `turn`, up or down, along the second row."""
        a, b = edge.start.row, edge.end.row
        begin = left + len(edge.start.mark)
        if a == b:
            for x in range(begin, right):
                self._add(a, x, _LEFT | _RIGHT, edge.chunk, heavy)
            return
        down = b > a
        for x in range(begin, turn):
            self._add(a, x, _LEFT | _RIGHT, edge.chunk, heavy)
        self._add(a, turn, _LEFT | (_DOWN if down else _UP), edge.chunk, heavy)
        for y in range(min(a, b) + 1, max(a, b)):
            self._add(y, turn, _UP | _DOWN, edge.chunk, heavy)
        self._add(b, turn, _RIGHT | (_UP if down else _DOWN), edge.chunk, heavy)
        for x in range(turn + 1, right):
            self._add(b, x, _LEFT | _RIGHT, edge.chunk, heavy)

    def _add(self, row: int, x: int, ways: int, chunk: int, heavy: bool) -> None:
        old, _, _ = self._lines[row].get(x, (0, 0, False))
        # A selected line keeps its own shape through crossings, so that the eye can follow it.
        self._lines[row][x] = (ways if heavy else old | ways, chunk, heavy)

    def write(self, row: int, x: int, text: str, chunk: int) -> None:
        for i, char in enumerate(text):
            self._text[row][x + i] = (char, chunk)

    def segments(self, row: int, start: int, stop: int, look: Look) -> list[Segment]:
        """Columns start..stop of a row, neighbours of one kind merged."""
        cells = [self._cell(row, x, look) for x in range(start, stop)]
        return [
            Segment("".join(cell.text for cell in run), role, chunk)
            for (role, chunk), run in groupby(cells, key=lambda cell: (cell.role, cell.chunk))
        ]

    def _cell(self, row: int, x: int, look: Look) -> Segment:
        if x in self._text[row]:
            char, owner = self._text[row][x]
            return Segment(char, "node", owner)
        if x in self._lines[row]:
            ways, owner, heavy = self._lines[row][x]
            return Segment(_LINES[look][heavy][ways], "line", owner)
        return Segment(" ", "blank")
