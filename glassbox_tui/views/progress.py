"""Progress on standard error: a bar where a person watches, a line per piece of real work where a log does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.views.plain import clip, line

_WORDS = {
    "scan": "looking for notes",
    "text": "reading notes",
    "embed": "embedding chunks",
    "model": "preparing the model",
    "ask": "asking questions",
    "prompt": "tokens of the prompt read",
    "check": "checking",
    "pull": "fetching",
    "measure": "measuring",
}


def plan_words(p: Progress) -> str:
    """What a long embedding will cost, said when it has just begun: time and disk."""
    seconds = p.left or 0.0
    amounts = ((100, 1, "s"), (6_000, 60, "min"), (float("inf"), 3_600, "h"))
    time = next(f"{seconds / unit:.0f} {name}" for below, unit, name in amounts if seconds < below)
    return f"{p.total:,} chunks to embed: about {time}, {line(p.detail)} of disk; keyword search has them already"


@contextmanager
def shown_progress() -> Iterator[ProgressFn]:
    """A progress callable for the length of the block; the bar is gone when it ends."""
    if not sys.stderr.isatty():
        yield _Log()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}", markup=False, style="dim"),
    )
    with Bars(*columns, console=Console(stderr=True, markup=False), transient=True) as bars:
        task = bars.add_task("", total=None, detail="")

        def show(p: Progress) -> None:
            if p.phase == "plan":
                bars.console.print(plan_words(p), markup=False, highlight=False)
                return
            bars.update(
                task,
                description=_WORDS.get(p.phase, p.phase),
                completed=p.done,
                total=p.total or None,
                detail=clip(line(p.detail), 40),
            )

        yield show


class _Log:
    """One line when embedding, asking or a model's preparation begins; what is quick stays silent."""

    def __init__(self) -> None:
        self._phase = ""

    def __call__(self, p: Progress) -> None:
        if p.phase == "plan":
            print(f"glassbox-tui: {plan_words(p)}", file=sys.stderr, flush=True)
            return
        if p.phase != self._phase and p.phase in {"embed", "model", "ask", "measure"}:
            total = f" ({p.total})" if p.total and p.phase != "model" else ""
            print(f"glassbox-tui: {_WORDS[p.phase]}{total} ...", file=sys.stderr, flush=True)
        self._phase = p.phase
