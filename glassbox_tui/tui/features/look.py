"""Language and colours, changed while the app runs and kept, unless the config file or the environment says another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassbox_tui.tui import session, themes
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
    session.choose_look(app.session, language=spoken())


def _theme(app: GlassboxApp) -> None:
    choices = [Choice(name, say(_SAID[name]), name) for name in themes.NAMES]

    def use(name: str | None) -> None:
        if name:
            app.use_theme(name)
            session.choose_look(app.session, theme=name)

    app.push_screen(ChooseScreen(say("theme"), choices), use)


COMMANDS: tuple[Command, ...] = (
    Command("language", "L", "language: English or Chinese", "app", _language),
    Command("theme", "C", "theme: the colours of the app", "app", _theme),
)
