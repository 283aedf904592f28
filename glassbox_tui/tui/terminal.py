"""The terminal and the process around the app: where native libraries may write, and what the terminal can show."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol, runtime_checkable

from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver

from glassbox_tui.tui.anchors import anchored
from glassbox_tui.tui.keyboard import KeyboardDecoder
from glassbox_tui.tui.lean import lean
from glassbox_tui.tui.words import say

LOG_LIMIT = 1_000_000  # bytes; a log that has grown past this is begun anew, one old one is kept


@runtime_checkable
class Tells(Protocol):
    """An app that can say a sentence."""

    def tell(self, sentence: str) -> None: ...


class TerminalDriver(LinuxDriver):
    """Textual's driver, writing to the terminal itself, so that file descriptors 1 and 2 can go to a log meanwhile.

    Its size comes from the terminal too: exported COLUMNS and LINES would freeze it.
    """

    screen: TextIOWrapper | None = None
    _told = False  # of bytes that were left out

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._ascii_only = wants_ascii(os.environ)
        if self.screen is not None:
            self._file = self.screen

    def write(self, data: str) -> None:
        super().write(lean(anchored(data, ascii_only=self._ascii_only)))

    def run_input_thread(self) -> None:
        """Read keys until the app ends; bytes that are no UTF-8 are left out, and that is said once.

        Textual makes its decoder by this name of its module, and takes no other way.
        """
        linux_driver.getincrementaldecoder = lambda _: partial(KeyboardDecoder, self._garbled, gone)  # type: ignore[assignment,attr-defined]
        try:
            super().run_input_thread()
        except OSError:  # the line was cut while a key was read
            gone()

    def _garbled(self) -> None:
        if not self._told and isinstance(self._app, Tells):
            self._told = True
            sentence = say("the terminal sent bytes that are no UTF-8: they were left out; is it set to UTF-8?")
            self._app.call_later(self._app.tell, sentence)

    def _get_terminal_size(self) -> tuple[int, int]:
        try:
            width, height = os.get_terminal_size(self.fileno)
        except OSError:
            width, height = shutil.get_terminal_size()
        return width or 80, height or 24

    def _sigcont_application(self, *_: object) -> None:
        """Come back from ctrl+z, or from a SIGSTOP of someone else's, before which nothing of the terminal was let go.

        Textual would then begin a second time over itself, and never end: two threads would read the keys.
        """
        if self._must_signal_resume:
            super()._sigcont_application()
        else:
            signal.raise_signal(signal.SIGWINCH)  # who knows what was written over the screen: draw it again


# Signals that would end us without a word, and leave the terminal as the app has it. An editor may be meant by some.
OTHERS_THAT_END = (signal.SIGQUIT, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
LAST_SECONDS = 10  # from a signal to end until the process is ended, whatever it is at


def end_on_signals(end: Callable[[int], None]) -> None:
    """Let signals that end a process call `end(number)` in the running loop; if that does not do it, SIGALRM does.

    Does nothing outside the main thread: whoever runs us there minds the signals.
    """
    loop = asyncio.get_running_loop()

    def last_seconds(number: int, _: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # kills, also where no Python runs any more
        signal.alarm(LAST_SECONDS)

    def ending(number: int, _: object) -> None:
        last_seconds(number, _)
        with suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(end, number)

    with suppress(RuntimeError, ValueError):
        for number in OTHERS_THAT_END:
            signal.signal(number, ending)  # the loop would hear of those, too, that went to an editor
        for number in (signal.SIGTERM, signal.SIGHUP):
            # The loop's own handlers: with them a signal of any kind wakes it, SIGCONT and SIGWINCH too.
            loop.add_signal_handler(number, end, number)
            signal.signal(number, last_seconds)


def gone() -> None:
    """The terminal is gone, and no signal said so: the input of a hung-up terminal is at its end for ever."""
    os.kill(os.getpid(), signal.SIGHUP)
    time.sleep(0.5)  # it will be asked again at once


def _opened(log: Path) -> int:
    """A file descriptor that appends to `log`. Where nothing can be written it leads nowhere, and the app opens."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if log.exists() and log.stat().st_size > LOG_LIMIT:
            log.replace(log.with_suffix(".old.log"))
        return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


@contextmanager
def native_output_to(log: Path) -> Iterator[TextIOWrapper]:
    """Send file descriptors 1 and 2 (where native libraries write) to `log` for a while; yields the terminal."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    sink = _opened(log)
    handler = logging.StreamHandler(os.fdopen(os.dup(sink), "w", encoding="utf-8", errors="backslashreplace"))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger("glassbox_tui").addHandler(handler)
    screen = os.fdopen(os.dup(saved[1] if os.isatty(saved[1]) else saved[0]), "w", encoding="utf-8", errors="replace")
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.close(sink)
    try:
        yield screen
    finally:
        logging.getLogger("glassbox_tui").removeHandler(handler)
        handler.close()
        with suppress(OSError):  # the disk may be full
            handler.stream.close()
        sys.stdout.flush()
        sys.stderr.flush()
        for fd, old in zip((1, 2), saved, strict=True):
            os.dup2(old, fd)
            os.close(old)
        with suppress(OSError):  # the window may have been closed over us
            screen.close()


def is_terminal() -> bool:
    """Whether a person can see us and press keys."""
    return sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())


def wants_ascii(environ: Mapping[str, str]) -> bool:
    """Whether the locale asks for another charset than UTF-8, or the terminal is known to lack the glyphs."""
    spoken, plain = environ.get("LC_CTYPE", ""), environ.get("LANG", "") in {"C", "POSIX"}
    # Under LANG=C Python itself sets LC_CTYPE to one of these (PEP 538): that says nothing of the terminal.
    coerced = plain and spoken in {"C.UTF-8", "C.utf8", "UTF-8"}
    name = environ.get("LC_ALL") or ("" if coerced else spoken) or environ.get("LANG") or "UTF-8"
    carries = "utf" in name.lower() or "gb18030" in name.lower()
    return not carries or environ.get("TERM", "") in {"linux", "dumb", "vt100", "vt220"}
