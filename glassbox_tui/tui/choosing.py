"""Small screens over the main one: choose one of a list by typing, or edit one line. Both end with a value or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from glassbox_tui.text.normalize import fold
from glassbox_tui.tui.cells import DIM, KEY, ends, wrap
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel, QueryBox
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import line as plain


@dataclass(frozen=True, slots=True)
class Choice:
    """One line to choose. `value` is what the screen ends with; `aside` stands at the right end, dimmed."""

    value: str
    label: str
    aside: str = ""
    key: str = ""


def matching(choices: Sequence[Choice], typed: str) -> list[Choice]:
    """Those whose label or aside holds every word that was typed, in any order, in their own order."""
    words = fold(typed).split()
    return [c for c in choices if all(word in fold(f"{c.label} {c.aside} {c.value}") for word in words)]


class ChooseScreen(ModalScreen[str | None]):
    """`choices` narrowed by typing; up and down move, enter takes, esc leaves."""

    AUTO_FOCUS = "QueryBox"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down,ctrl+n,tab", "step(1)", show=False, priority=True),
        Binding("up,ctrl+p,shift+tab", "step(-1)", show=False, priority=True),
        Binding("pagedown", "step(10)", show=False, priority=True),
        Binding("pageup", "step(-10)", show=False, priority=True),
    ]

    def __init__(self, title: str, choices: Sequence[Choice], placeholder: str = "type to narrow the list") -> None:
        super().__init__()
        self._title, self._choices, self._placeholder = title, tuple(choices), placeholder
        self._found: list[Choice] = list(choices)
        self._at = 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="box sheet") as box:
            box.border_title = self._title
            yield QueryBox(id="narrow", placeholder=say(self._placeholder))
            yield Panel(self._draw, id="choices")

    def _draw(self, view: View, width: int, height: int) -> Sequence[Text]:
        if not self._found:
            return [Text(say("nothing matches"), DIM)]
        top = max(0, min(self._at - height // 2, len(self._found) - height))
        return [self._line(at, width) for at in range(top, min(top + height, len(self._found)))]

    def _line(self, at: int, width: int) -> Text:
        choice = self._found[at]
        left = Text(f" {choice.key:>9}  " if choice.key else " ", KEY).append(plain(choice.label), "not bold")
        line = ends(left, Text(plain(choice.aside) + " ", DIM), width) if choice.aside else left
        if at == self._at:
            line.append(" " * max(0, width - line.cell_len))
            line.stylize("reverse")
        return line

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._found, self._at = matching(self._choices, event.value), 0
        self._redraw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(self._found[self._at].value if self._found else None)

    def action_step(self, by: int) -> None:
        self._at = max(0, min(self._at + by, len(self._found) - 1))
        self._redraw()

    def _redraw(self) -> None:
        self.query_one(Panel).show(View())


class EditScreen(ModalScreen[str | None]):
    """One line to edit; enter takes it (a blank one counts as None), esc leaves."""

    AUTO_FOCUS = "QueryBox"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, title: str, value: str = "", help: Callable[[str], str] = lambda _: "") -> None:
        """`help` makes the line below from what stands in the box."""
        super().__init__()
        self._title, self._value, self._help = title, value, help

    def compose(self) -> ComposeResult:
        with Vertical(classes="box sheet line") as box:
            box.border_title = self._title
            yield QueryBox(self._value, id="edit")
            yield Panel(self._draw, id="edit-help")

    def _draw(self, view: View, width: int, height: int) -> Sequence[Text]:
        return wrap(Text(plain(self._help(self.query_one(QueryBox).value)), DIM), width)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(Panel).show(View())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value if event.value.strip() else None)
