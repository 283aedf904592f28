"""A sheet over the main screen: lines drawn from the View, to be read and scrolled; it follows the View while open."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Draw, Panel

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


class SheetScreen(ModalScreen[None]):
    """`draw` makes the lines; esc or q leaves."""

    app: GlassboxApp
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
        Binding("pageup,b", "scroll(-10)", show=False),
    ]

    def __init__(self, title: str, draw: Draw) -> None:
        super().__init__()
        self._title, self._draw = title, draw

    def compose(self) -> ComposeResult:
        yield Panel(self._draw, title=self._title, id="sheet", classes="box sheet")

    def on_mount(self) -> None:
        self.show(self.app.view, None)

    def show(self, view: View, before: View | None) -> None:
        """Called by the app at every change of the View."""
        self.query_one("#sheet", Panel).show(view)

    def action_scroll(self, by: int) -> None:
        self.query_one("#sheet", Panel).scroll_by(by)
