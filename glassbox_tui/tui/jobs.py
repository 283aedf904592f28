"""How each kind of request is served. A job knows its desk and nothing of threads or widgets."""

from __future__ import annotations

from collections.abc import Mapping

from glassbox_tui.notes.reading import NoteText
from glassbox_tui.progress import Cancelled
from glassbox_tui.retrieval.moves import First
from glassbox_tui.tui.backend import STOPPED, Reply
from glassbox_tui.tui.desk import (
    ANSWER,
    EXTRACT,
    INDEX,
    MEASURE,
    SEARCH,
    SELFTEST,
    SIDE,
    Desk,
    Job,
    patient,
    sentence,
    spaced,
    throttled,
)
from glassbox_tui.tui.estimate import estimating
from glassbox_tui.tui.messages import (
    AnswerDone,
    AnswerPiece,
    AnswerReading,
    AnswerStays,
    AroundRead,
    Changed,
    Checked,
    ChunksListed,
    EmbeddingHeld,
    Event,
    ListChunks,
    ListFailed,
    ListModels,
    ListNotes,
    MakeAnswer,
    MakeExtract,
    MakeStep,
    MeasureModel,
    NoteRead,
    NotesListed,
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
    StopAnswer,
    StopMeasuring,
    Updated,
    UpdateFailed,
    UseModel,
)
from glassbox_tui.tui.modeljobs import list_models, measure_model, stop_measuring, use_model

# Of an update after an edit: the new text is searchable, then its vectors are. What comes later is older work.
EDIT_CHANGES = 2


def _search(desk: Desk, request: Search) -> None:
    try:
        trace = desk.backend.search(
            request.query,
            rounds=request.rounds,
            cancelled=desk.cancelled,
            scope=request.scope,
            rewriter=request.rewriter,
        )
    except Cancelled:
        raise
    except Exception as error:
        desk.deliver(SearchFailed(request.run, sentence(error)))
        return
    desk.deliver(SearchDone(request.run, trace, request.rounds))
    if request.rounds and not desk.cancelled():
        desk.hand_on(MakeExtract(request.run, trace, request.by_model))


def _step(desk: Desk, request: MakeStep) -> None:
    try:
        pause = desk.backend.step(
            request.move, go_on=request.go_on, cancelled=desk.cancelled, rewriter=request.rewriter
        )
    except Cancelled:
        raise
    except Exception as error:
        failed = SearchFailed if isinstance(request.move, First) else StepFailed
        desk.deliver(failed(request.run, sentence(error)))
        return
    desk.deliver(StepDone(request.run, pause, request.branch, request.kept))
    if pause.proposal is None and not desk.cancelled():
        desk.hand_on(MakeExtract(request.run, pause.trace, request.by_model))


def _extract(desk: Desk, request: MakeExtract) -> None:
    """At once, for an extract takes no time; then the model is asked, if there is one and something to read."""
    try:
        reply = desk.backend.extract(request.trace)
    except Exception as error:
        reply = Reply("none", sentence(error))
    desk.deliver(AnswerDone(request.run, reply))
    writer = desk.backend.writer()
    wanted = writer.on if request.by_model is None else request.by_model
    if wanted and writer.name and reply.mode != "none" and not desk.cancelled():
        desk.hand_on(MakeAnswer(request.run, request.trace))


def _answer(desk: Desk, request: MakeAnswer) -> None:
    """Tell of every step of the model, often enough for an eye. A run that was overtaken says no more."""
    run, written = request.run, ""
    reading = spaced(lambda done, total: desk.deliver(AnswerReading(run, done, total)))
    show = spaced(lambda text: desk.deliver(AnswerPiece(run, text)))

    def piece(text: str) -> None:
        nonlocal written
        written += text
        show(written)

    desk.deliver(AnswerReading(run))
    try:
        if desk.cancelled():
            raise Cancelled
        reply = desk.backend.answer(request.trace, reading=reading, piece=piece, cancelled=desk.cancelled)
        done: Event = AnswerDone(run, reply)
    except Cancelled:
        done = AnswerStays(run, STOPPED)
    except Exception as error:
        done = AnswerStays(run, sentence(error))
    if not desk.overtaken():
        desk.deliver(done)


def _refresh(desk: Desk, request: Refresh) -> None:
    tell = throttled(estimating(lambda progress: desk.deliver(Progressed(progress))))
    edits = 0 if desk.fresh else EDIT_CHANGES

    def changed() -> None:
        nonlocal edits
        desk.deliver(Changed(desk.backend.info(), edited=edits > 0))
        edits -= 1

    try:
        if desk.fresh and (plan := desk.backend.new_embedder()):
            desk.pause()
            desk.deliver(EmbeddingHeld(plan))
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


def _elsewhere(desk: Desk, request: Request) -> None:
    raise AssertionError("the workers serve this themselves: it changes the desk")


# Every kind of request the app can send.
JOBS: Mapping[type[Request], Job] = {
    Search: Job(SEARCH, _search),
    RunSelftest: Job(SELFTEST, _selftest),
    MakeStep: Job(SEARCH, _step),
    MakeExtract: Job(EXTRACT, _extract),
    MakeAnswer: Job(ANSWER, _answer),
    Refresh: Job(INDEX, _refresh),
    PauseEmbedding: Job(INDEX, _elsewhere),
    StopAnswer: Job(ANSWER, _elsewhere),
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
