"""The rank flow: a bump chart of one round's stages, for any screen that can show text.

Each row is a rank, each column a stage, each chunk a letter. Chunks that some stage ranks beyond the rows stand in a
band below with their true rank (`k12`); a stage that did not see a chunk has no letter for it. Lines join a chunk's
places in neighbouring stages (a stage that did not run is passed over). So every rank can be read off the text alone;
colour and lines only help the eye.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.text import Text

from glassbox_tui.retrieval.trace import STAGES, Round
from glassbox_tui.views.plain import pad, short_name

LETTERS = string.ascii_lowercase + string.ascii_uppercase
MAX_TOP = 10  # five stages can name at most fifty chunks: a letter each
_SHORT = {"bm25": "bm25", "dense": "dens", "fused": "fuse", "rerank": "rera", "final": "final"}
_GUTTER = 4  # "10 ", ">10"
_MIN_PITCH, _MAX_PITCH = 5, 10

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LIGHT = {3: "│", 12: "─", 9: "╰", 5: "╯", 10: "╭", 6: "╮", 11: "├", 7: "┤", 14: "┬", 13: "┴", 15: "┼"}
_HEAVY = {3: "┃", 12: "━", 9: "┗", 5: "┛", 10: "┏", 6: "┓", 11: "┣", 7: "┫", 14: "┳", 13: "┻", 15: "╋"}
_ASCII = dict.fromkeys(range(16), "+") | {3: "|", 12: "-"}
_ASCII_HEAVY = _ASCII | {3: "#", 12: "="}
_PALETTE = (
    "cyan",
    "green",
    "yellow",
    "magenta",
    "blue",
    "bright_cyan",
    "bright_green",
    "bright_yellow",
    "bright_magenta",
    "bright_blue",
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text of one kind. `role`: head, rank, node, line, name or blank; `chunk` indexes RankFlow.chunks."""

    text: str
    role: str
    chunk: int | None = None


@dataclass(frozen=True, slots=True)
class RankFlow:
    """The drawn picture. `chunks` are the uids of the letters a, b, c, ...: final order first, then the others.

    `top` is how many ranks have a row of their own; `selected` indexes `chunks`; `hidden` counts the places below that
    the height left no room for (the last row's mark is then `>10+`).
    """

    lines: tuple[tuple[Segment, ...], ...]
    chunks: tuple[str, ...]
    top: int
    selected: int | None = None
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class _Node:
    row: int
    mark: str


@dataclass(frozen=True, slots=True)
class _Edge:
    chunk: int
    start: _Node
    end: _Node


def rank_flow(
    round_: Round,
    *,
    width: int = 80,
    height: int | None = None,
    top: int = MAX_TOP,
    selected: str | None = None,
    ascii: bool = False,
) -> RankFlow:
    """Draw a round in `width` cells and at most `height` rows (None: as many as it takes), `top` ranks at most 10.

    A low `height` first takes rows from the band below, those of chunks outside the final list's top first, then
    ranks from the bottom. From 40 columns up every rank shown is legible; below that the right end is cut off.
    """
    ranks = [{c.uid: c.rank for c in stage.candidates} if stage else {} for stage in map(round_.stage, STAGES)]
    longest = max(map(len, ranks))
    if not longest:
        return RankFlow(((Segment("nothing was found"[: max(width, 0)], "head"),),), (), 0)
    rows = None if height is None else max(2, height)
    top = max(1, min(top, MAX_TOP, longest, MAX_TOP if rows is None else rows - 1))
    while True:
        chunks = _chunks(ranks, top)
        columns, band, hidden, missed = _place(ranks, chunks, top, None if rows is None else rows - 1 - top)
        if not missed or top <= 3:
            break
        top -= 1
    return _draw(columns, chunks, top, band, hidden, width, rows, selected, ascii)


def plain_text(flow: RankFlow) -> str:
    """The picture as plain text, no trailing blanks."""
    return "\n".join("".join(s.text for s in segments).rstrip() for segments in flow.lines)


def rich_text(flow: RankFlow) -> Text:
    """The picture in the sixteen terminal colours: a colour a chunk, everything outside the final top dimmed."""
    text = Text(no_wrap=True, overflow="crop")
    for i, segments in enumerate(flow.lines):
        if i:
            text.append("\n")
        for segment in segments:
            text.append(segment.text, _style(flow, segment))
    return text


