"""The worker threads: each serves one lane of requests and knows nothing of widgets.

    search   one at a time, the newest wins: a request takes the place of one that waits and cancels the one that runs
    index    opens the index, then keeps it up to date
    side     small questions (a note's text, the list of notes): they never wait behind a search or an update
    selftest the invariants, which take a minute

They run in the child process that `remote` starts; tests run them beside the app. They are daemon threads and not
textual workers: textual waits for its thread workers when it leaves, and a quit must not wait for a model.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from glassbox_tui.errors import GlassboxError
from glassbox_tui.notes.reading import NoteText
from glassbox_tui.notes.watch import Mode
from glassbox_tui.progress import Cancelled, CancelledFn, Progress, ProgressFn
from glassbox_tui.retrieval.moves import First
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.tui.backend import Backend, OpenAt, OpenBackend, Reply
from glassbox_tui.tui.estimate import estimating
from glassbox_tui.tui.messages import (
    AnswerDone,
    AroundRead,
    Changed,
    Checked,
    ChunksListed,
    Event,
    FolderFailed,
    FolderOpened,
    ListChunks,
    ListFailed,
    ListModels,
    ListNotes,
    MakeStep,
    MeasureModel,
    NoteRead,
    NotesListed,
    Opened,
    OpenFailed,
    OpenFolder,
    PauseEmbedding,
    Progressed,
    ReadAround,
    ReadNote,
    Refresh,
    Request,
    RunSelftest,
    Search,
    SearchDone,
    SearchFailed,
    SelftestDone,
    StepDone,
    StepFailed,
    StopMeasuring,
    Updated,
    UpdateFailed,
    UseModel,
    Watched,
)
from glassbox_tui.tui.modeljobs import list_models, measure_model, stop_measuring, use_model

Deliver = Callable[[Event], None]
_log = logging.getLogger(__name__)

RETRY_SECONDS = 3.0  # between looks whether the process that writes the index is gone
PATIENCE = 0.5  # seconds after which work that nobody asked for shows
# Of an update after an edit: the new text is searchable, then its vectors are. What comes later is older work.
EDIT_CHANGES = 2

SEARCH, INDEX, SIDE, SELFTEST, MEASURE = LANES = ("search", "index", "side", "selftest", "measure")


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


@dataclass(frozen=True, slots=True)
class Desk:
    """What a job works with. `cancelled` turns true when the job's result is no longer wanted.

    `hold` turns true when background work is to be left for later, `overtaken` when another request of the lane is why.
    `again` asks for another update in a while. `fresh`: the index was not brought up to date yet since it was opened;
    `settled` says that it is.
    """

    backend: Backend
    deliver: Deliver
    cancelled: CancelledFn
    hold: CancelledFn
    overtaken: CancelledFn
    again: Callable[[], None]
    fresh: bool
    settled: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Job:
    """How a kind of request is served, and in which lane. `work` may raise Cancelled; it reports by `desk.deliver`."""

    lane: str
    work: Callable[[Desk, Any], None]


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

    def _desk(self, lane: str, backend: Backend, cancelled: CancelledFn) -> Desk:
        waiting = self._waiting[lane]

        def settled() -> None:
            self._fresh = False

        return Desk(
            backend=backend,
            deliver=self._deliver,
            cancelled=cancelled,
            hold=lambda: self._paused or bool(waiting),
            overtaken=lambda: bool(waiting),
            again=self._retry,
            fresh=self._fresh,
            settled=settled,
        )

    def _retry(self) -> None:
        """Try again in a while: another process writes the index, and may be killed without a word."""
        timer = threading.Timer(RETRY_SECONDS, lambda: self.send(Refresh(quiet=True)))
        timer.daemon = True
        timer.start()

    def _serve(self, lane: str, tell: ProgressFn = lambda _: None) -> None:
        """Serve the lane's requests one after another until the end."""
        waiting = self._waiting[lane]

        def cancelled() -> bool:
            if self._stopped.is_set() or (lane == SEARCH and bool(waiting)):
                return True
            return OpenFolder in self._waiting[INDEX] if lane == INDEX else self._backend is None

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
                    JOBS[kind].work(self._desk(lane, backend, cancelled), request)
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
            for lane in (SEARCH, SIDE):
                self._waiting[lane].clear()  # what was asked of the folder before
        if before is not None:
            before.close()
        # Told before anything that is found in it, and after everything that was found before.
        self._deliver(FolderOpened(request.path, after.info()))
        with self._wake:
            self._backend, self._fresh = after, True
            self._waiting[INDEX][Refresh] = Refresh()
            self._wake.notify_all()
        self._watch(after)


