"""The program's invariants, checked from inside the app; they go on while one does something else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from glassbox_tui.tui import checks
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.messages import RunSelftest
from glassbox_tui.tui.sheets import SheetScreen
from glassbox_tui.tui.state import View
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


class SelftestScreen(SheetScreen):
    """The checks by group, the selected one's comparison below. A finished run is begun anew with r."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("pagedown,space", "move(10)", show=False),
        Binding("pageup,b", "move(-10)", show=False),
        Binding("r", "again", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(say("selftest"), _draw)

    def action_move(self, by: int) -> None:
        view = self.app.view
        self.app.change(replace(view, selftest=checks.moved(view.selftest, by)))

    def action_again(self) -> None:
        if not self.app.view.selftest.running:
            begin(self.app)


def _draw(view: View, width: int, height: int) -> list[Text]:
    return checks.lines(view.selftest, width, height, ascii=view.look != "unicode")


def begin(app: GlassboxApp) -> None:
    """Start a run; what the one before found is gone."""
    state = checks.begun(app.view.selftest)
    app.change(replace(app.view, selftest=state))
    app.send(RunSelftest(state.run))


def _selftest(app: GlassboxApp) -> None:
    if not app.view.selftest.run and not app.view.offline:
        begin(app)
    app.push_screen(SelftestScreen())


COMMANDS: tuple[Command, ...] = (
    Command("selftest", "T", "selftest: check the program's invariants here", "app", _selftest),
)
