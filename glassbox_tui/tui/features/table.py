"""How the table and the rank flow show the hits: ranks or scores, in whose order, all lines or one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from glassbox_tui.tui import state
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def has_hits(view: View) -> bool:
    return bool(state.listed_hits(view))


def _columns(app: GlassboxApp) -> None:
    app.change(state.next_columns(app.view))


def _sort(app: GlassboxApp, by: int) -> None:
    app.change(state.step_sort(app.view, by))
    app.tell(say("the table is sorted by {}", state.sorted_by(app.view)))


def _only(app: GlassboxApp) -> None:
    app.change(replace(app.view, only=not app.view.only))
    app.tell(say("rank flow: the selected chunk alone") if app.view.only else say("rank flow: all lines"))


COMMANDS: tuple[Command, ...] = (
    Command("columns", "v", "table: ranks, scores, both", "hits", _columns, "scores", has_hits),
    Command(
        "sort_before", "less_than_sign", "sort the table by the stage before", "hits", partial(_sort, by=-1), "sort",
        has_hits,
    ),
    Command(
        "sort_next", "greater_than_sign", "sort the table by the next stage (* marks it)", "hits",
        partial(_sort, by=1), when=has_hits,
    ),
    Command("only", "f", "rank flow: all lines, or the selected chunk's alone", "hits", _only, "flow", has_hits),
)  # fmt: skip
