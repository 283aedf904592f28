"""The query, the selection, the rounds, the panels, and the way out."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from glassbox_tui.tui import state
from glassbox_tui.tui.commands import BROWSER, MAIN, MODELS, Command
from glassbox_tui.tui.features import answers, loop
from glassbox_tui.tui.features.reader import has_sources, step_source
from glassbox_tui.tui.messages import Refresh
from glassbox_tui.tui.state import PANELS, View
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def has_query(view: View) -> bool:
    return bool(view.query.strip())


def can_run(view: View) -> bool:
    """Enter does something for the query on screen: its rounds have not run yet, or they wait."""
    return has_query(view) and (view.typing or not view.rounds or bool(view.failure) or loop.waits(view))


def has_hits(view: View) -> bool:
    return bool(state.listed_hits(view))


def has_rounds(view: View) -> bool:
    return view.trace is not None and len(view.trace.rounds) > 1


def _answered(view: View, name: str) -> str:
    """There is an answer, on a panel that is not the one on show."""
    if name != "answer" or view.reply is None or view.panel == name:
        return ""
    return "answer" if state.being_written(view) is None else "writing"


def _query(app: GlassboxApp) -> None:
    app.focus_query()


def _leave(app: GlassboxApp) -> None:
    if app.focused is None and state.being_written(app.view) is not None:
        answers.stop(app)  # what else would the key be meant for
    app.leave_query()


def _run(app: GlassboxApp) -> None:
    if app.focused is None and has_sources(app.view):
        app.action_do("read")  # on the answer's panel, enter follows the citation
        return
    if app.focused is None and app.typed == app.view.query and answers.refuses_to_run(app):
        return
    query = app.typed
    if query.strip():
        in_box = app.focused is not None
        app.leave_query()
        if not loop.entered(app, query, in_box=in_box):
            app.search(query, rounds=True)


def _refresh(app: GlassboxApp) -> None:
    app.send(Refresh())
    app.tell(say("the notes folder is read again"))


def _move(app: GlassboxApp, by: int) -> None:
    if step_source(app, by):
        return
    app.change(state.select(app.view, state.selected_index(app.view) + by))


def _to(app: GlassboxApp, index: int) -> None:
    app.change(state.select(app.view, index))


def _round(app: GlassboxApp, by: int) -> None:
    app.change(state.step_round(app.view, by))


def _panel(app: GlassboxApp, name: str) -> None:
    app.change(state.on_panel(app.view, name))


def _alone(app: GlassboxApp) -> None:
    app.change(state.toggle_alone(app.view))


def _scroll(app: GlassboxApp, direction: int) -> None:
    app.scroll_panel(direction)


def _help(app: GlassboxApp) -> None:
    from glassbox_tui.tui.screens import HelpScreen

    app.push_screen(HelpScreen(app.where))


def _palette(app: GlassboxApp) -> None:
    from glassbox_tui.tui.palette import open_palette

    open_palette(app)


def _quit(app: GlassboxApp) -> None:
    app.exit()


COMMANDS: tuple[Command, ...] = (
    Command("query", "slash", "go into the query box; every keystroke searches", "search", _query, "query"),
    Command("leave", "escape", "leave the query box, so that the letter keys act", "search", _leave),
    Command(
        "run", "enter", "run everything: rewrite rounds, then the answer", "search", _run, "run", can_run,
        urgent=lambda view: "run" if loop.waits(view) else "",
    ),
    Command(
        "down", "j,down", "next hit (the arrows also work inside the query box)", "hits", partial(_move, by=1), "move",
        has_hits,
    ),
    Command("up", "k,up", "hit before", "hits", partial(_move, by=-1)),
    Command("top", "g,home", "first hit", "hits", partial(_to, index=0)),
    Command("bottom", "G,end", "last hit", "hits", partial(_to, index=sys.maxsize)),
    Command(
        "round_before", "left_square_bracket", "round before: every panel shows it", "loop", partial(_round, by=-1),
        "rounds", has_rounds, urgent=lambda view: "rounds",
    ),
    Command("round_next", "right_square_bracket", "next round", "loop", partial(_round, by=1), when=has_rounds),
    *(
        Command(
            f"panel_{name}", str(i), f"panel: {name}", "panels", partial(_panel, name=name),
            urgent=partial(_answered, name=name),
        )
        for i, name in enumerate(PANELS, 1)
    ),
    Command("alone", "z", "the panel alone on the screen, or all of them", "panels", _alone),
    Command("page_down", "pagedown,space", "scroll the panel down", "panels", partial(_scroll, direction=1)),
    Command("page_up", "pageup,b", "scroll the panel up", "panels", partial(_scroll, direction=-1)),
    Command("refresh", "r", "read the notes folder again", "notes", _refresh, where=(MAIN, BROWSER)),
    Command("palette", "colon,ctrl+p", "all commands by name", "app", _palette, "commands",
            where=(MAIN, BROWSER, MODELS)),
    Command("help", "question_mark", "this help", "app", _help, "help", where=(MAIN, BROWSER, MODELS)),
    Command("quit", "q", "quit (ctrl+c quits from anywhere)", "app", _quit, "quit"),
)  # fmt: skip
