"""A backend that does what a test tells it to, when the test says so: gates are events, and nothing sleeps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from samples import sample_trace, sample_trace_two_rounds
from textual.pilot import Pilot

from glassbox_tui.errors import GlassboxError
from glassbox_tui.models.chat import ReadingFn
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.models.speed import Speed
from glassbox_tui.notes.reading import NoteText
from glassbox_tui.notes.watch import Mode
from glassbox_tui.progress import Cancelled, CancelledFn, Progress, ProgressFn
from glassbox_tui.retrieval.listing import ChunkInfo, NoteInfo
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.tui.app import GlassboxApp, make_app
from glassbox_tui.tui.backend import CheckFn, ModelList, Outcome, PieceFn, Reply, Source, Writer
from glassbox_tui.tui.messages import Event, Opened, Updated
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import Panel
from glassbox_tui.tui.writing import NOBODY

LIMIT = 20.0  # seconds after which a gate that nobody opened fails the test instead of hanging it
INFO = IndexInfo(14, 61, 1.0, "e5-small (bundled)", "late interaction")

REPLY = Reply(
    "extract",
    "RRF 只看名次，所以不用调权重。[1]",
    (Source(1, "04-rrf.md:12-31", "04-rrf.md#1", "04-rrf.md", (13, 13)),),
)


@dataclass
class Gate:
    """A point where a thread stops until the test lets it pass. `reached` tells the test that it is there."""

    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def hold(self) -> None:
        self.reached.set()
        assert self.opened.wait(LIMIT), "nobody opened the gate"


def one_or_two_rounds(query: str, rounds: bool) -> Trace:
    return sample_trace_two_rounds() if rounds else sample_trace()


@dataclass
class ScriptedBackend:
    """`trace_for` makes results; `gates` holds the search for that query, `update_gate` the update, until opened."""

    trace_for: Callable[[str, bool], Trace] = one_or_two_rounds
    gates: dict[str, Gate] = field(default_factory=dict)
    update_gate: Gate | None = None
    steps: tuple[Progress, ...] = ()
    problems: tuple[str, ...] = ()
    reply: Reply = REPLY
    who: Writer = NOBODY
    checks: tuple[tuple[str, str, bool, str], ...] = ()
    selftest_gate: Gate | None = None
    asked: list[tuple[str, bool]] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    rewriters: list[str] = field(default_factory=list)
    listed: tuple[NoteInfo, ...] = ()
    inside: dict[str, tuple[ChunkInfo, ...]] = field(default_factory=dict)
    siblings: dict[str, ScriptedBackend | GlassboxError] = field(default_factory=dict)
    closed: bool = False
    rows: list[ModelRow] = field(default_factory=list)
    models_notice: str = ""
    speeds: dict[str, Speed | GlassboxError] = field(default_factory=dict)
    measure_gate: Gate | None = None
    writers: tuple[str, ...] = ()
    used: list[str] = field(default_factory=list)
    notes: dict[str, NoteText] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    updates: int = 0
    holds: IndexInfo = INFO
    plan: str = ""  # what another embedder would have to do
    edit: Callable[[], None] = lambda: None  # what the watch would call after an edit

    def info(self) -> IndexInfo:
        return self.holds

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn, scope: str = "", rewriter: str = "") -> Trace:
        self.asked.append((query, rounds))
        self.scopes.append(scope)
        self.rewriters.append(rewriter)
        if query in self.gates:
            self.gates[query].hold()
        return self.trace_for(query, rounds)

    def writer(self) -> Writer:
        return self.who

    def extract(self, trace: Trace) -> Reply:
        return self.reply

    def answer(self, trace: Trace, *, reading: ReadingFn, piece: PieceFn, cancelled: CancelledFn) -> Reply:
        raise AssertionError("no model is here")

    def update(
        self, *, progress: ProgressFn, cancelled: CancelledFn, changed: Callable[[], None], hold: CancelledFn
    ) -> Outcome:
        self.updates += 1
        for step in self.steps:
            progress(step)
        if self.update_gate is not None:
            self.update_gate.hold()
        if cancelled():
            raise Cancelled
        changed()
        return Outcome(self.problems)

    def new_embedder(self) -> str:
        return self.plan

    def watch(self, changed: Callable[[], None], mode: Callable[[Mode], None], stop: threading.Event) -> None:
        self.edit = changed

    def selftest(self, heard: CheckFn) -> None:
        for done, (group, name, ok, detail) in enumerate(self.checks, start=1):
            if self.selftest_gate is not None:
                self.selftest_gate.hold()
            heard(group, name, ok, detail, done, len(self.checks))

    def note_text(self, path: str) -> NoteText:
        self.read.append(path)
        return self.notes.get(path, NoteText(path, problem=f"{path} is gone from notes"))

    def text_around(self, uid: str) -> tuple[str, str]:
        self.around.append(uid)
        return f"before {uid} ", f" after {uid}"

    def files(self) -> tuple[NoteInfo, ...]:
        return self.listed

    def chunks(self, path: str) -> tuple[tuple[ChunkInfo, ...], str]:
        found = self.inside.get(path, ())
        return found, "\n".join(chunk.text for chunk in found)

    def models(self) -> ModelList:
        return ModelList(tuple(self.rows), "/data/models", self.models_notice)

    def measure(self, name: str, progress: ProgressFn, cancelled: CancelledFn) -> str:
        progress(Progress("measure", 0, 0, name))
        if self.measure_gate is not None:
            self.measure_gate.hold()
        if cancelled():
            raise Cancelled
        found = self.speeds[name]
        if isinstance(found, GlassboxError):
            raise found
        self.rows = [replace(r, speed=found) if r.entry.name == name else r for r in self.rows]
        return ""

    def use_generator(self, name: str) -> str:
        if name not in self.writers:
            raise GlassboxError(f"{name} cannot write")
        self.used.append(name)
        self.rows = [replace(r, in_use=r.entry.name == name) if r.entry.kind == "generator" else r for r in self.rows]
        return f"{name} writes from now on, until the end of the session"

    def sibling(self, notes: Path) -> ScriptedBackend:
        found = self.siblings[str(notes)]
        if isinstance(found, GlassboxError):
            raise found
        return found

    def close(self) -> None:
        self.closed = True


class Seen:
    """Hears every event the app has drawn, and lets a test wait for one."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds()`, asking again after every event."""
        async with asyncio.timeout(LIMIT):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def heard(self, kind: type) -> None:
        await self.until(lambda: any(isinstance(e, kind) for e in self.events))


