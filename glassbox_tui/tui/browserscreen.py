"""The notes browser's screen: draws `view.browser` and passes on its keys, which are commands (features/browser.py)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.widgets import Input

from glassbox_tui.tui import browserlines, lines, registry
from glassbox_tui.tui.cells import KEY
from glassbox_tui.tui.commands import BROWSER
from glassbox_tui.tui.conditions import home
from glassbox_tui.tui.features import browser
from glassbox_tui.tui.hints import hints
from glassbox_tui.tui.screens import SMALLEST
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel, QueryBox
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


class BrowserScreen(Screen[None]):
    """The tree with the preview at its side, or below it where there is no room."""

    app: GlassboxApp
    AUTO_FOCUS = ""
    WHERE = BROWSER
    BINDINGS: ClassVar[list[BindingType]] = [*registry.bindings(priority=False, where=BROWSER)]

    def compose(self) -> ComposeResult:
        yield Panel(_heading, id="browser-heading")
        with Horizontal(id="filter-row"):
            yield Panel(lambda v, w, h: [Text(" /", KEY)], id="filter-slash")
            yield QueryBox(self.app.view.browser.words, id="filter", placeholder=say("narrow the list by typing"))
        with Container(id="browser-panes"):
            yield Panel(_tree, id="tree")
            yield Panel(_preview, id="preview", classes="box")
        yield Panel(lines.notice, id="browser-notice")
        yield Panel(partial(hints, where=BROWSER), id="browser-hints")
        yield Panel(lines.too_small, id="small")

    def on_mount(self) -> None:
        self.box.on_enter = self.leave_filter
        self.show(self.app.view, None)

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width < SMALLEST[0] or height < SMALLEST[1], "tiny")
        self.set_class(width < lines.WIDE, "narrow")

    @property
    def box(self) -> QueryBox:
        return self.query_one(QueryBox)

    @property
    def page(self) -> int:
        """How many rows of the tree are in sight."""
        return max(1, self.query_one("#tree", Panel).size.height - 1)

    @property
    def filtering(self) -> bool:
        return self.focused is self.box

    def enter_filter(self) -> None:
        self.box.focus()

    def leave_filter(self) -> None:
        self.set_focus(None)

    def put_filter(self, words: str) -> None:
        self.box.value = words

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value == self.box.value:  # of letters that came together, the last
            browser.narrow(self.app, event.value)

    def show(self, view: View, before: View | None) -> None:
        """Called by the app at every change of the View."""
        self.set_class(view.ascii, "ascii")
        same = before is not None and before.browser.row == view.browser.row
        for panel in self.query(Panel):
            panel.show(view, from_top=panel.id == "preview" and not same)


def _heading(view: View, width: int, height: int) -> list[Text]:
    return browserlines.heading(view.browser, home(view.notes), view.scope, width)


def _tree(view: View, width: int, height: int) -> list[Text]:
    return browserlines.tree(view.browser, view.scope, width, height, ascii=view.ascii, trouble=view.problem)


def _preview(view: View, width: int, height: int) -> list[Text]:
    return browserlines.preview(view.browser, width, height)
