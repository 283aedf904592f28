"""How queries are rewritten, chosen for the session. (What is to last goes into the config file.)"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from glassbox_tui.settings import REWRITERS
from glassbox_tui.tui.attempts import NAMES
from glassbox_tui.tui.choosing import Choice, ChooseScreen
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def _choose(app: GlassboxApp) -> None:
    now = app.view.rewriter or "feedback"
    order = [now, *(how for how in REWRITERS if how != now)]
    choices = [Choice(how, say(NAMES[how]), say("in use") if how == now else "") for how in order]

    def chosen(how: str | None) -> None:
        if how is None:
            return
        writer = app.view.answers.writer
        if how != "feedback" and not writer.name and writer.why:
            app.change(replace(app.view, rewriter="feedback"))
            app.tell(say("{} needs a language model: {}. Feedback stays.", how, told(writer.why)))
        else:
            app.change(replace(app.view, rewriter=how))
            app.tell(say("queries are rewritten by {} from now on: {} runs the rounds", how, key_of("run")))

    app.push_screen(ChooseScreen(say("how queries are rewritten"), choices), chosen)


COMMANDS: tuple[Command, ...] = (
    Command(
        "rewriter", "W", "rewriter: how the loop's next query is made, by feedback or by the model", "loop", _choose,
        when=lambda view: not view.offline,
    ),
)  # fmt: skip
