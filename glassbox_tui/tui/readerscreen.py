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
from glassbox_tui.tui.features.reader import READER, change_reading, scroll
from glassbox_tui.tui.hints import hint_of, hints_of
from glassbox_tui.tui.keys import keys_of
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


def draw(view: View, width: int, height: int) -> Sequence[Text]:
    if view.reading is None:
        return []

    def hints(room: int) -> Text:
        tail = hint_of("reader_leave", "back").append_text(hint_of("help", "help"))
        return hints_of(view, room, READER, tail)

    return reading.draw(view.reading, width, height, ascii=view.ascii, told=view.told, hints=hints)


class ReaderScreen(Screen[None]):
    """One panel, drawn from `view.reading`. Its keys are the commands whose place it is."""

    app: GlassboxApp
    AUTO_FOCUS = ""
    WHERE = READER
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys_of("help"), "app.do('help')", id="help", show=False),
        Binding(keys_of("palette"), "app.do('palette')", id="palette", show=False),
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
        scroll(self.app, 3)

    def on_mouse_scroll_up(self) -> None:
        scroll(self.app, -3)
