"""The prompt for another folder: a path to type, completed from the disk, and the recent folders to choose of."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input

from glassbox_tui.notes.scan import NotesError
from glassbox_tui.tui.browsing import first_line
from glassbox_tui.tui.cells import BAD, DIM, KEY, cut, fit
from glassbox_tui.tui.conditions import home
from glassbox_tui.tui.folders import Offers, checked, completed, offers
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel, QueryBox
from glassbox_tui.tui.words import say
from glassbox_tui.views.plain import line as plain

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


class Offered(Message, bubble=False):
    """Completions have come from the disk."""

    def __init__(self, found: Offers) -> None:
        super().__init__()
        self.found = found


class Checked(Message, bubble=False):
    """What was typed is a folder that can be opened (`path`), or a sentence says why not."""

    def __init__(self, typed: str, path: str, wrong: str) -> None:
        super().__init__()
        self.typed, self.path, self.wrong = typed, path, wrong


class FolderScreen(ModalScreen[str | None]):
    """Ends with an absolute path, or None. The disk is asked in threads: a mount that hangs stops nobody's typing."""

    app: GlassboxApp
    AUTO_FOCUS = "QueryBox"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("tab", "complete", show=False, priority=True),
        Binding("down,ctrl+n", "step(1)", show=False, priority=True),
        Binding("up,ctrl+p", "step(-1)", show=False, priority=True),
        Binding("pagedown", "step(10)", show=False, priority=True),
        Binding("pageup", "step(-10)", show=False, priority=True),
    ]

    def __init__(self, recent: Sequence[str]) -> None:
        super().__init__()
        self._recent = tuple(recent)
        self._offers = Offers("", (), self._recent)
        self._at = -1  # the line that is chosen; -1: what was typed
        self._wrong = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="box sheet") as box:
            box.border_title = say("open another folder of notes")
            hint = "its path; tab completes, down chooses a recent one" if self._recent else "its path; tab completes"
            yield QueryBox(id="folder", placeholder=say(hint))
            yield Panel(self._draw, id="folders")

    def on_mount(self) -> None:
        self._redraw()

    @property
    def _lines(self) -> tuple[str, ...]:
        return (*self._offers.recent, *self._offers.found)

    def _draw(self, view: View, width: int, height: int) -> list[Text]:
        lines = [cut(Text(plain(told(self._wrong)), BAD), width)] if self._wrong else []
        room, total = height - len(lines), len(self._lines)
        top = first_line(0, max(0, self._at), total, room)
        recent = len(self._offers.recent)
        for at, path in enumerate(self._lines[top : top + room], top):
            line = cut(Text(" " + plain(home(path)), KEY if at < recent else ""), width)
            lines.append(Text(fit(line.plain, width), "reverse") if at == self._at else line)
        if not self._lines and not self._wrong:
            typed = self.query_one(QueryBox).value
            words = say("nothing begins like this") if typed else say("type a path: ~/ or / begins it; enter opens it")
            lines.append(Text(words, DIM))
        return lines

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        typed = self.query_one(QueryBox).value
        self._at, self._wrong = -1, ""
        self._in_a_thread(lambda: Offered(offers(typed, self._recent)))
        self._redraw()

    def on_offered(self, event: Offered) -> None:
        if event.found.typed == self.query_one(QueryBox).value:
            self._offers = event.found
            self._at = min(self._at, len(self._lines) - 1)
            self._redraw()

    def action_complete(self) -> None:
        """What all completions begin with; a line that is chosen, as it is."""
        box = self.query_one(QueryBox)
        grown = self._lines[self._at] if self._at >= 0 else completed(box.value, self._offers.found)
        if self._offers.typed == box.value and grown != box.value:
            box.value = grown
            box.cursor_position = len(grown)

    def action_step(self, by: int) -> None:
        self._at = max(-1, min(self._at + by, len(self._lines) - 1))
        self._redraw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        typed = self._lines[self._at] if self._at >= 0 else self.query_one(QueryBox).value
        self._in_a_thread(lambda: _checked(typed))

    def on_checked(self, event: Checked) -> None:
        if not event.wrong:
            self.dismiss(event.path)
            return
        self._wrong = event.wrong
        self._redraw()

    def _in_a_thread(self, work: Callable[[], Message]) -> None:
        threading.Thread(target=lambda: self.post_message(work()), name="glassbox-folders", daemon=True).start()

    def _redraw(self) -> None:
        self.query_one(Panel).show(self.app.view)


def _checked(typed: str) -> Checked:
    try:
        return Checked(typed, str(checked(typed)), "")
    except NotesError as error:
        return Checked(typed, "", str(error))