@dataclass
class Stage:
    """A running app, its pilot, and what it heard."""

    app: GlassboxApp
    pilot: Pilot[None]
    seen: Seen

    @property
    def view(self) -> View:
        return self.app.view

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def ask(self, query: str, *, rounds: bool = False) -> None:
        """Type a query into the focused box, wait for its result (and, with Enter, for the answer)."""
        await self.press(*["space" if c == " " else c for c in query])
        if rounds:
            await self.press("enter")
        await settled(self.app, self.seen, rounds)
        await self.pilot.pause()

    def panel(self, name: str) -> str:
        return self.app.screen.query_one(f"#{name}", Panel).plain

    def screen(self) -> str:
        """All that is on screen, as text."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())


async def settled(app: GlassboxApp, seen: Seen, rounds: bool) -> None:
    await seen.until(lambda: app.view.shown == app.view.run and (not rounds or app.view.reply is not None))


@asynccontextmanager
async def running(
    backend: ScriptedBackend,
    size: tuple[int, int] = (120, 40),
    *,
    indexed: bool = True,
    ascii: bool = False,
    **options: Any,
) -> AsyncIterator[Stage]:
    """The app over a scripted backend; `indexed` waits for the end of its update. No thread outlives the test."""
    seen = Seen()
    app = make_app(lambda progress: backend, notes="notes", ascii=ascii, observer=seen, **options)
    async with app.run_test(size=size) as pilot:
        await seen.heard(Updated if indexed else Opened)
        await pilot.pause()
        yield Stage(app, pilot, seen)
    for gate in [*backend.gates.values(), backend.update_gate, backend.selftest_gate, backend.measure_gate]:
        if gate is not None:
            gate.opened.set()
    assert app.crew.stop(LIMIT)
