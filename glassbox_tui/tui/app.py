"""The app: turns keys and worker events into a new View and has it drawn. It is the only one that changes state."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar, NoReturn, Protocol, runtime_checkable

from textual import events
from textual.app import App, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import LineFilter
from textual.message import Message
from textual.widgets import DataTable, Input
from textual.widgets.input import Selection

from glassbox_tui.config import Config
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings, load_settings
from glassbox_tui.tui import registry, session, state, themes
from glassbox_tui.tui.backend import OpenBackend
from glassbox_tui.tui.commands import MAIN
from glassbox_tui.tui.desk import Deliver
from glassbox_tui.tui.editor import run_in_terminal
from glassbox_tui.tui.features.reader import fetch_around
from glassbox_tui.tui.messages import Changed, Event, Request, Search, SearchDone, StepDone, StopAnswer
from glassbox_tui.tui.partial import redraw_from_the_change
from glassbox_tui.tui.remote import Place, Remote
from glassbox_tui.tui.replay import Replay, refusal
from glassbox_tui.tui.screens import MainScreen
from glassbox_tui.tui.session import Session
from glassbox_tui.tui.start import started
from glassbox_tui.tui.state import View
from glassbox_tui.tui.terminal import TerminalDriver, end_on_signals, is_terminal, native_output_to
from glassbox_tui.tui.widgets import Panel, QueryBox, one_line
from glassbox_tui.tui.words import say, spoken
from glassbox_tui.tui.work import Crew, Workers
from glassbox_tui.views.look import look_of

Observer = Callable[[Event], None]
MakeCrew = Callable[[Deliver], Crew]


@runtime_checkable
class Shows(Protocol):
    """A screen that follows the View."""

    def show(self, view: View, before: View | None) -> None: ...


class Posted(Message, bubble=False):
    """Brings one event from the crew's thread to the app."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


# Seconds that a key waits for a box that is opening: asked at every turn of the loop, then now and again, then no more.
OPENING, PATIENCE = 0.2, 1.0


