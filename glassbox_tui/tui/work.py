"""The two worker threads: one searches, one opens and updates the index. Neither knows of widgets.

They are daemon threads and not textual workers: textual waits for its thread workers when it leaves, and a quit must
not wait for a model.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from glassbox_tui.errors import GlassboxError
from glassbox_tui.progress import Cancelled, Progress, ProgressFn
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.tui.backend import Backend, OpenBackend, Reply
from glassbox_tui.tui.messages import (
    AnswerDone,
    Changed,
    Event,
    Opened,
    OpenFailed,
    Progressed,
    SearchDone,
    SearchFailed,
    Updated,
    UpdateFailed,
)

Deliver = Callable[[Event], None]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A search to make: `run` tags its result, `rounds` asks for rewrite rounds and an answer."""

    run: int
    query: str
    rounds: bool


class Workers:
    """Owns the backend and both threads. `deliver` is called from them and must be safe to call from any thread."""

    def __init__(self, open_backend: OpenBackend, deliver: Deliver) -> None:
        self._open = open_backend
        self._deliver = deliver
        self._backend: Backend | None = None
        self._pending: Request | None = None
        self._stale = True  # the folder is to be read (again)
        self._wake = threading.Condition()
        self._stopped = threading.Event()
        self._threads = (
            threading.Thread(target=self._keep_index, name="glassbox-index", daemon=True),
            threading.Thread(target=self._keep_searching, name="glassbox-search", daemon=True),
        )

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def submit(self, request: Request) -> None:
        """Search for this next. It takes the place of a request that waits and cancels the one that runs."""
        with self._wake:
            self._pending = request
            self._wake.notify_all()

    def refresh(self) -> None:
        """Read the folder again as soon as no update runs."""
        with self._wake:
            self._stale = True
            self._wake.notify_all()

    def cancel(self) -> None:
        """Ask both threads to end; returns at once."""
        self._stopped.set()
        with self._wake:
            self._wake.notify_all()

    def stop(self, timeout: float = 0.3) -> bool:
        """Cancel, wait up to `timeout` seconds, close the backend. False: a thread is busy, nothing was closed.

        The backend is closed, not let go of: taking its models apart takes most of a second, in which nobody quits.
        """
        self.cancel()
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads):
            return False
        if self._backend is not None:
            self._backend.close()
        return True

    def _keep_index(self) -> None:
        tell = throttled(lambda progress: self._deliver(Progressed(progress)))

        def tell_or_stop(progress: Progress) -> None:
            # Opening has no `cancelled` to ask, so its progress report is where a quit reaches it.
            if self._stopped.is_set():
                raise Cancelled
            tell(progress)

        try:
            backend = self._open(tell_or_stop)
        except Cancelled:
            return
        except Exception as error:
            self._deliver(OpenFailed(sentence(error)))
            return
        with self._wake:
            self._backend = backend
            self._wake.notify_all()
        self._deliver(Opened(backend.info()))
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stopped.is_set() or self._stale)
                self._stale = False
            if self._stopped.is_set():
                return
            self._update(backend, tell)

    def _update(self, backend: Backend, tell: ProgressFn) -> None:
        try:
            problems = backend.update(
                progress=tell,
                cancelled=self._stopped.is_set,
                changed=lambda: self._deliver(Changed(backend.info())),
            )
        except Cancelled:
            return
        except Exception as error:
            self._deliver(UpdateFailed(sentence(error)))
            return
        self._deliver(Updated(backend.info(), problems))

    def _keep_searching(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stopped.is_set() or (self._pending and self._backend))
                if self._stopped.is_set():
                    return
                request, self._pending = self._pending, None
                backend = self._backend
            if request is not None and backend is not None:
                self._search(backend, request)

    def _search(self, backend: Backend, request: Request) -> None:
        def superseded() -> bool:
            return self._stopped.is_set() or self._pending is not None

        try:
            trace = backend.search(request.query, rounds=request.rounds, cancelled=superseded)
        except Cancelled:
            return
        except Exception as error:
            self._deliver(SearchFailed(request.run, sentence(error)))
            return
        self._deliver(SearchDone(request.run, trace, request.rounds))
        if request.rounds and not superseded():
            self._deliver(AnswerDone(request.run, _answer(backend, trace)))


def _answer(backend: Backend, trace: Trace) -> Reply:
    try:
        return backend.answer(trace)
    except Exception as error:
        return Reply("none", sentence(error))


def sentence(error: Exception) -> str:
    """What the screen says of an error; one that is not for people goes to the log in full."""
    if isinstance(error, GlassboxError):
        return str(error)
    _log.exception("in a worker thread")
    return f"{type(error).__name__}: {error} (the log has the details)"


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
