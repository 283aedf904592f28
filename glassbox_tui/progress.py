"""How long work tells how far it is. Callers pass a callable; the CLI draws a bar, the app posts a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """`phase`: scan, text, embed, plan, model, check, pull, ask, prompt, measure or done.

    `done` of `total` steps (0: unknown).

    `left` is an estimate of the seconds until the phase ends, `rate` the steps a second it comes from, where whoever
    passes it on has made one. "plan" comes once, when a long embedding has shown its pace; its `detail` is
    the disk that will take.
    """

    phase: str
    done: int
    total: int
    detail: str = ""
    left: float | None = None
    rate: float | None = None


ProgressFn = Callable[[Progress], None]
CancelledFn = Callable[[], bool]


class Cancelled(Exception):
    """Raised inside work whose caller asked it to stop; what was finished before stays finished."""
