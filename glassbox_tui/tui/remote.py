"""The workers in a process of their own, so that no key ever waits for the interpreter lock.

Loading a tokenizer, cutting a large note, reading an index: each can hold the lock for longer than a person should wait
for a key. So the engine lives in a child process, and requests and events cross a pipe (pickled: both ends are this
program). When the app goes, however it goes, the pipe breaks and the child ends; when the child dies, the app says so
and can start another. Neither can harm the index: the store survives a kill, and the lock goes with its holder.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from glassbox_tui.settings import Settings
from glassbox_tui.tui.backend import OpenAt, opener
from glassbox_tui.tui.desk import Deliver
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.messages import Event, FolderOpened, Refresh, Request, WorkersGone
from glassbox_tui.tui.work import Workers

_BROKEN = (EOFError, OSError, pickle.PickleError)


@dataclass(frozen=True, slots=True)
class Place:
    """What a child needs to know before its first request."""

    notes: Path
    settings: Settings


class Remote:
    """A `Crew` whose threads are in a child process. `deliver` is called from a thread of this process."""

    def __init__(self, place: Place, deliver: Deliver) -> None:
        self._place, self._deliver = place, deliver
        self._child: _Child | None = None
        self._stopped = False
        self._early: list[Request] | None = []  # what was asked before the start; None: it has started

    def start(self) -> None:
        child = self._child = _begin(self._place)
        for request in self._early or ():
            child.letters.put(request)
        self._early = None
        for work in (self._listen, _talk):
            threading.Thread(target=work, args=(child,), name="glassbox-pipe", daemon=True).start()

    def send(self, request: Request) -> None:
        child = self._child
        if child is not None:
            child.letters.put(request)
        elif self._early is not None:
            self._early.append(request)
        elif isinstance(request, Refresh) and not self._stopped:
            self.start()

    def cancel(self) -> None:
        # Not asked to end but ended: a native call would not hear, and the store survives a kill.
        self._stopped = True
        if self._child is not None:
            self._child.process.terminate()

    def stop(self, timeout: float = 0.3) -> bool:
        self.cancel()
        if self._child is None:
            return True
        try:
            self._child.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._child.process.kill()
            return False
        return True

    def _listen(self, child: _Child) -> None:
        """Pass on what the child tells, until it is gone."""
        with suppress(*_BROKEN):
            while True:
                event: Event = child.pipe.recv()
                if isinstance(event, FolderOpened):  # where the next child would begin
                    self._place = replace(self._place, notes=Path(event.path))
                if not self._stopped:
                    self._deliver(event)
        child.letters.put(None)
        status = child.process.wait()
        if not self._stopped:
            self._child = None
            self._deliver(WorkersGone(_how(status)))


@dataclass(frozen=True, slots=True)
class _Child:
    """`letters`: what is to be sent, None for no more; the pipe may block and the app must not."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    letters: queue.SimpleQueue[Request | None]


def _begin(place: Place) -> _Child:
    ours, theirs = Pipe()
    command = [sys.executable, "-m", __name__, str(theirs.fileno())]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),))
    theirs.close()
    child = _Child(process, ours, queue.SimpleQueue())
    with suppress(*_BROKEN):
        ours.send(place)
    return child


def _talk(child: _Child) -> None:
    with suppress(*_BROKEN):
        while (request := child.letters.get()) is not None:
            child.pipe.send(request)


def _how(status: int) -> str:
    what = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
    again = key_of("refresh")
    return f"the engine ended ({what}): {again} starts it again; the log has the details"


def main(fd: int) -> None:
    """The child: serve what comes through the pipe `fd` until it breaks, then end at once."""
    # A key in the terminal (ctrl+c or ctrl+\\ in an editor that the app opened) is not meant for us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    pipe, sending = Connection(fd), threading.Lock()

    def deliver(event: Event) -> None:
        with sending:
            try:
                pipe.send(event)
            except _BROKEN:
                os._exit(0)

    with suppress(*_BROKEN):
        place: Place = pipe.recv()
        open_at: OpenAt = lambda notes, progress: opener(notes, place.settings)(progress)  # noqa: E731
        workers = Workers(opener(place.notes, place.settings), deliver, open_at)
        workers.start()
        while True:
            workers.send(pipe.recv())
    # No clean-up: it would wait for native calls, and the store survives a kill.
    os._exit(0)


if __name__ == "__main__":
    # By its real name: classes of a module called __main__ could not be told apart from the app's.
    from glassbox_tui.tui import remote

    remote.main(int(sys.argv[1]))
