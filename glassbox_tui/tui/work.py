"""The worker threads: each serves one lane of requests and knows nothing of widgets.

    search   one at a time, the newest wins: a request takes the place of one that waits and cancels the one that runs
    extract  quotes the evidence when the rounds end: beside the next search, and beside an answer that is being stopped
    answer   the model's answers, one at a time, a queue of one. Whatever the person asks next, a typed letter too, ends
             the one that is written: its evidence has left the screen, and nobody would see it
    index    opens the index, then keeps it up to date
    side     small questions (a note's text, the list of notes): they never wait behind a search or an update
    selftest the invariants, which take a minute

They run in the child process that `remote` starts; tests run them beside the app. They are daemon threads and not
textual workers: textual waits for its thread workers when it leaves, and a quit must not wait for a model.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Protocol

from glassbox_tui.errors import GlassboxError
from glassbox_tui.notes.watch import Mode
from glassbox_tui.progress import Cancelled, Progress, ProgressFn
from glassbox_tui.tui.backend import Backend, OpenAt, OpenBackend
from glassbox_tui.tui.desk import (
    ANSWER,
    EXTRACT,
    INDEX,
    LANES,
    MEASURE,
    SEARCH,
    SELFTEST,
    SIDE,
    Deliver,
    Desk,
    sentence,
    throttled,
)
from glassbox_tui.tui.estimate import estimating
from glassbox_tui.tui.jobs import JOBS
from glassbox_tui.tui.messages import (
    AnswerWaits,
    FolderFailed,
    FolderOpened,
    MakeAnswer,
    MakeStep,
    Opened,
    OpenFailed,
    OpenFolder,
    PauseEmbedding,
    Progressed,
    Refresh,
    Request,
    Search,
    StopAnswer,
    Watched,
)

RETRY_SECONDS = 3.0  # between looks whether the process that writes the index is gone


class Crew(Protocol):
    """What the app asks of whoever works behind it: threads here, or a process that has them."""

    def start(self) -> None: ...

    def send(self, request: Request) -> None:
        """Hand over a request; returns at once. Of two of a kind that wait, the newer stays."""
        ...

    def cancel(self) -> None:
        """Ask everything to end; returns at once."""
        ...

    def stop(self, timeout: float = 0.3) -> bool:
        """Cancel and wait up to `timeout` seconds. False: something is busy still."""
        ...


class Workers:
    """Owns the backend and the threads. `deliver` is called from them and must be safe to call from any thread."""

    def __init__(self, open_backend: OpenBackend, deliver: Deliver, open_at: OpenAt | None = None) -> None:
        """`open_at` opens another folder where the first could not be opened; otherwise that one's sibling serves."""
        self._open, self._open_at = open_backend, open_at
        self._deliver = deliver
        self._backend: Backend | None = None
        self._busy: set[str] = set()  # lanes that are at work on the backend
        # What waits, by kind: a newer request of a kind takes the place of the older.
        self._waiting: dict[str, dict[type[Request], Request]] = {lane: {} for lane in LANES}
        self._waiting[INDEX][Refresh] = Refresh()
        self._wake = threading.Condition()
        self._stopped = threading.Event()
        self._paused = False  # the embedding is
        self._newest = self._stopped_to = 0  # runs: the last asked for, and the last whose answer was stopped
        self._fresh = True  # no update was finished since the index was opened
        self._unwatched = threading.Event()  # set: the watch of the folder before is to end
        serve = {lane: self._open_and_serve if lane == INDEX else self._serve for lane in LANES}
        self._threads = tuple(
            threading.Thread(target=serve[lane], args=(lane,), name=f"glassbox-{lane}", daemon=True) for lane in LANES
        )

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def send(self, request: Request) -> None:
        if isinstance(request, PauseEmbedding):
            self._paused = request.on
            if request.on:
                return
            request = Refresh()
        if isinstance(request, StopAnswer):
            self._stopped_to = max(self._stopped_to, request.run)
            return
        if isinstance(request, Search | MakeStep | MakeAnswer):
            self._newest = max(self._newest, request.run)
        if isinstance(request, MakeAnswer) and ANSWER in self._busy:
            self._deliver(AnswerWaits(request.run))
        kind = type(request)
        lane = self._waiting[JOBS[kind].lane]
        with self._wake:
            if JOBS[kind].lane == SEARCH:
                lane.clear()
            lane.pop(kind, None)  # to the end of the line
            lane[kind] = request
            self._wake.notify_all()

    def cancel(self) -> None:
        self._stopped.set()
        self._unwatched.set()
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

    def _open_and_serve(self, lane: str) -> None:
        tell = throttled(estimating(lambda progress: self._deliver(Progressed(progress))))

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
        else:
            with self._wake:
                self._backend = backend
                self._wake.notify_all()
            self._deliver(Opened(backend.info()))
            self._deliver(backend.writer())
            self._watch(backend)
        self._serve(lane, tell_or_stop)

    def _watch(self, backend: Backend) -> None:
        """From now on this backend's folder is watched, and no other."""
        self._unwatched.set()
        stop = self._unwatched = threading.Event()
        if self._stopped.is_set():
            return

        def keep_watching() -> None:
            try:
                backend.watch(
                    lambda: self.send(Refresh(quiet=True)) if not stop.is_set() else None,
                    lambda mode: self._deliver(Watched(mode)),
                    stop,
                )
            except Exception as error:
                self._deliver(Watched(Mode("off", sentence(error))))

        threading.Thread(target=keep_watching, name="glassbox-watch", daemon=True).start()

    def _desk(self, lane: str, backend: Backend, request: Request) -> Desk:
        waiting, run = self._waiting[lane], getattr(request, "run", 0)

        def overtaken() -> bool:
            return run < self._newest if lane in (EXTRACT, ANSWER) else bool(waiting)

        def cancelled() -> bool:
            if self._stopped.is_set():
                return True
            if lane == INDEX:
                return OpenFolder in waiting
            if lane == ANSWER and run <= self._stopped_to:
                return True
            return self._backend is None or (lane in (SEARCH, EXTRACT, ANSWER) and overtaken())

        def settled() -> None:
            self._fresh = False

        def pause() -> None:
            self._paused = True

        return Desk(
            backend=backend,
            deliver=self._deliver,
            cancelled=cancelled,
            hold=lambda: self._paused or bool(waiting),
            overtaken=overtaken,
            hand_on=self.send,
            again=self._retry,
            fresh=self._fresh,
            settled=settled,
            pause=pause,
        )

    def _retry(self) -> None:
        """Try again in a while: another process writes the index, and may be killed without a word."""
        timer = threading.Timer(RETRY_SECONDS, lambda: self.send(Refresh(quiet=True)))
        timer.daemon = True
        timer.start()

    def _serve(self, lane: str, tell: ProgressFn = lambda _: None) -> None:
        """Serve the lane's requests one after another until the end."""
        waiting = self._waiting[lane]

        while True:
            with self._wake:
                self._wake.wait_for(
                    lambda: self._stopped.is_set() or OpenFolder in waiting or (waiting and self._backend)
                )
                if self._stopped.is_set():
                    return
                kind = OpenFolder if OpenFolder in waiting else next(iter(waiting))
                request = waiting.pop(kind)
                backend = self._backend
                self._busy.add(lane)
            try:
                if isinstance(request, OpenFolder):
                    self._move(request, backend, tell)
                elif backend is not None:
                    JOBS[kind].work(self._desk(lane, backend, request), request)
            except Cancelled:
                pass
            except Exception as error:  # a job minds its own errors: this one is ours, and must not end the lane
                sentence(error)
            finally:
                with self._wake:
                    self._busy.discard(lane)
                    self._wake.notify_all()

    def _move(self, request: OpenFolder, before: Backend | None, tell: ProgressFn) -> None:
        """Open another folder; only then let go of the one before. Runs in the index lane, so no update runs."""
        try:
            if before is not None:
                after = before.sibling(Path(request.path))
            elif self._open_at is not None:
                after = self._open_at(Path(request.path), tell)
            else:
                raise GlassboxError("no other folder can be opened here")
        except Cancelled:
            raise
        except Exception as error:
            self._deliver(FolderFailed(sentence(error)))
            if before is not None:
                self.send(Refresh())  # the update that was stopped for this
            return
        with self._wake:
            self._backend = None  # the lanes that use it finish what they do, and wait
            self._wake.wait_for(lambda: self._stopped.is_set() or self._busy <= {INDEX, SELFTEST, MEASURE})
            if self._stopped.is_set():
                self._backend = before
                raise Cancelled
            for lane in (SEARCH, EXTRACT, ANSWER, SIDE):
                self._waiting[lane].clear()  # what was asked of the folder before
        if before is not None:
            before.close()
        # Told before anything that is found in it, and after everything that was found before.
        self._deliver(FolderOpened(request.path, after.info()))
        self._deliver(after.writer())
        with self._wake:
            self._backend, self._fresh = after, True
            self._waiting[INDEX][Refresh] = Refresh()
            self._wake.notify_all()
        self._watch(after)
