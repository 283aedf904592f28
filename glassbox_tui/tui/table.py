"""The hits table as data: which columns fit, and the cells of each row. Pure functions of the View."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from rich.text import Text

from glassbox_tui.retrieval.trace import STAGES, Hit
from glassbox_tui.tui.cells import BAD, DIM, GOOD, HEAD, fit, number, spark
from glassbox_tui.tui.state import View, shown_round
from glassbox_tui.views.plain import line as plain

GAP = 1  # cells between columns
_STAGE_WIDTH = {"rank": 6, "score": 6, "both": 9}


@dataclass(frozen=True, slots=True)
class Column:
    """`width` in cells, without the gap that follows."""

    key: str
    label: str
    width: int
    right: bool = False


def columns(mode: str, width: int) -> tuple[Column, ...]:
    """The columns of a table `width` cells wide: numbers first; note and heading share what is left, heading yields."""
    stage = _STAGE_WIDTH[mode]
    fixed = (3 + GAP) + len(STAGES) * (stage + GAP) + len(STAGES)
    room = width - fixed - GAP
    heading = (room - GAP) // 2 if room >= 24 else 0
    note = max(8, room - heading - (GAP if heading else 0))
    names = [Column("rank", "#", 3, right=True), Column("note", "note", note)]
    if heading:
        names.append(Column("heading", "heading", heading))
    stages = [Column(name, name, stage, right=True) for name in STAGES]
    return (*names, *stages, Column("spark", "", len(STAGES)))


def label(column: Column) -> Text:
    # In rank mode a stage's digits stand in the middle of its column, the movement after them: so does its name.
    middle = column.key in STAGES and column.width == _STAGE_WIDTH["rank"]
    return Text(fit(f"{column.label:^6}" if middle else column.label, column.width, right=column.right), HEAD)


def rows(view: View, shape: tuple[Column, ...]) -> list[tuple[Text, ...]]:
    """One row of cells per hit of the shown round, each cell exactly as wide as its column."""
    now = shown_round(view)
    if now is None:
        return []
    return [tuple(_cell(view, rank, hit, column) for column in shape) for rank, hit in enumerate(now.hits, 1)]


def _cell(view: View, rank: int, hit: Hit, column: Column) -> Text:
    if column.key in STAGES:
        return _stage_cell(view.columns, hit, column)
    if column.key == "rank":
        return Text(fit(str(rank), column.width, right=True))
    if column.key == "note":
        return Text(fit(plain(PurePosixPath(hit.path).name), column.width))
    if column.key == "heading":
        return Text(fit(plain(hit.heading[-1]) if hit.heading else "-", column.width), DIM)
    ranks = tuple(None if (p := hit.stages.get(name)) is None else p.rank for name in STAGES)
    return Text(spark(ranks, ascii=view.ascii))


def _stage_cell(mode: str, hit: Hit, column: Column) -> Text:
    place = hit.stages.get(column.key)
    if place is None:
        return Text(fit("-", column.width, right=True), DIM)
    if mode == "score":
        return Text(fit(number(place.score), column.width, right=True))
    if mode == "both":
        return Text(fit(f"{place.rank} {number(place.score):>5}", column.width, right=True))
    moved = movement(hit, column.key)
    rank = str(place.rank)
    if not moved or len(rank) + len(moved) > column.width:
        return Text(fit(rank + "   ", column.width, right=True))
    moved = f"{moved:<3}"
    return Text(fit(rank, column.width - len(moved), right=True)).append(moved, GOOD if moved[0] == "+" else BAD)


def movement(hit: Hit, stage: str) -> str:
    """How many ranks the hit rose (+) or fell (-) against the stage before; "" when it stayed or was absent there."""
    at = STAGES.index(stage)
    before, now = (hit.stages.get(STAGES[at - 1]) if at else None), hit.stages.get(stage)
    if before is None or now is None or before.rank == now.rank:
        return ""
    return f"{before.rank - now.rank:+d}"
