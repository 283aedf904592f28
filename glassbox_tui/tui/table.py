"""The hits table as data: which columns fit, and the cells of each row. Pure functions of the View."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from glassbox_tui.retrieval.trace import STAGES, Hit
from glassbox_tui.tui.cells import BAD, DIM, GOOD, HEAD, fit, number
from glassbox_tui.tui.state import View, listed_hits, shown_round, sorted_by
from glassbox_tui.tui.words import say
from glassbox_tui.views.colours import carried
from glassbox_tui.views.look import arrows
from glassbox_tui.views.plain import ABSENT, short_name
from glassbox_tui.views.plain import line as plain
from glassbox_tui.views.ranks import movement, ran, spark

GAP = 1  # cells between columns
SORTED = "*"  # after the name of the column that the table is sorted by
_RANK_WIDTH = 3
_LEAST_NOTE = 4
_LEAST = 3  # cells of a rank, and of a movement, at least: so columns stay where they are while somebody types
_SCORE_WIDTH = {"rank": 0, "score": 6, "both": 8}


@dataclass(frozen=True, slots=True)
class Column:
    """`width` in cells, without the gap that follows. `tail` of them are for the movement after a rank."""

    key: str
    label: str
    width: int
    right: bool = False
    tail: int = 0


def columns(view: View, width: int) -> tuple[Column, ...]:
    """The columns of a table `width` cells wide: numbers first; note and heading share what is left, heading yields.

    A stage that did not run has none.
    """
    now = shown_round(view)
    names = STAGES if now is None else ran(now)
    stages = [_stage_column(view, name, names) for name in names]
    taken = _RANK_WIDTH + GAP + sum(c.width + GAP for c in stages)
    bars = len(names) if width - taken - (len(names) + GAP) > _LEAST_NOTE else 0
    room = width - taken - bars - (GAP if bars else 0)
    heading = (room - GAP) // 2 if room >= 24 else 0
    note = max(_LEAST_NOTE, room - heading - (GAP if heading else 0))
    found = [Column("rank", "#", _RANK_WIDTH, right=True), Column("note", say("note"), note)]
    if heading:
        found.append(Column("heading", say("heading"), heading))
    found += stages
    return (*found, Column("spark", "", bars)) if bars else tuple(found)


def _stage_column(view: View, name: str, stages: Sequence[str]) -> Column:
    hits = listed_hits(view)
    shown = name + SORTED if name == sorted_by(view) else name
    if view.columns != "rank":
        longest = max((len(_numbers(view.columns, hit, name)) for hit in hits), default=0)
        return Column(name, shown, max(_SCORE_WIDTH[view.columns], len(shown), longest), right=True)
    digits = max((len(str(place.rank)) for hit in hits if (place := hit.stages.get(name))), default=0)
    tail = max((len(movement(hit, name, stages, view.look)) for hit in hits), default=0)
    tail = max(tail, _LEAST) if name != stages[0] else 0  # nothing is before the first stage
    return Column(name, shown, max(len(shown), _LEAST + tail, digits + tail), right=True, tail=tail)


def label(column: Column) -> Text:
    """The head of a column; where movements follow the ranks, in the middle of the two."""
    name = f"{column.label:^{column.width}}" if column.tail else column.label
    return Text(fit(name, column.width, right=column.right), HEAD)


def rows(view: View, shape: tuple[Column, ...]) -> list[tuple[Text, ...]]:
    """One row of cells per hit of the shown round, in the order of the table, each cell as wide as its column."""
    now = shown_round(view)
    if now is None:
        return []
    ranks = {hit.uid: rank for rank, hit in enumerate(now.hits, 1)}
    colours = carried(view.colours, now)
    return [
        tuple(_cell(view, ranks[hit.uid], colours.name(hit.uid), ran(now), hit, column) for column in shape)
        for hit in listed_hits(view)
    ]


def _cell(view: View, rank: int, colour: str, stages: Sequence[str], hit: Hit, column: Column) -> Text:
    match column.key:
        case "rank":
            return Text(fit(str(rank), column.width, right=True), colour)
        case "note":
            return Text(fit(short_name(hit.uid, column.width, ellipsis="~"), column.width))
        case "heading":
            return Text(fit(plain(hit.heading[-1]) if hit.heading else ABSENT, column.width), DIM)
        case "spark":
            return Text(spark(hit, stages, view.look))
        case _:
            return _stage_cell(view, stages, hit, column)


def _stage_cell(view: View, stages: Sequence[str], hit: Hit, column: Column) -> Text:
    place = hit.stages.get(column.key)
    ahead = column.width - column.tail
    if place is None:
        return Text(fit(ABSENT, ahead, right=True) + " " * column.tail, DIM)
    if view.columns != "rank":
        return Text(fit(_numbers(view.columns, hit, column.key), column.width, right=True))
    moved = movement(hit, column.key, stages, view.look)
    rose = moved.startswith(arrows(view.look)[0])
    return Text(fit(str(place.rank), ahead, right=True)).append(fit(moved, column.tail), GOOD if rose else BAD)


def _numbers(mode: str, hit: Hit, stage: str) -> str:
    """The score, or rank and score."""
    place = hit.stages.get(stage)
    if place is None:
        return ABSENT
    score = number(place.score)
    return score if mode == "score" else f"{place.rank} {score:>5}"
