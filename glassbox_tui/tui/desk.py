"""What the lanes are, what a job works with, and how it puts what went wrong into words."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec

from glassbox_tui.errors import GlassboxError
from glassbox_tui.progress import CancelledFn, Progress, ProgressFn
from glassbox_tui.tui.backend import Backend
from glassbox_tui.tui.messages import Event, Request

Deliver = Callable[[Event], None]
P = ParamSpec("P")
_log = logging.getLogger(__name__)

PATIENCE = 0.5  # seconds after which work that nobody asked for shows

SEARCH, EXTRACT, ANSWER, INDEX, SIDE, SELFTEST, MEASURE = LANES = (
    "search",
    "extract",
    "answer",
    "index",
    "side",
    "selftest",
    "measure",
)


@dataclass(frozen=True, slots=True)
class Desk:
    """What a job works with. `cancelled` turns true when the job's result is no longer wanted.

    `hold` turns true when background work is to be left for later, `overtaken` when a newer request is why.
    `hand_on` gives another lane the next part of the work. `again` asks for another update in a while. `fresh`: the
    index was not brought up to date yet since it was opened; `settled` says that it is. `pause`: the embedding waits.
    """

    backend: Backend
    deliver: Deliver
    cancelled: CancelledFn
    hold: CancelledFn
    overtaken: CancelledFn
    hand_on: Callable[[Request], None]
    again: Callable[[], None]
    fresh: bool
    settled: Callable[[], None]
    pause: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Job:
    """How a kind of request is served, and in which lane. `work` may raise Cancelled; it reports by `desk.deliver`."""

    lane: str
    work: Callable[[Desk, Any], None]


def sentence(error: Exception) -> str:
    """What the screen says of an error; one that is not for people goes to the log in full."""
    if isinstance(error, GlassboxError):
        return str(error)
    _log.exception("in a worker thread")
    return f"{type(error).__name__}: {error} (the log has the details)"


def patient(tell: ProgressFn, clock: Callable[[], float] = time.monotonic) -> ProgressFn:
    """`tell`, but nothing in the first moments: work that is over so soon is not worth a word."""
    began = clock()

    def maybe(progress: Progress) -> None:
        if clock() - began >= PATIENCE:
            tell(progress)

    return maybe


def throttled(tell: ProgressFn, interval: float = 0.1, clock: Callable[[], float] = time.monotonic) -> ProgressFn:
    """`tell`, but at most once per `interval` seconds and phase; the first and the last step of a phase always pass."""
    phase, told = "", -1.0

    def maybe(progress: Progress) -> None:
        nonlocal phase, told
        now = clock()
        if progress.phase != phase or progress.done == progress.total or now - told >= interval:
            phase, told = progress.phase, now
            tell(progress)

    return maybe


def spaced(
    tell: Callable[P, None], interval: float = 0.125, clock: Callable[[], float] = time.monotonic
) -> Callable[P, None]:
    """`tell`, but at most once per `interval` seconds: for news that say all that was said before."""
    last = -1e9

    def maybe(*args: P.args, **kwargs: P.kwargs) -> None:
        nonlocal last
        now = clock()
        if now - last >= interval:
            last = now
            tell(*args, **kwargs)

    return maybe