def _style(flow: RankFlow, segment: Segment) -> str:
    if segment.chunk is None:
        return "" if segment.role == "blank" else "dim"
    if segment.chunk == flow.selected:
        return "bold reverse" if segment.role == "node" else "bold"
    if segment.chunk >= flow.top:
        return "dim"
    colour = _PALETTE[segment.chunk % len(_PALETTE)]
    return f"bold {colour}" if segment.role == "node" else colour


def _chunks(ranks: Sequence[Mapping[str, int]], top: int) -> tuple[str, ...]:
    """The uids that get a letter: the final top in order, then whoever was in the top of another stage."""

    def leading(stage: Mapping[str, int]) -> list[str]:
        return sorted((uid for uid, rank in stage.items() if rank <= top), key=stage.__getitem__)

    found = dict.fromkeys(leading(ranks[-1]))
    others: dict[str, None] = {}
    for stage in reversed(ranks[:-1]):
        others.update(dict.fromkeys(uid for uid in leading(stage) if uid not in found))
    last = ranks[-1]
    rest = sorted(others, key=lambda uid: last.get(uid, len(last) + 1))
    return (*found, *rest)[: len(LETTERS)]


def _place(
    ranks: Sequence[Mapping[str, int]], chunks: Sequence[str], top: int, room: int | None
) -> tuple[list[dict[int, _Node]], int, int, int]:
    """(a {chunk: node} per stage, rows of the band below, places that did not fit, those of the final top among them).

    Row 0 is rank 1.
    """
    in_final = sum(1 for uid in chunks if ranks[-1].get(uid, top + 1) <= top)
    columns: list[dict[int, _Node]] = []
    band = hidden = missed = 0
    for stage in ranks:
        nodes = {i: _Node(stage[uid] - 1, LETTERS[i]) for i, uid in enumerate(chunks) if stage.get(uid, top + 1) <= top}
        below = [(stage[uid], i) for i, uid in enumerate(chunks) if stage.get(uid, 0) > top]
        if room is not None and len(below) > room:
            # Whoever made the final top stays in sight the longest.
            kept = sorted(sorted(below, key=lambda p: (p[1] >= in_final, p[0]))[: max(room, 0)])
            hidden += len(below) - len(kept)
            missed += sum(1 for p in below if p[1] < in_final and p not in kept)
            below = kept
        for offset, (rank, i) in enumerate(sorted(below)):
            nodes[i] = _Node(top + offset, f"{LETTERS[i]}{rank}")
        band = max(band, len(below))
        columns.append(nodes)
    return columns, band, hidden, missed


