"""What every command prints with: results to standard output, everything else to standard error, never a crash."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

PROG = "glassbox-tui"
DONE, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
NARROWEST, WIDEST = 20, 400  # columns; COLUMNS may say anything


def open_streams() -> None:
    """A standard stream that the caller closed leads nowhere, so that the next file opened cannot take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115 - it stays open


def tolerant_streams() -> None:
    """Characters that the terminal's encoding lacks are escaped, bytes that are no text are let in: never a crash."""
    _reconfigure(sys.stdin, errors="surrogateescape")
    for stream in (sys.stdout, sys.stderr):
        _reconfigure(stream, errors="backslashreplace")


def abandon_stdout() -> None:
    """Point it away: what is still buffered would be written, and fail, once more while the interpreter shuts down."""
    with suppress(OSError):  # a stdout that is no file (io.UnsupportedOperation) has nothing to be pointed away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reconfigure(stream: Any, **changes: str) -> None:
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(**changes)


def width() -> int:
    """Columns that a view may take."""
    from rich.console import Console

    return min(max(Console().width, NARROWEST), WIDEST)


def show(renderable: RenderableType) -> int:
    """A view on standard output; the exit code of what is done."""
    from rich.console import Console

    with _in_cells():
        Console(width=width(), markup=False, emoji=False, highlight=False).print(renderable)
    return DONE


def show_text(drawn: str) -> int:
    """A view that is drawn already."""
    with _in_cells():
        sys.stdout.write(drawn)
    return DONE


@contextmanager
def _in_cells() -> Iterator[None]:
    """Characters that the encoding of standard output lacks become question marks as wide as they are: columns hold."""
    from glassbox_tui.views.widths import as_the_widest_terminal

    as_the_widest_terminal()
    codecs.register_error("glassbox.cells", _as_wide)
    _reconfigure(sys.stdout, errors="glassbox.cells")
    try:
        yield
    finally:
        _reconfigure(sys.stdout, errors="backslashreplace")


def _as_wide(error: UnicodeError) -> tuple[str, int]:
    from rich.cells import cell_len

    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "?" * sum(cell_len(char) for char in error.object[error.start : error.end]), error.end


def show_json(document: dict[str, Any]) -> int:
    """One JSON document, UTF-8 whatever the locale; what a terminal could obey in it comes out as JSON escapes."""
    from glassbox_tui.text.normalize import json_escaped

    _reconfigure(sys.stdout, encoding="utf-8", errors="backslashreplace")
    sys.stdout.write(json_escaped(json.dumps(document, ensure_ascii=False, allow_nan=False)) + "\n")
    return DONE


def tell(notices: Sequence[str]) -> None:
    """Each notice as a line on standard error."""
    from glassbox_tui.views.plain import line

    for notice in notices:
        print(f"{PROG}: {line(notice)}", file=sys.stderr)


def complain(sentence: str, code: int) -> int:
    """One clear sentence on standard error, and the exit code that goes with it."""
    tell([sentence])
    return code


def reason(error: Exception) -> str:
    """What went wrong and where, without the number of the error."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    return str(error)
