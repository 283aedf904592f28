"""Open a saved Trace in the running app: its rounds and panels take the place of the last search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from glassbox_tui.tui import state
from glassbox_tui.tui.choosing import EditScreen
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.replay import ReplayError, read_trace
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def _open(app: GlassboxApp) -> None:
    app.push_screen(EditScreen(say("open a saved trace: its file")), lambda name: _show(app, name) if name else None)


def _show(app: GlassboxApp, name: str) -> None:
    try:
        trace = read_trace(Path(name.strip()).expanduser())
    except (ReplayError, RuntimeError) as error:  # RuntimeError: ~name of nobody
        app.tell(str(error))
        return
    app.change(state.replayed(app.view, trace))
    app.put_query(trace.query)
    app.tell(say("this is {}, as it was saved; typing searches the notes again", name.strip()))


COMMANDS: tuple[Command, ...] = (Command("open_trace", "O", "open a saved trace (JSON)", "app", _open),)