def _search(desk: Desk, request: Search) -> None:
    try:
        trace = desk.backend.search(request.query, rounds=request.rounds, cancelled=desk.cancelled, scope=request.scope)
    except Cancelled:
        raise
    except Exception as error:
        desk.deliver(SearchFailed(request.run, sentence(error)))
        return
    desk.deliver(SearchDone(request.run, trace, request.rounds))
    if request.rounds and not desk.cancelled():
        desk.deliver(AnswerDone(request.run, _answer(desk.backend, trace)))


def _step(desk: Desk, request: MakeStep) -> None:
    try:
        pause = desk.backend.step(request.move, go_on=request.go_on, cancelled=desk.cancelled)
    except Cancelled:
        raise
    except Exception as error:
        failed = SearchFailed if isinstance(request.move, First) else StepFailed
        desk.deliver(failed(request.run, sentence(error)))
        return
    desk.deliver(StepDone(request.run, pause, request.branch, request.kept))
    if pause.proposal is None and not desk.cancelled():
        desk.deliver(AnswerDone(request.run, _answer(desk.backend, pause.trace)))


def _answer(backend: Backend, trace: Trace) -> Reply:
    try:
        return backend.answer(trace)
    except Exception as error:
        return Reply("none", sentence(error))


def _refresh(desk: Desk, request: Refresh) -> None:
    tell = throttled(estimating(lambda progress: desk.deliver(Progressed(progress))))
    edits = 0 if desk.fresh else EDIT_CHANGES

    def changed() -> None:
        nonlocal edits
        desk.deliver(Changed(desk.backend.info(), edited=edits > 0))
        edits -= 1

    try:
        outcome = desk.backend.update(
            progress=patient(tell) if request.quiet else tell,
            cancelled=desk.cancelled,
            changed=changed,
            hold=desk.hold,
        )
    except Cancelled:
        raise
    except Exception as error:
        desk.deliver(UpdateFailed(sentence(error)))
        return
    if outcome.pending and desk.overtaken():
        return  # the next update goes on with it
    if outcome.locked:
        desk.again()
    else:
        desk.settled()
    desk.deliver(Updated(desk.backend.info(), outcome.problems, outcome.pending))


def _selftest(desk: Desk, request: RunSelftest) -> None:
    def heard(group: str, name: str, ok: bool, detail: str, done: int, total: int) -> None:
        if desk.cancelled():
            raise Cancelled
        desk.deliver(Checked(request.run, group, name, ok, detail, done, total))

    try:
        desk.backend.selftest(heard)
    except Cancelled:
        raise
    except Exception as error:
        desk.deliver(SelftestDone(request.run, sentence(error)))
        return
    desk.deliver(SelftestDone(request.run))


def _read_note(desk: Desk, request: ReadNote) -> None:
    try:
        note = desk.backend.note_text(request.path)
    except Exception as error:
        note = NoteText(request.path, problem=sentence(error))
    desk.deliver(NoteRead(request.token, note))


def _read_around(desk: Desk, request: ReadAround) -> None:
    desk.deliver(AroundRead(request.uid, *desk.backend.text_around(request.uid)))


def _list_notes(desk: Desk, request: ListNotes) -> None:
    try:
        desk.deliver(NotesListed(desk.backend.files()))
    except Exception as error:
        desk.deliver(ListFailed(sentence(error)))


def _list_chunks(desk: Desk, request: ListChunks) -> None:
    desk.deliver(ChunksListed(request.path, *desk.backend.chunks(request.path)))


def _elsewhere(desk: Desk, request: OpenFolder) -> None:
    raise AssertionError("the workers serve this themselves: it changes the desk")


# Every kind of request the app can send.
JOBS: Mapping[type[Request], Job] = {
    Search: Job(SEARCH, _search),
    RunSelftest: Job(SELFTEST, _selftest),
    MakeStep: Job(SEARCH, _step),
    Refresh: Job(INDEX, _refresh),
    PauseEmbedding: Job(INDEX, _elsewhere),
    ReadNote: Job(SIDE, _read_note),
    ReadAround: Job(SIDE, _read_around),
    OpenFolder: Job(INDEX, _elsewhere),
    ListNotes: Job(SIDE, _list_notes),
    ListModels: Job(SIDE, list_models),
    UseModel: Job(SIDE, use_model),
    MeasureModel: Job(MEASURE, measure_model),
    StopMeasuring: Job(MEASURE, stop_measuring),
    ListChunks: Job(SIDE, _list_chunks),
}


def sentence(error: Exception) -> str:
    """What the screen says of an error; one that is not for people goes to the log in full."""
    if isinstance(error, GlassboxError):
        return str(error)
    _log.exception("in a worker thread")
    return f"{type(error).__name__}: {error} (the log has the details)"


def patient(tell: ProgressFn, clock: Callable[[], float] = time.monotonic) -> ProgressFn:
    """`tell`, but nothing in the first moments: work that is over so soon is not worth a word."""
    began = clock()

    def maybe(progress: Progress) -> None:
        if clock() - began >= PATIENCE:
            tell(progress)

    return maybe


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
