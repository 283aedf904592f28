"""The palette: every command by its title, found by typing any of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassbox_tui.tui import registry
from glassbox_tui.tui.choosing import Choice, ChooseScreen
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def open_palette(app: GlassboxApp) -> None:
    """Choose a command, then run it as if its key had been pressed."""
    choices = [
        Choice(c.id, say(c.title), say(c.group), key_of(c.id))
        for c in registry.useful(app.view, app.where)
        if c.id != "palette"
    ]
    app.push_screen(ChooseScreen(say("commands"), choices), lambda id: app.action_do(id) if id else None)
