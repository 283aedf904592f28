"""All commands, collected from the feature modules; bindings, help, hints and palette are made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.binding import Binding

from glassbox_tui.tui import keys
from glassbox_tui.tui.commands import MAIN, Command
from glassbox_tui.tui.features import (
    answers,
    browser,
    copy,
    core,
    export,
    folders,
    history,
    living,
    look,
    loop,
    models,
    notices,
    reader,
    replay,
    rewriter,
    selftest,
    table,
)
from glassbox_tui.tui.messages import Event
from glassbox_tui.tui.state import View

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp

_FEATURES = (
    *core.COMMANDS,
    *reader.COMMANDS,
    *table.COMMANDS,
    *loop.COMMANDS,
    *rewriter.COMMANDS,
    *answers.COMMANDS,
    *copy.COMMANDS,
    *export.COMMANDS,
    *history.COMMANDS,
    *browser.COMMANDS,
    *folders.COMMANDS,
    *living.COMMANDS,
    *notices.COMMANDS,
    *models.COMMANDS,
    *selftest.COMMANDS,
    *replay.COMMANDS,
    *look.COMMANDS,
)
# Help and palette begin with what is needed first, and keep what is of one group together, in the features' order.
_GROUPS = list(dict.fromkeys(("search", "hits", "note", "loop", "stepping", *(c.group for c in _FEATURES))))

COMMANDS: tuple[Command, ...] = tuple(sorted(_FEATURES, key=lambda command: _GROUPS.index(command.group)))

# Features that act on what the workers tell, beyond what it does to the View.
LISTENERS: tuple[Callable[[GlassboxApp, Event], None], ...] = (
    *(browser.heard, folders.heard, living.heard, models.heard),
    reader.look_again,
)

_BY_ID = {command.id: command for command in COMMANDS}
keys.register((command.id, command.keys) for command in COMMANDS)


def command(id: str) -> Command:
    return _BY_ID[id]


def bindings(*, priority: bool, where: str = MAIN) -> list[Binding]:
    """The bindings of a screen's commands on their own keys; the app's keymap moves them to others by their ids."""
    return [
        Binding(c.keys, f"app.do('{c.id}')", c.title, id=c.id, show=False, priority=priority)
        for c in COMMANDS
        if c.keys and c.priority == priority and where in c.where
    ]


def useful(view: View, where: str = MAIN) -> list[Command]:
    """The commands that can do something now on that screen."""
    return [c for c in COMMANDS if where in c.where and c.when(view)]
