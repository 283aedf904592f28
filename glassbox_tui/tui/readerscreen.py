"""The reader: a screen of its own over the main one, which stays as it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from glassbox_tui.tui import reading, registry
from glassbox_tui.tui.features.reader import READER, change_reading, close_reader
from glassbox_tui.tui.hints import hint_of, hints_of
from glassbox_tui.tui.keys import keys_of
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def _same_key(id: str, action: str) -> Binding:
    """What a command's key does here; it moves with the command in the config file."""
    return Binding(keys_of(id), action, id=id, show=False)


def draw(view: View, width: int, height: int) -> Sequence[Text]:
    if view.reading is None:
        return []
    hints = hints_of(view, width, READER, tail=hint_of("leave", "back").append_text(hint_of("help", "help")))
    return reading.draw(view.reading, width, height, ascii=view.ascii, told=view.told, hints=hints)


class ReaderScreen(Screen[None]):
    """One panel, drawn from `view.reading`. Keys of the main screen that mean something here mean the same."""

    app: GlassboxApp
    AUTO_FOCUS = ""
    WHERE = READER
    BINDINGS: ClassVar[list[BindingType]] = [
        _same_key("down", "scroll(1)"),
        _same_key("up", "scroll(-1)"),
        _same_key("page_down", "page(1)"),
        _same_key("page_up", "page(-1)"),
        _same_key("top", "end(-1)"),
        _same_key("bottom", "end(1)"),
        _same_key("leave", "leave"),
        _same_key("quit", "leave"),
        _same_key("read", "leave"),
        _same_key("help", "app.do('help')"),
        _same_key("palette", "app.do('palette')"),
        *registry.bindings(priority=False, where=READER),
    ]

    def compose(self) -> ComposeResult:
        yield Panel(draw, id="reader")

    def show(self, view: View, before: View | None) -> None:
        if self.is_mounted:
            self.query_one(Panel).show(view)

    def on_mount(self) -> None:
        self.show(self.app.view, None)

    def on_resize(self, event: events.Resize) -> None:
        now = self.app.view.reading
        if now is not None:
            change_reading(self.app, reading.resized(now, event.size.width, event.size.height))

    def on_mouse_scroll_down(self) -> None:
        self.action_scroll(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_scroll(-3)

    def action_scroll(self, by: int) -> None:
        now = self.app.view.reading
        if now is not None:
            change_reading(self.app, reading.scroll(now, by, *now.size))

    def action_page(self, direction: int) -> None:
        now = self.app.view.reading
        if now is not None:
            change_reading(self.app, reading.page(now, direction, *now.size))

    def action_end(self, direction: int) -> None:
        now = self.app.view.reading
        if now is not None:
            change_reading(self.app, reading.to_end(now, direction, *now.size))

    def action_leave(self) -> None:
        close_reader(self.app)
