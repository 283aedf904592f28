"""All notices in full: the line below the verdict holds only the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.conditions import notices_in_full
from glassbox_tui.tui.sheets import SheetScreen
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def _notices(app: GlassboxApp) -> None:
    app.push_screen(SheetScreen(say("notices"), lambda view, width, height: notices_in_full(view, width)))


COMMANDS: tuple[Command, ...] = (
    Command("notices", "i", "all notices in full: fallbacks, warnings, what lacks", "app", _notices),
)
