"""Language and colours, changed while the app runs. (What is to last goes into the config file.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassbox_tui.tui import themes
from glassbox_tui.tui.choosing import Choice, ChooseScreen
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.words import LANGUAGES, say, speak, spoken

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp

_SAID = {
    "terminal": "the terminal's own colours",
    "16": "sixteen colours, white on black",
    "mono": "no colour at all",
    "dark": "truecolour, dark",
    "light": "truecolour, light",
}


def _language(app: GlassboxApp) -> None:
    speak(LANGUAGES[(LANGUAGES.index(spoken()) + 1) % len(LANGUAGES)])
    app.redraw()


def _theme(app: GlassboxApp) -> None:
    choices = [Choice(name, say(_SAID[name]), name) for name in themes.NAMES]
    app.push_screen(ChooseScreen(say("theme"), choices), lambda name: app.use_theme(name) if name else None)


COMMANDS: tuple[Command, ...] = (
    Command("language", "L", "language: English or Chinese", "app", _language),
    Command("theme", "C", "theme: the colours of the app", "app", _theme),
)
