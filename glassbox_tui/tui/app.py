"""The app: turns keys and worker events into a new View and has it drawn. It is the only one that changes state."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar, NoReturn

from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.message import Message
from textual.widgets import DataTable, Input

from glassbox_tui.settings import Settings
from glassbox_tui.tui import state
from glassbox_tui.tui.backend import OpenBackend, opener
from glassbox_tui.tui.messages import Changed, Event
from glassbox_tui.tui.screens import HelpScreen, MainScreen
from glassbox_tui.tui.state import View
from glassbox_tui.tui.terminal import TerminalDriver, is_terminal, native_output_to, wants_ascii
from glassbox_tui.tui.widgets import Panel, QueryBox
from glassbox_tui.tui.work import Request, Workers

Observer = Callable[[Event], None]


class Posted(Message, bubble=False):
    """Brings one event from a worker thread to the app."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class GlassboxApp(App[None]):
    """See `make_app`. `view` is what is on screen; `crew` the two threads behind it."""

    CSS_PATH = "styles.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "quit", priority=True, show=False),
        Binding("ctrl+z", "suspend_process", "back to the shell; fg returns", priority=True, show=False),
    ]

    def __init__(
        self, view: View, open_backend: OpenBackend, observer: Observer | None, driver: type[Driver] | None
    ) -> None:
        super().__init__(driver_class=driver)
        self.animation_level = "none"
        self.theme = "ansi-dark"  # the terminal's own sixteen colours, on its own background
        self.view = view
        self.crew = Workers(open_backend, self._deliver)
        self._observer = observer
        self._main = MainScreen()

    def on_mount(self) -> None:
        self.push_screen(self._main, callback=None)
        for number in (signal.SIGTERM, signal.SIGHUP):
            try:
                asyncio.get_running_loop().add_signal_handler(number, partial(self.exit, return_code=128 + number))
            except (RuntimeError, ValueError):
                break  # not in the main thread: whoever runs us there minds the signals
        # The first picture goes out before the threads begin to import.
        self._main.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._main.query_one(QueryBox).focus()
        self._show(self.view, None)
        self.call_after_refresh(self.crew.start)

    def on_unmount(self) -> None:
        self.crew.cancel()

    def _deliver(self, event: Event) -> None:
        # Called by the worker threads. Between our last message and the end of the thread the loop may be closed.
        try:
            self.post_message(Posted(event))
        except RuntimeError:
            self.crew.cancel()

    def on_posted(self, message: Posted) -> None:
        event = message.event
        self._change(state.applied(self.view, event))
        if isinstance(event, Changed) and state.asks_again(self.view):
            self._search(self.view.query, rounds=self.view.rounds)
        if self._observer is not None:
            self._observer(event)

    def _change(self, view: View) -> None:
        before, self.view = self.view, view
        if view != before:
            self._show(view, before)

    def _show(self, view: View, before: View | None) -> None:
        if self._main.is_mounted:
            self._main.show(view, before)

    def _search(self, query: str, *, rounds: bool) -> None:
        self._change(state.ask(self.view, query, rounds=rounds))
        if query.strip():
            self.crew.submit(Request(self.view.run, query, rounds))

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self.view.query:
            self._search(event.value, rounds=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.action_run()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        self._change(state.select(self.view, event.cursor_row))

    def action_query(self) -> None:
        self._main.query_one(QueryBox).focus()

    def action_leave_query(self) -> None:
        self._main.set_focus(None)

    def action_run(self) -> None:
        if self.view.query.strip():
            self._main.set_focus(None)
            self._search(self.view.query, rounds=True)

    def action_refresh(self) -> None:
        self.crew.refresh()

    def action_move(self, by: int) -> None:
        self._change(state.select(self.view, state.selected_index(self.view) + by))

    def action_top(self) -> None:
        self._change(state.select(self.view, 0))

    def action_bottom(self) -> None:
        self._change(state.select(self.view, sys.maxsize))

    def action_round(self, by: int) -> None:
        self._change(state.step_round(self.view, by))

    def action_columns(self) -> None:
        self._change(state.next_columns(self.view))

    def action_panel(self, name: str) -> None:
        self._change(state.on_panel(self.view, name))

    def action_scroll(self, direction: int) -> None:
        # With the hits on show, the text to scroll is the evidence below them; its scores go along.
        names = ("evidence", "scores") if self.view.panel in {"hits", "evidence"} else (self.view.panel,)
        for name in names:
            panel = self._main.query_one(f"#{name}", Panel)
            panel.scroll_by(direction * max(1, panel.size.height - 1))

    def action_help(self) -> None:
        self.push_screen(HelpScreen(MainScreen.BINDINGS))

    async def action_quit(self) -> None:
        self.exit()


def make_app(
    open_backend: OpenBackend,
    *,
    notes: str = "",
    ascii: bool = False,
    observer: Observer | None = None,
    driver: type[Driver] | None = None,
) -> GlassboxApp:
    """The app over a backend, as the CLI, the tests and the screenshots all make it.

    `notes` is the folder's name for the status line; `observer` hears of every event after it was drawn.
    """
    return GlassboxApp(View(notes=notes, ascii=ascii), open_backend, observer, driver)


def run(notes: Path, settings: Settings, *, open_backend: OpenBackend | None = None) -> int:
    """Show the app on a folder of notes until the user quits; then the process ends here, with the app's exit status.

    `open_backend` stands in for the real engine. Returns (2) only if there is no terminal.
    """
    if not is_terminal():
        print(
            "glassbox-tui: there is no terminal here; try `glassbox-tui retrieve QUERY`, or run it from a terminal",
            file=sys.stderr,
        )
        return 2
    log = settings.data_dir / "logs" / "tui.log"
    with native_output_to(log) as screen:
        TerminalDriver.screen = screen
        start = open_backend or opener(notes, settings)
        app = make_app(start, notes=str(notes), ascii=wants_ascii(os.environ), driver=TerminalDriver)
        app.run()
        app.crew.stop()
    status = app.return_code or 0
    if status == 1:
        print(f"glassbox-tui: the app failed; what went wrong is in {log}", file=sys.stderr)
    return _leave(status)


def _leave(status: int) -> NoReturn:
    """End the process at once: the terminal is restored, and the store survives even a kill.

    The interpreter's own way out joins every pool's threads, which wait for native calls that nothing can interrupt,
    and takes the models apart piece by piece: a second and more in which the shell's prompt does not come.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the terminal may be gone
            stream.flush()
    os._exit(status)
