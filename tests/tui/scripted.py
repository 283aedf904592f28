"""A backend that does what a test tells it to, when the test says so: gates are events, and nothing sleeps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from samples import sample_trace, sample_trace_two_rounds

from glassbox_tui.progress import Cancelled, CancelledFn, Progress, ProgressFn
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.tui.backend import Reply, Source

LIMIT = 20.0  # seconds after which a gate that nobody opened fails the test instead of hanging it
INFO = IndexInfo(14, 61, 1.0, "e5-small (bundled)", "late interaction")

REPLY = Reply("extract", "RRF 只看名次，所以不用调权重。[1]", (Source(1, "04-rrf.md:12-31"),))


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
    asked: list[tuple[str, bool]] = field(default_factory=list)
    closed: bool = False

    def info(self) -> IndexInfo:
        return INFO

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn) -> Trace:
        self.asked.append((query, rounds))
        if query in self.gates:
            self.gates[query].hold()
        return self.trace_for(query, rounds)

    def answer(self, trace: Trace) -> Reply:
        return self.reply

    def update(self, *, progress: ProgressFn, cancelled: CancelledFn) -> tuple[str, ...]:
        for step in self.steps:
            progress(step)
        if self.update_gate is not None:
            self.update_gate.hold()
        if cancelled():
            raise Cancelled
        return self.problems

    def close(self) -> None:
        self.closed = True
