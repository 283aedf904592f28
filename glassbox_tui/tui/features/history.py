"""The questions that were run here, with their grades: look, narrow by typing, run again."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from glassbox_tui.tui.cells import short_zero
from glassbox_tui.tui.choosing import Choice, ChooseScreen
from glassbox_tui.tui.commands import MAIN, Command
from glassbox_tui.tui.memory import Asked, recall
from glassbox_tui.tui.replay import refusal
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import level_words

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def choice(entry: Asked) -> Choice:
    """One line: the question; at the right end verdict, probability or coverage, and when, in local time."""
    when = datetime.fromisoformat(entry.when).astimezone().strftime("%Y-%m-%d %H:%M")
    if entry.level:
        return Choice(entry.query, entry.query, f"{level_words(entry.level, entry.probability, say)}  {when}")
    verdict = say("sufficient") if entry.sufficient else say("insufficient")
    share = "  -" if entry.coverage is None else short_zero(f"{entry.coverage:.2f}")
    return Choice(entry.query, entry.query, f"{verdict} {share:>4}  {when}")


def _recall(app: GlassboxApp) -> None:
    if app.where == MAIN and not isinstance(app.screen, ChooseScreen):
        _history(app)


def _history(app: GlassboxApp) -> None:
    if app.view.offline:
        app.tell(refusal())
        return
    if app.session.history is None:
        app.tell(say("no history is kept: the config file or GLASSBOX_HISTORY says so"))
        return
    choices = [choice(entry) for entry in recall(app.session.history)]
    if not choices:
        app.tell(say("the history is empty: it holds the questions that were run with enter"))
        return
    app.push_screen(ChooseScreen(say("history"), choices), lambda query: app.run_query(query) if query else None)


COMMANDS: tuple[Command, ...] = (
    Command("history", "H", "history: questions that were run, with their grades", "search", _history),
    Command("recall", "ctrl+r", "history, also from inside the query box", "search", _recall, priority=True),
)
