"""How long work still takes: said once it can be said honestly, and no more exactly than it is known."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.tui.words import say

_SECONDS, _STEPS = 3.0, 5  # of one phase, before its pace says anything


def estimating(tell: ProgressFn, clock: Callable[[], float] = time.monotonic) -> ProgressFn:
    """`tell`, with `left` worked out from the pace of the phase so far: the mean, which no single slow note upsets."""
    phase, total, began, first = "", 0, 0.0, 0

    def maybe(progress: Progress) -> None:
        nonlocal phase, total, began, first
        now = clock()
        if progress.phase == "plan":  # knows what it says, and interrupts nothing
            tell(progress)
            return
        if progress.phase != phase or progress.total != total or progress.done < first:
            phase, total, began, first = progress.phase, progress.total, now, progress.done
        steps, seconds = progress.done - first, now - began
        if progress.total > progress.done and steps >= _STEPS and seconds >= _SECONDS:
            progress = replace(progress, left=seconds / steps * (progress.total - progress.done))
        tell(progress)

    return maybe


def duration(seconds: float) -> str:
    """ "about 3 min": in tens of seconds below two minutes, in minutes below two hours, else in hours."""
    if seconds < 10:
        return say("under 10 s")
    if seconds < 115:
        return say("about {} s", round(seconds / 10) * 10)
    if seconds < 7000:
        return say("about {} min", round(seconds / 60))
    return say("about {} h", round(seconds / 3600))