class GlassboxApp(App[None]):
    """See `make_app`. `view` is what is on screen; `crew` does the work behind it.

    Features use `change`, `send`, `search`, `tell` and the screens; nobody else changes the View.
    """

    CSS_PATH = "styles.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "quit", priority=True, show=False),
        Binding("ctrl+z", "suspend_process", "back to the shell; fg returns", priority=True, show=False),
        *registry.bindings(priority=True),
    ]

    def __init__(
        self,
        view: View,
        make_crew: MakeCrew,
        observer: Observer | None = None,
        driver: type[Driver] | None = None,
        at: Session = Session(),  # noqa: B008 - frozen
        keys: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(driver_class=driver)
        self.animation_level = "none"
        self.theme = "ansi-dark"  # the terminal's own sixteen colours, on its own background
        self.view, self.session = view, at
        self._colours = themes.filters(view.theme)
        if keys:
            self.set_keymap(keys)
        self.crew = make_crew(self._deliver)
        self._observer = observer
        self._main = MainScreen()
        self._begun = False
        self._held: list[events.Event] = []  # keys that came before there was a box to take them
        self._held_since = 0.0

    def on_mount(self) -> None:
        self.set_class(self.view.look != "unicode", "plain-frames")
        self.push_screen(self._main, callback=None)
        end_on_signals(lambda number: self.exit(return_code=128 + number))
        # The first picture goes out before the threads begin to import.
        self._main.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if self._held:  # who types already asks something else than last time
            self.view = replace(self.view, query="")
        self._show(self.view, None)
        query, box = self.view.query, self._main.query_one(QueryBox)
        if query:
            self.put_query(query)
        box.disabled = self.view.offline
        if not self.view.offline:
            self._main.set_focus(box)
        self._begun = True
        self.call_after_refresh(self.crew.start)
        if query and not self.view.offline:  # as the last session ended; it waits until the index is open
            self.search(query, rounds=False)

    async def on_event(self, event: events.Event) -> None:
        kept = isinstance(event, events.Key | events.Paste) and getattr(event, "key", "") != "ctrl+c"
        if kept and not self.app_focus:
            self.app_focus = True  # who types is there: a terminal may not say that it has the focus again
        if kept and not event.is_forwarded and (self._held or not self._taken()):
            self._held.append(event)
            if len(self._held) == 1:
                self._held_since = time.monotonic()
                self.call_later(self._hand_on)
        else:
            await self._pass_on(event)

    def _taken(self) -> bool:
        """Whether there is somebody to take the keys: not before the first picture, nor while a box is opening."""
        return self._begun and not (self.screen.AUTO_FOCUS and self.focused is None)

    async def _hand_on(self) -> None:
        """Hand on the keys that were held back, as soon as somebody takes them; after a while to whoever is there."""
        waited = time.monotonic() - self._held_since
        if not self._taken() and (waited < PATIENCE or not self._begun):
            if waited < OPENING:
                self.call_later(self._hand_on)
            else:
                self.set_timer(0.05, self._hand_on)
            return
        held, self._held = self._held, []
        for event in held:
            await (self.on_event(event) if self._taken() else self._pass_on(event))

    async def _pass_on(self, event: events.Event) -> None:
        if not await self._acted(event):
            await super().on_event(event)

    async def _acted(self, event: events.Event) -> bool:
        """Do what a key does, where nobody types, before the next key is looked at: it may lead into a box."""
        if not isinstance(event, events.Key) or event.is_forwarded or self.focused is not None:
            return False
        return await self._check_bindings(event.key, priority=True) or await self._check_bindings(event.key)

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
        self.change(state.applied(self.view, event))
        if (isinstance(event, Changed) and state.asks_again(self.view)) or (
            isinstance(event, SearchDone | StepDone) and state.came_too_early(self.view)
        ):
            self.search(self.view.query, rounds=self.view.rounds)
        if (trace := state.finished(self.view, event)) is not None:
            session.ran(trace, self.session)
            session.ended(self.view, self.session)
        for hear in registry.LISTENERS:
            hear(self, event)
        if self._observer is not None:
            self._observer(event)

    # -- what features use ---------------------------------------------------------------------------------------

    def change(self, view: View) -> None:
        """Make `view` the state, and draw what differs."""
        before, self.view = self.view, state.painted(view)
        if self.view != before:
            self._show(self.view, before)
            fetch_around(self, before)

    def send(self, request: Request) -> None:
        self.crew.send(request)

    def tell(self, sentence: str) -> None:
        """Say something in the notice line, until the next command."""
        self.change(replace(self.view, told=sentence))

    def write_raw(self, sequence: str) -> None:
        """Send a control sequence of our own making to the terminal. Never text of a note."""
        if self._driver is not None:
            self._driver.write(sequence)

    def outside(self, command: Sequence[str]) -> str:
        """Give the terminal to another program until it ends. Returns "", or a sentence on how that failed."""
        screen = TerminalDriver.screen if isinstance(self._driver, TerminalDriver) else None
        try:
            with self.suspend():
                return run_in_terminal(command, None if screen is None else screen.fileno())
        except SuspendNotSupported:
            return say("there is no terminal here to run {} in", command[0])

    @property
    def data(self) -> Path:
        """The folder for files of the user's own: what was copied, exports."""
        return self.session.data or load_settings().data_dir

    def search(self, query: str, *, rounds: bool) -> None:
        if self.view.offline:
            self.tell(refusal())
            return
        self.change(state.ask(self.view, query, rounds=rounds))
        if query.strip():
            view = self.view
            self.send(Search(view.run, query, rounds, view.scope, view.answers.chosen, view.rewriter))
        else:
            self.send(StopAnswer(self.view.run))  # to a question that is gone

    @property
    def typed(self) -> str:
        """What stands in the query box; `view.query` follows as soon as the keys before are dealt with."""
        return self._main.query_one(QueryBox).value

    def put_query(self, query: str) -> None:
        """Put `query` into the box, all of it selected, so that what is typed next takes its place."""
        box = self._main.query_one(QueryBox)
        with self.prevent(Input.Changed):
            box.value = one_line(query)  # it may come from a file
        box.selection = Selection(0, len(box.value))

    def run_query(self, query: str) -> None:
        """Run `query` with all its rounds, as if it had been typed."""
        if not self.view.offline:
            self.put_query(query)
            self.leave_query()
        self.search(query, rounds=True)

    def focus_query(self) -> None:
        if self.view.offline:
            self.tell(refusal())
        box = self._main.query_one(QueryBox)
        if self.view.rounds and not self.view.loop.stepping and box.value == self.view.query:
            self.put_query(box.value)  # it has run: the next letter begins another question
        self._main.set_focus(box)  # at once: what is typed next is for the box

    def use_theme(self, name: str) -> None:
        self._colours = themes.filters(name)
        self.change(replace(self.view, theme=name))
        self.redraw()

    def redraw(self) -> None:
        """Draw everything anew: the language or the colours are others."""
        self.change(replace(self.view, language=spoken()))
        for screen in self.screen_stack:
            for widget in screen.walk_children(with_self=True):
                widget.refresh()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return self._colours

    def typing_now(self, typing: bool) -> None:
        """The query box has the keys, or has them no more: the hints are others."""
        self.change(replace(self.view, typing=typing))

    def leave_query(self) -> None:
        self._main.set_focus(None)

    def scroll_panel(self, direction: int) -> None:
        """Scroll the panel that is on show by a page."""
        # With the hits on show, the text to scroll is the evidence below them; its scores go along.
        names = ("evidence", "scores") if self.view.panel in {"hits", "evidence"} else (self.view.panel,)
        for name in names:
            panel = self._main.query_one(f"#{name}", Panel)
            panel.scroll_by(direction * max(1, panel.size.height - 1))

    def reveal(self, name: str, line: int) -> None:
        """Scroll a panel so that one of its lines is in sight; a negative number counts from its end."""
        self._main.query_one(f"#{name}", Panel).reveal(line)

    # -- keys ----------------------------------------------------------------------------------------------------

    def action_do(self, id: str) -> None:
        """Run the command of that id."""
        if self.view.told:
            self.tell("")
        registry.command(id).run(self)

    def on_key(self, event: events.Key) -> None:
        # Esc and a letter that come in one packet look like alt and the letter: there are no alt keys here.
        kind, _, letter = event.key.partition("+")
        if kind == "alt" and len(letter) == 1:
            event.stop()
            self.leave_query()
            self.simulate_key(letter)

    def on_input_changed(self, event: Input.Changed) -> None:
        # Of letters that came together only the last is looked for, and none that Enter has run already.
        box = self._main.query_one(QueryBox)
        if event.input is box and event.value == box.value != self.view.query:
            if self.view.told:  # of what was done before
                self.tell("")
            self.search(event.value, rounds=False)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        self.change(state.select(self.view, event.cursor_row))

    async def action_quit(self) -> None:
        self.exit()

    @property
    def where(self) -> str:
        """The name of the screen in front, for the commands whose keys are its own."""
        return str(getattr(self.screen, "WHERE", MAIN))

    def _show(self, view: View, before: View | None) -> None:
        """Draw `view` on the main screen, and on those over it that have a `show` of the same form."""
        if not self.is_running:  # on the way out screens lose their widgets before they stop hearing of events
            return
        for screen in self.screen_stack:
            if screen.is_mounted and isinstance(screen, Shows):
                screen.show(view, before)


def make_app(
    open_backend: OpenBackend | None = None,
    *,
    notes: str = "",
    ascii: bool = False,
    view: View | None = None,
    wide: bool = False,
    crew: MakeCrew | None = None,
    observer: Observer | None = None,
    driver: type[Driver] | None = None,
    at: Session = Session(),  # noqa: B008 - frozen
    keys: Mapping[str, str] | None = None,
) -> GlassboxApp:
    """The app as the CLI, the tests and the screenshots all make it: over a backend in threads here, or over a crew.

    `notes` is the folder's name for the status line; `ascii` and `wide` are what the terminal can draw (`look_of`);
    `view` is the first View in place of an empty one, which these make; `observer` hears of every event after it was
    drawn; `at` says what is remembered where, `keys` which commands are on others.
    """
    if crew is None:
        if open_backend is None:
            raise TypeError("make_app needs a backend to open, or a crew")
        crew = partial(Workers, open_backend)
    view = view or View(notes=notes, look=look_of(ascii=ascii, wide=wide))
    return GlassboxApp(view, crew, observer, driver, at, keys)


def run(
    notes: Path,
    settings: Settings,
    config: Config | None = None,
    *,
    open_backend: OpenBackend | None = None,
    trace: Trace | None = None,
) -> int:
    """Show the app on a folder of notes until the user quits; then the process ends here, with the app's exit status.

    The engine runs in a child process; `open_backend` stands in for it, in threads. With a `trace` there is none at
    all: the Trace is replayed, and `notes` is its file. Returns (2) only if there is no terminal; raises SettingsError
    for what is wrong in the config file.
    """
    if not is_terminal():
        print(
            "glassbox-tui: there is no terminal here; try `glassbox-tui retrieve QUERY`, or run it from a terminal",
            file=sys.stderr,
        )
        return 2
    start = started(notes, settings, config or Config(Path()), os.environ, trace)
    log = settings.data_dir / "logs" / "tui.log"
    with native_output_to(log) as screen:
        TerminalDriver.screen = screen
        redraw_from_the_change()
        crew = Replay if trace is not None else None if open_backend else partial(Remote, Place(notes, settings))
        app = make_app(
            open_backend, view=start.view, crew=crew, driver=TerminalDriver, at=start.session, keys=start.keys
        )
        app.run(mouse=start.mouse)
        app.crew.stop()
        session.ended(app.view, app.session)
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
