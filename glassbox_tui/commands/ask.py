"""`ask`: an answer, written to the terminal as it comes where there is one, else printed when it is whole."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

from glassbox_tui.answer.answers import answer, doubt_of
from glassbox_tui.answer.record import Answer
from glassbox_tui.commands.output import show, width
from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.views.answer import answer_head, answer_rest, answer_view
from glassbox_tui.views.progress import shown_progress
from glassbox_tui.views.stream import Stream


class Stopping:
    """Whether the person pressed ctrl+c."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        return self.asked


def asked(trace: Trace, engine: Engine, *, silent: bool) -> tuple[Answer, bool]:
    """(the answer, whether it was stopped), printed unless `silent`; on a terminal as it is written."""
    live = not silent and sys.stdout.isatty()
    stream = Stream(sys.stdout, width())  # before a progress bar takes standard output's place
    doubt = doubt_of(trace)
    with ExitStack() as shown, stopped_by_ctrl_c() as stopping:
        progress = shown.enter_context(shown_progress())

        def piece(text: str) -> None:
            if not live:
                return
            if not stream.text:
                shown.close()  # the line that said how much is read makes way
                writer = engine.generator or engine.chat
                show(answer_head(trace.query, "generate", writer.name if writer else "", doubt))
            stream(text)

        def reading(done: int, total: int) -> None:
            if not stream.text:
                progress(Progress("prompt", done, total))

        found = answer(trace, engine, reading=reading, piece=piece, cancelled=stopping)
    if silent:
        return found, stopping.asked
    if stream.text:
        stream.end()
    if stream.text and stream.text == found.text:
        show(answer_rest(found, trace, found.notice.removeprefix(doubt).strip()))
    else:  # nothing was written, or it is not what counts in the end
        show(answer_view(found, trace))
    return found, stopping.asked


@contextmanager
def stopped_by_ctrl_c() -> Iterator[Stopping]:
    """The first ctrl+c asks to stop; a second one interrupts as ever."""
    stopping = Stopping()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if stopping.asked:
            raise KeyboardInterrupt
        stopping.asked = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopping
    finally:
        signal.signal(signal.SIGINT, before)
