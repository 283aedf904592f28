"""The rank flow: a bump chart of one round's stages, for any screen that can show text.

Each row is a rank, each column a stage, each chunk a letter. Chunks that some stage ranks beyond the rows stand in a
band below with their true rank (`k12`); a stage that did not see a chunk has no letter for it. Lines join a chunk's
places in neighbouring stages (one that found nothing is passed over, one that did not run has no column). So every rank
can be read off the text alone; colour and lines only help the eye.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rich.text import Text

from glassbox_tui.retrieval.trace import ALL_STAGES, STAGES, Round
from glassbox_tui.views.colours import Colours, carried
from glassbox_tui.views.look import Look, ellipsis
from glassbox_tui.views.plain import pad, short_name
from glassbox_tui.views.rankflow_grid import Edge, Grid, Node, Segment, lanes

LETTERS = string.ascii_lowercase + string.ascii_uppercase
MAX_TOP = 10  # five stages can name at most fifty chunks: a letter each, and one for the selected
_SHORT = {"bm25": "bm25", "translated": "tran", "dense": "dens", "fused": "fuse", "rerank": "rera", "final": "final"}
_GUTTER = 4  # "10 ", ">10"
_MIN_PITCH, _MAX_PITCH = 5, 10
_NAME = 19  # cells left for the names before the columns spread

_Ranks = Sequence[Mapping[str, int]]  # per stage shown: uid -> rank


@dataclass(frozen=True, slots=True)
class RankFlow:
    """The drawn picture. `chunks` are the uids of the letters a, b, c, ...: final order first, then the others.

    `top` is how many ranks have a row of their own; `selected` indexes `chunks`; `hidden` counts the places below that
    the height left no room for (the last row's mark is then `>10+`). `only`: just the selected chunk's line is drawn.
    """

    lines: tuple[tuple[Segment, ...], ...]
    chunks: tuple[str, ...]
    top: int
    selected: int | None = None
    hidden: int = 0
    only: bool = False
    colours: Colours = field(default_factory=Colours)


@dataclass(frozen=True, slots=True)
class _Box:
    """What the picture has to fit: `rows` None is as many as it takes."""

    width: int
    rows: int | None
    look: Look


@dataclass(frozen=True, slots=True)
class _Places:
    """Who stands where: a {chunk: node} per stage shown, and `band` rows below the `top` ranks; row 0 is rank 1.

    `hidden` places below did not fit, `missed` of them of chunks in the final top.
    """

    chunks: tuple[str, ...]
    columns: tuple[Mapping[int, Node], ...]
    top: int
    band: int
    hidden: int
    missed: int


def rank_flow(
    round_: Round,
    *,
    width: int = 80,
    height: int | None = None,
    top: int = MAX_TOP,
    selected: str | None = None,
    only: bool = False,
    look: Look = "unicode",
    colours: Colours | None = None,
) -> RankFlow:
    """Draw a round in `width` cells and at most `height` rows (None: as many as it takes), `top` ranks at most 10.

    With `only`, the selected chunk's line is the only one; the letters stay, so that every rank can still be read. A
    low `height` first takes rows from the band below, those of chunks outside the final list's top first, then ranks
    from the bottom. From 40 columns up every rank shown is legible; below that the right end is cut off.
    """
    names = [name for name in ALL_STAGES if round_.stage(name) is not None]
    ranks = [{c.uid: c.rank for c in stage.candidates} for stage in map(round_.stage, names) if stage is not None]
    longest = max(map(len, ranks), default=0)
    if not longest:
        return RankFlow(((Segment("nothing was found"[: max(width, 0)], "head"),),), (), 0)
    box = _Box(width, None if height is None else max(2, height), look)
    most = min(MAX_TOP, (len(LETTERS) - 1) // len(names))  # a letter for all that are named, and for the selected
    top = max(1, min(top, most, longest, MAX_TOP if box.rows is None else box.rows - 1))
    places = _place(ranks, top, selected, box.rows)
    while places.missed and places.top > 3:
        places = _place(ranks, places.top - 1, selected, box.rows)
    at = places.chunks.index(selected) if selected in places.chunks else None
    only = only and at is not None
    lines = _draw(names, places, at, only, box)
    own = carried(Colours(), round_) if colours is None else colours
    return RankFlow(lines, places.chunks, places.top, at, places.hidden, only, own)


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
    colour = flow.colours.name(flow.chunks[segment.chunk])
    if segment.chunk == flow.selected:
        # Its own colour still: moving the selection must not recolour anything.
        return f"bold reverse {colour}".rstrip() if segment.role == "node" else f"bold {colour}".rstrip()
    if segment.chunk >= flow.top or not colour:
        return "dim"
    return f"dim {colour}" if flow.only else colour


def _chunks(ranks: _Ranks, top: int, selected: str | None) -> tuple[str, ...]:
    """The uids that get a letter: the final top in order, then whoever was in another stage's top, and the selected."""

    def leading(stage: Mapping[str, int]) -> list[str]:
        return sorted((uid for uid, rank in stage.items() if rank <= top), key=stage.__getitem__)

    found = dict.fromkeys(leading(ranks[-1]))
    others: dict[str, None] = {}
    for stage in reversed(ranks[:-1]):
        others.update(dict.fromkeys(uid for uid in leading(stage) if uid not in found))
    if selected is not None and selected not in found and any(selected in stage for stage in ranks):
        others[selected] = None
    last = ranks[-1]
    rest = sorted(others, key=lambda uid: last.get(uid, len(last) + 1))
    return (*found, *rest)[: len(LETTERS)]


def _place(ranks: _Ranks, top: int, selected: str | None, rows: int | None) -> _Places:
    chunks = _chunks(ranks, top, selected)
    room = None if rows is None else max(0, rows - 1 - top)
    in_final = sum(1 for uid in chunks if ranks[-1].get(uid, top + 1) <= top)
    columns: list[Mapping[int, Node]] = []
    band = hidden = missed = 0
    for stage in ranks:
        nodes = {i: Node(stage[uid] - 1, LETTERS[i]) for i, uid in enumerate(chunks) if stage.get(uid, top + 1) <= top}
        below = [(stage[uid], i) for i, uid in enumerate(chunks) if stage.get(uid, 0) > top]
        if room is not None and len(below) > room:
            # The selected, and whoever made the final top, stay in sight the longest.
            kept = sorted(below, key=lambda p: (chunks[p[1]] != selected, p[1] >= in_final, p[0]))[:room]
            hidden += len(below) - len(kept)
            missed += sum(1 for p in below if p[1] < in_final and p not in kept)
            below = kept
        for offset, (rank, i) in enumerate(sorted(below)):
            nodes[i] = Node(top + offset, f"{LETTERS[i]}{rank}")
        band = max(band, len(below))
        columns.append(nodes)
    return _Places(chunks, tuple(columns), top, band, hidden, missed)


def _draw(
    names: Sequence[str], places: _Places, selected: int | None, only: bool, box: _Box
) -> tuple[tuple[Segment, ...], ...]:
    columns, chunks, top = places.columns, places.chunks, places.top
    longest = max((len(n.mark) for nodes in columns for n in nodes.values()), default=1)
    left = _GUTTER + (1 if places.hidden and top >= MAX_TOP else 0)  # ">10+" must not touch the first mark
    pitch = _pitch(len(columns), longest, box.width - left)
    xs = [left + pitch * i for i in range(len(columns))]
    name_at = xs[-1] + max((len(n.mark) for n in columns[-1].values()), default=1) + 1
    grid = Grid(top + places.band)
    _draw_lines(grid, columns, xs, selected, only)
    for x, nodes in zip(xs, columns, strict=True):
        for chunk, node in nodes.items():
            grid.write(node.row, x, node.mark, chunk)
    named = {node.row: chunk for chunk, node in columns[-1].items()}
    lines = [_header(names, xs, pitch)]
    for row in range(top + places.band):
        more = "+" if places.hidden and row == top + places.band - 1 else ""
        gutter = f"{row + 1:>2}" if row < top else f">{top}{more}"
        segments = [Segment(pad(gutter, left), "rank"), *grid.segments(row, left, name_at, box.look)]
        if row in named:
            name = short_name(chunks[named[row]], box.width - name_at, ellipsis=ellipsis(box.look))
            segments.append(Segment(name, "name", named[row]))
        lines.append(tuple(segments))
    lines.extend(_legend(columns, chunks, box))
    return tuple(_crop(segments, box.width) for segments in lines[: box.rows])


def _pitch(columns: int, longest: int, room: int) -> int:
    """Cells from column to column: wide enough for the longest mark and a lane, and no wider than the names allow."""
    gaps = max(1, columns - 1)
    pitch = max(_MIN_PITCH, longest + 2, min(_MAX_PITCH, (room - _NAME) // gaps))
    return pitch if pitch * gaps + longest <= room else max(_MIN_PITCH, longest + 1)


def _draw_lines(
    grid: Grid, columns: Sequence[Mapping[int, Node]], xs: Sequence[int], selected: int | None, only: bool
) -> None:
    # A stage that found nothing is passed over: its column is empty, lines go straight through.
    filled = [i for i, nodes in enumerate(columns) if nodes]
    for i, j in pairwise(filled):
        left, right = columns[i], columns[j]
        both = [Edge(c, left[c], right[c]) for c in left if c in right and (not only or c == selected)]
        # Drawn last is seen best: the others, then from the last of the final list up to the first, then the selected.
        both.sort(key=lambda e: (e.chunk == selected, -e.chunk))
        skip = max((len(n.mark) for n in left.values()), default=1)
        chosen = lanes(both, xs[j] - xs[i] - skip)
        for edge in both:
            grid.path(edge, xs[i], xs[j], xs[i] + skip + chosen[edge.chunk], heavy=edge.chunk == selected)


def _header(stages: Sequence[str], xs: Sequence[int], pitch: int) -> tuple[Segment, ...]:
    wide = pitch > max(len(s) for s in stages if s in STAGES)
    names = [s if wide and len(s) < pitch else _SHORT[s] for s in stages]
    text = " " * xs[0] + "".join(pad(name, pitch) for name in names[:-1]) + names[-1]
    return (Segment(text, "head"),)


def _legend(columns: Sequence[Mapping[int, Node]], chunks: Sequence[str], box: _Box) -> list[tuple[Segment, ...]]:
    """Names of the letters that the final column does not name."""
    rows: list[tuple[Segment, ...]] = []
    for i, uid in enumerate(chunks):
        if i not in columns[-1] and any(i in nodes for nodes in columns):
            name = short_name(uid, box.width - _GUTTER - 2, ellipsis=ellipsis(box.look))
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
