"""A program in a pseudo-terminal, driven as a person does: type, look, resize, hang up. pyte keeps the screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte
from wcwidth import wcwidth

DEADLINE = 60.0  # seconds; nothing takes that long, unless it never comes
_TICK = 0.02
# The child makes the pseudo-terminal its controlling terminal before it becomes the program: a fork of our own is not
# safe here, where models have started threads.
_LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
# Private sequences that pyte would print: questions about modes, and the kitty keyboard's on and off.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[\?\d+\$p|\x1b\[[<>]\d*u")
# pyte has one screen only. The other one, where a program starts or comes back to, is taken to be blank.
_OTHER_SCREEN = re.compile(rb"\x1b\[\?1049[hl]")
_UNFINISHED = re.compile(rb"\x1b(\[[?<>]?[\d;]*\$?)?\Z")


def _row(cells: Mapping[int, pyte.screens.Char], columns: int) -> str:
    """A row as text. Half of a wide character, met in the middle of an update, is a blank: `display` fails on it."""
    shown = ""
    for x in range(columns):
        data = cells[x].data
        second_half = x > 0 and not data and wcwidth(cells[x - 1].data[:1] or " ") == 2
        shown += "" if second_half else data or " "
    return shown.rstrip()


class Terminal:
    """A terminal with one program in it. `sent` is every byte the program wrote, in order."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        size: tuple[int, int] = (120, 40),
        cwd: Path | None = None,
    ) -> None:
        self.sent = b""
        self._held = b""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        # Our own end of the program's side stays open: its modes can be read after the program is gone.
        self._master, self._tty = pty.openpty()
        self._set_size(*size)
        self.modes_before = self.modes()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, *command],
            stdin=self._tty,
            stdout=self._tty,
            stderr=self._tty,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )

    def close(self) -> None:
        """Kill what still runs and close the window."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # and its engine, which may be held
            self.process.wait()
        self.hang_up()

    # -- what a person does --------------------------------------------------------------------------------------------

    def type(self, keys: str) -> None:
        """Keys as they are: "\\r" is enter, "\\x1b" escape, "\\x1a" ctrl+z."""
        os.write(self._master, keys.encode())

    def send(self, raw: bytes) -> None:
        """Bytes as no keyboard would send them."""
        os.write(self._master, raw)

    def paste(self, text: str) -> None:
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        self._set_size(columns, rows)  # the kernel tells the program (SIGWINCH)
        self._screen.resize(rows, columns)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def hold(self) -> None:
        """Stop the program and the engine it has started, where they are."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def hang_up(self) -> None:
        """Close the window: the kernel sends SIGHUP and every further write of the program fails."""
        for fd in (self._master, self._tty):
            if fd >= 0:
                os.close(fd)
        self._master = self._tty = -1

    # -- what a person sees --------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The screen, a line per row, no trailing blanks."""
        return "\n".join(_row(self._screen.buffer[y], self._screen.columns) for y in range(self._screen.lines))

    def modes(self) -> list[object]:
        """The terminal's modes: echo, line editing, signals, control characters, ..."""
        return termios.tcgetattr(self._tty)

    def shows(self, pattern: str) -> bool:
        """Whether a regular expression matches the screen; ^ and $ are the ends of a row."""
        return re.search(pattern, self.text, re.MULTILINE) is not None

    def until(self, seen: str | Callable[[], bool], what: str = "") -> None:
        """Read on until a pattern matches the screen, or a condition holds; fails with the screen after DEADLINE."""
        holds = (lambda: self.shows(seen)) if isinstance(seen, str) else seen
        end = time.monotonic() + DEADLINE
        while True:
            self._read(_TICK)
            if holds():
                return
            if time.monotonic() > end or (self.process.poll() is not None and not self._read(0) and not holds()):
                state = f"ended with {self.process.returncode}" if self.process.poll() is not None else "runs"
                raise AssertionError(f"never came: {what or seen!r}; the program {state}; it shows\n{self.text}")

    def until_quiet(self, seconds: float) -> None:
        """Read on until the program has written nothing for this long."""
        last, count = time.monotonic(), len(self.sent)

        def quiet() -> bool:
            nonlocal last, count
            if len(self.sent) != count:
                last, count = time.monotonic(), len(self.sent)
            return time.monotonic() - last >= seconds

        self.until(quiet, f"{seconds} s without a byte")

    def bytes_within(self, seconds: float) -> bytes:
        """What the program writes in this time."""
        before, end = len(self.sent), time.monotonic() + seconds
        while time.monotonic() < end:
            self._read(_TICK)
        return self.sent[before:]

    def ended(self) -> int:
        """Read on until the program ends; its exit status (negative: the signal that killed it)."""
        if self._master < 0:
            return self.process.wait(DEADLINE)
        end = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            self._read(_TICK)
            assert time.monotonic() < end, f"the program does not end; it shows\n{self.text}"
        while self._read(0):
            pass
        return int(self.process.returncode)

    def stopped(self) -> bool:
        """Whether the program has just been stopped, as its parent (a shell) learns it."""
        pid, status = os.waitpid(self.process.pid, os.WUNTRACED | os.WNOHANG)
        return pid != 0 and os.WIFSTOPPED(status)

    def _read(self, wait: float) -> bool:
        """Take in what the program has written, waiting up to `wait` seconds for it. False: there was nothing."""
        if not select.select([self._master], [], [], wait)[0]:
            return False
        data = os.read(self._master, 65536)
        self.sent += data
        data = self._held + data
        unfinished = _UNFINISHED.search(data)
        self._held = data[unfinished.start() :] if unfinished else b""
        whole = _UNKNOWN_TO_PYTE.sub(b"", data[: len(data) - len(self._held)])
        self._stream.feed(_OTHER_SCREEN.sub(lambda found: found[0] + b"\x1b[2J", whole))
        return True

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._tty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
