"""A small menu: one key per entry, or the arrows and enter. Ends with the entry's value or None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from glassbox_tui.tui.cells import DIM, KEY, cut
from glassbox_tui.tui.choosing import Choice
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import line as plain


class MenuScreen(ModalScreen[str | None]):
    """`choices` each have a `key`, a single letter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("enter", "take", show=False),
    ]

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title, self._choices, self._at = title, tuple(choices), 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="box sheet menu") as box:
            box.border_title = self._title
            box.styles.height = len(self._choices) + 3
            yield Panel(self._draw)

    def _draw(self, view: View, width: int, height: int) -> Sequence[Text]:
        lines = [self._line(i, choice, width) for i, choice in enumerate(self._choices)]
        return [*lines, cut(Text(say("a letter, or enter; esc leaves"), DIM), width)]

    def _line(self, at: int, choice: Choice, width: int) -> Text:
        line = Text(f" {choice.key}  ", KEY).append(plain(choice.label), "not bold")
        line.append(f"  {plain(choice.aside)}", "not bold dim")
        line = cut(line, width)
        line.append(" " * max(0, width - line.cell_len))
        if at == self._at:
            line.stylize("reverse")
        return line

    def on_mount(self) -> None:
        self.query_one(Panel).show(View())

    def on_key(self, event: events.Key) -> None:
        for choice in self._choices:
            if event.character == choice.key:
                event.stop()
                self.dismiss(choice.value)
                return

    def action_step(self, by: int) -> None:
        self._at = (self._at + by) % len(self._choices)
        self.query_one(Panel).show(View())

    def action_take(self) -> None:
        self.dismiss(self._choices[self._at].value)
