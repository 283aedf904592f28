"""The first picture of the app, on screen before the toolkit that draws all others has been loaded.

Loading it takes most of half a second, more on a slow machine. Meanwhile the person sees where they are, and the cursor
stands where the query will be: what they type is echoed there by the terminal and read by the app when it has begun.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from glassbox_tui.text.normalize import visible

_ENTER = "\x1b[?1049h\x1b[2J"
_LEAVE = "\x1b[?1049l"
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
# Where the query box is: (row, column) from 1, in the narrow and in the wide layout.
_NARROW, _WIDE = (2, 5), (3, 3)


@contextmanager
def first_picture(notes: str) -> Iterator[None]:
    """Show the name of the program and of the folder on the other screen, which the app takes over.

    Whatever ends the block before the app has taken it gives the terminal back.
    """
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return

    def gone(number: int, frame: FrameType | None) -> None:
        _write(_LEAVE)
        os._exit(128 + number)

    # Until the app minds them itself.
    before = {number: signal.signal(number, gone) for number in _ENDING}
    _write(_ENTER + picture(notes, os.get_terminal_size(sys.stdout.fileno())))
    try:
        yield
    except BaseException:
        _write(_LEAVE)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def picture(notes: str, size: os.terminal_size) -> str:
    """The status line's beginning, and the cursor in the query box to be."""
    row, column = _WIDE if size.columns >= 100 and size.lines >= 30 else _NARROW
    # Cut by characters and not by cells: half the room is always enough for the wide ones.
    place = visible(notes, keep_newlines=False)[: max(0, size.columns // 2 - 12)]
    return f"\x1b[1;1H \x1b[1mglassbox\x1b[0m  {place}\x1b[{row};{column}H"


def _write(text: str) -> None:
    with suppress(OSError):
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), text.encode("utf-8", "replace"))
