"""The models screen: draws `view.models` and passes on its keys, which are commands (features/models.py)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen

from glassbox_tui.tui import lines, modellines, registry
from glassbox_tui.tui.commands import MODELS
from glassbox_tui.tui.hints import hints
from glassbox_tui.tui.screens import SMALLEST
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


class ModelScreen(Screen[None]):
    """The list by kind, and what is known of the selected one at its side, or below where there is no room."""

    app: GlassboxApp
    AUTO_FOCUS = ""
    WHERE = MODELS
    BINDINGS: ClassVar[list[BindingType]] = [*registry.bindings(priority=False, where=MODELS)]

    def compose(self) -> ComposeResult:
        yield Panel(_heading, id="models-heading")
        with Container(id="models-panes"):
            yield Panel(_list, id="models-list")
            yield Panel(_details, id="models-details", classes="box")
        yield Panel(lines.notice, id="models-notice")
        yield Panel(partial(hints, where=MODELS), id="models-hints")
        yield Panel(lines.too_small, id="small")

    def on_mount(self) -> None:
        self.show(self.app.view, None)

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width < SMALLEST[0] or height < SMALLEST[1], "tiny")
        self.set_class(width < 2 * modellines.LEAST, "narrow")

    @property
    def page(self) -> int:
        """How many lines of the list are in sight."""
        return max(1, self.query_one("#models-list", Panel).size.height - 1)

    def show(self, view: View, before: View | None) -> None:
        """Called by the app at every change of the View."""
        self.set_class(view.ascii, "ascii")
        same = before is not None and before.models.row is view.models.row
        for panel in self.query(Panel):
            panel.show(view, from_top=panel.id == "models-details" and not same)


def _heading(view: View, width: int, height: int) -> list[Text]:
    return modellines.heading(view.models, width)


def _list(view: View, width: int, height: int) -> list[Text]:
    trouble = view.problem if view.info is None else ""
    return modellines.listing(view.models, width, height, trouble=trouble)


def _details(view: View, width: int, height: int) -> list[Text]:
    return modellines.details(view.models, width, height)