def _draw(
    columns: Sequence[dict[int, _Node]],
    chunks: tuple[str, ...],
    top: int,
    band: int,
    hidden: int,
    width: int,
    rows: int | None,
    selected_uid: str | None,
    ascii: bool,
) -> RankFlow:
    longest = max((len(n.mark) for nodes in columns for n in nodes.values()), default=1)
    pitch = max(_MIN_PITCH, longest + 2, min(_MAX_PITCH, (width - _GUTTER - 19) // 4))
    xs = [_GUTTER + pitch * i for i in range(len(STAGES))]
    name_at = xs[-1] + max((len(n.mark) for n in columns[-1].values()), default=1) + 1
    grid = _Grid(top + band)
    selected = chunks.index(selected_uid) if selected_uid in chunks else None
    # A stage that did not run is passed over: its column is empty, lines go straight through.
    ran = [i for i, nodes in enumerate(columns) if nodes]
    for i, j in pairwise(ran):
        left, right = columns[i], columns[j]
        both = [_Edge(c, left[c], right[c]) for c in left if c in right]
        # Drawn last is seen best: the others, then from the last of the final list up to the first, then the selected.
        both.sort(key=lambda e: (e.chunk == selected, -e.chunk))
        skip = max((len(n.mark) for n in left.values()), default=1)
        lanes = _lanes(both, pitch - skip)
        for edge in both:
            grid.path(edge, xs[i], xs[j], xs[i] + skip + lanes[edge.chunk], heavy=edge.chunk == selected)
    for x, nodes in zip(xs, columns, strict=True):
        for chunk, node in nodes.items():
            grid.write(node.row, x, node.mark, chunk)
    named = {node.row: chunk for chunk, node in columns[-1].items()}
    light, heavy = (_ASCII, _ASCII_HEAVY) if ascii else (_LIGHT, _HEAVY)
    lines = [_header(xs, pitch)]
    for row in range(top + band):
        more = "+" if hidden and row == top + band - 1 else ""
        gutter = f"{row + 1:>2}  " if row < top else pad(f">{top}{more}", _GUTTER)
        segments = [Segment(gutter, "rank"), *grid.segments(row, _GUTTER, name_at, light, heavy)]
        if row in named:
            room = width - name_at
            segments.append(
                Segment(short_name(chunks[named[row]], room, ellipsis="~" if ascii else "…"), "name", named[row])
            )
        lines.append(tuple(segments))
    lines.extend(_legend(columns, chunks, width, ascii))
    shown = lines if rows is None else lines[:rows]
    return RankFlow(tuple(_crop(segments, width) for segments in shown), chunks, top, selected, hidden)


def _header(xs: Sequence[int], pitch: int) -> tuple[Segment, ...]:
    names = STAGES if pitch > max(map(len, STAGES)) else tuple(_SHORT[s] for s in STAGES)
    text = " " * xs[0] + "".join(pad(name, pitch) for name in names[:-1]) + names[-1]
    return (Segment(text, "head"),)


def _legend(
    columns: Sequence[dict[int, _Node]], chunks: Sequence[str], width: int, ascii: bool
) -> list[tuple[Segment, ...]]:
    """Names of the letters that the final column does not name."""
    rows: list[tuple[Segment, ...]] = []
    for i, uid in enumerate(chunks):
        if i not in columns[-1] and any(i in nodes for nodes in columns):
            name = short_name(uid, width - _GUTTER - 2, ellipsis="~" if ascii else "…")
            rows.append((Segment("  = ", "rank"), Segment(LETTERS[i], "name", i), Segment(f" {name}", "name", i)))
    return rows


def _crop(segments: Sequence[Segment], width: int) -> tuple[Segment, ...]:
    """Cut a line to `width` cells. Only names can hold wide characters, and those are cut to fit already."""
    kept: list[Segment] = []
    used = 0
    for s in segments:
        if used >= width:
            break
        kept.append(s if s.role == "name" else Segment(s.text[: width - used], s.role, s.chunk))
        used += len(s.text)
    return tuple(kept)


def _lanes(edges: Sequence[_Edge], count: int) -> dict[int, int]:
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
    lanes = {e.chunk: 0 for e in edges}
    for e in sorted(moving, key=lambda e: (depth[e.chunk], abs(e.start.row - e.end.row), e.chunk)):
        low, high = sorted((e.start.row, e.end.row))
        earlier = before[e.chunk]
        least = lanes[earlier] + 1 if earlier is not None and depth[earlier] < depth[e.chunk] else 0

        def cost(lane: int, low: int = low, high: int = high, least: int = least) -> tuple[int, int]:
            shared = sum(max(0, min(high, b) - max(low, a) + 1) for a, b in used[lane])
            return shared + (3 if lane < least else 0), lane

        lane = min(range(len(used)), key=cost)
        used[lane].append((low, high))
        lanes[e.chunk] = lane
    return lanes


class _Grid:
    """The drawing area while it is being drawn: per cell which ways lines leave it, or a letter."""

    def __init__(self, rows: int) -> None:
        self._lines: list[dict[int, tuple[int, int, bool]]] = [{} for _ in range(rows)]
        self._text: list[dict[int, tuple[str, int]]] = [{} for _ in range(rows)]

    def path(self, edge: _Edge, left: int, right: int, turn: int, *, heavy: bool) -> None:
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

    def segments(
        self, row: int, start: int, stop: int, light: Mapping[int, str], heavy: Mapping[int, str]
    ) -> list[Segment]:
        """Columns start..stop of a row, neighbours of one kind merged."""
        runs: list[Segment] = []
        for x in range(start, stop):
            if x in self._text[row]:
                char, owner = self._text[row][x]
                cell = Segment(char, "node", owner)
            elif x in self._lines[row]:
                ways, owner, bold = self._lines[row][x]
                cell = Segment((heavy if bold else light)[ways], "line", owner)
            else:
                cell = Segment(" ", "blank")
            if runs and (runs[-1].role, runs[-1].chunk) == (cell.role, cell.chunk):
                runs[-1] = Segment(runs[-1].text + cell.text, cell.role, cell.chunk)
            else:
                runs.append(cell)
        return runs
