"""Answers that a model writes: the order of things, what is dropped, what is stopped. A script stands for the model."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import pytest
from samples import sample_trace
from scripted import INFO, REPLY, Gate, ScriptedBackend, Stage, running
from test_tui_order import reached

from glassbox_tui.models.chat import ReadingFn
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.tui import answerlines, branches, state
from glassbox_tui.tui.app import Posted
from glassbox_tui.tui.backend import Doubt, PieceFn, Reply, Source, Writer
from glassbox_tui.tui.branches import Branch, Loop
from glassbox_tui.tui.desk import spaced
from glassbox_tui.tui.features.copy import copies
from glassbox_tui.tui.marks import spans
from glassbox_tui.tui.messages import (
    AnswerDone,
    AnswerPiece,
    AnswerReading,
    AnswerStays,
    AnswerWaits,
    Changed,
    FolderOpened,
    OpenFolder,
    SearchDone,
)
from glassbox_tui.tui.state import View

WRITTEN = Reply(
    "generate",
    "RRF looks at ranks alone. [1]",
    (Source(1, "04-rrf.md:12-31", "04-rrf.md#1", "04-rrf.md", (13, 13)),),
    checked=1,
    model="tiny",
    prompt=(("system", "Answer from the passages."), ("user", "[1] RRF \x1b[31m looks at ranks.")),
    dropped=("09-fusion.txt#0",),
)
TALK = (AnswerDone, AnswerWaits, AnswerReading, AnswerPiece, AnswerStays)


@dataclass
class Model(ScriptedBackend):
    """Reads 312 of 900 tokens, then waits at `prompt`; writes "RRF looks ", waits at `text`; ends when cancelled."""

    who: Writer = Writer("tiny")  # noqa: RUF009 - frozen
    prompt: Gate = field(default_factory=Gate)
    text: Gate = field(default_factory=Gate)
    wound_up: threading.Event = field(default_factory=threading.Event)  # not set: it is deaf to `cancelled`
    asked_of_model: list[str] = field(default_factory=list)
    at_work: int = 0
    failure: Exception | None = None

    def answer(self, trace: Trace, *, reading: ReadingFn, piece: PieceFn, cancelled: CancelledFn) -> Reply:
        self.asked_of_model.append(trace.last.query)
        self.at_work += 1
        assert self.at_work == 1, "one at a time"
        try:
            reading(312, 900)
            self._hold(self.prompt, cancelled)
            if cancelled():
                raise Cancelled
            if self.failure is not None:
                raise self.failure
            piece("RRF looks ")
            self._hold(self.text, cancelled)
            return replace(WRITTEN, text="RRF looks", sources=(), stopped=True) if cancelled() else WRITTEN
        finally:
            self.at_work -= 1

    def _hold(self, gate: Gate, cancelled: CancelledFn) -> None:
        gate.reached.set()
        while not (gate.opened.wait(0.005) or (cancelled() and self.wound_up.is_set())):
            pass


def model(*, willing: bool = True, **options: object) -> Model:
    """`willing`: it ends as soon as it is cancelled."""
    made = Model(**options)  # type: ignore[arg-type]
    if willing:
        made.wound_up.set()
    return made


def talk(stage: Stage) -> list[object]:
    return [e for e in stage.seen.events if isinstance(e, TALK)]


async def until_read(stage: Stage, backend: Model, query: str = "rrf") -> None:
    """The rounds have run, the extract is there, the model is at its prompt."""
    await stage.ask(query, rounds=True)
    await reached(backend.prompt)
    await stage.seen.until(lambda: any(isinstance(e, AnswerReading) and e.total for e in stage.seen.events))
    await stage.pilot.pause()


async def until_written(stage: Stage, backend: Model) -> None:
    await until_read(stage, backend)
    backend.prompt.opened.set()
    await reached(backend.text)
    await stage.seen.heard(AnswerPiece)
    await stage.pilot.pause()


async def over(stage: Stage) -> None:
    await stage.seen.until(lambda: stage.view.answers.writing is None)
    await stage.pilot.pause()


# -- the order of things ----------------------------------------------------------------------------------------------


async def test_the_extract_is_there_at_once_and_the_models_answer_streams_in_its_place() -> None:
    backend = model()
    async with running(backend) as stage:
        await until_read(stage, backend)
        assert "reading the evidence 312 of 900 tokens" in stage.panel("answer")
        assert REPLY.text in stage.panel("answer")
        backend.prompt.opened.set()
        await reached(backend.text)
        await stage.seen.heard(AnswerPiece)
        assert "RRF looks" in stage.panel("answer")
        assert REPLY.text not in stage.panel("answer")
        backend.text.opened.set()
        await over(stage)
        assert "generated from the evidence (tiny)" in stage.panel("answer").replace("\n", " ")
        assert "[1] 04-rrf.md:12-31" in stage.panel("answer")
        # What the notes say themselves stays in sight below it, where it cannot be taken for the model's.
        text = "".join(stage.panel("answer").split())
        assert (
            text.index("RRFlooksatranksalone.[1]")
            < text.index("thenotesthemselves")
            < text.index("".join(REPLY.text.split()))
        )
    told = [e for e in stage.seen.events if isinstance(e, (SearchDone, *TALK))]
    order = [type(e) for e in told if not (isinstance(e, SearchDone) and not e.rounds)]
    assert order == [SearchDone, AnswerDone, AnswerReading, AnswerReading, AnswerPiece, AnswerDone]


async def test_a_search_does_not_wait_for_an_answer_nor_an_extract_for_one_that_is_being_stopped() -> None:
    backend = model(willing=False)
    async with running(backend) as stage:
        await until_read(stage, backend)
        await stage.press("slash")
        await stage.ask("bm25", rounds=True)  # search and extract, while the model is deaf
        assert backend.at_work == 1
        await stage.seen.heard(AnswerWaits)
        await stage.pilot.pause()
        assert "waiting for the answer before to stop" in stage.panel("answer").replace("\n", " ")
        backend.wound_up.set()
        await stage.seen.until(lambda: len(backend.asked_of_model) == 2)
        backend.prompt.opened.set()
        backend.text.opened.set()
        await over(stage)
        assert stage.view.reply == WRITTEN


async def test_of_the_answers_that_wait_only_the_newest_is_made() -> None:
    backend = model(willing=False, trace_for=lambda query, rounds: replace(sample_trace(), query=query))
    async with running(backend) as stage:
        await until_read(stage, backend)
        for _ in range(2):
            await stage.press("slash")
            await stage.ask("x", rounds=True)
            run = stage.view.run
            await stage.seen.until(lambda run=run: AnswerWaits(run) in stage.seen.events)
        backend.wound_up.set()
        backend.prompt.opened.set()
        backend.text.opened.set()
        await stage.seen.until(lambda: AnswerDone(stage.view.run, WRITTEN) in stage.seen.events)
        assert len(backend.asked_of_model) == 2
        assert [e.run for e in talk(stage) if isinstance(e, AnswerDone) and e.reply == WRITTEN] == [stage.view.run]


async def test_a_typed_letter_ends_the_answer_nobody_will_see() -> None:
    backend = model()
    async with running(backend) as stage:
        await until_written(stage, backend)
        await stage.press("slash", "x")
        await stage.seen.until(lambda: backend.at_work == 0 and stage.view.run == stage.view.shown)
        await stage.pilot.pause()
        assert "RRF looks" not in stage.screen()
        assert state.being_written(stage.view) is None


@pytest.mark.parametrize(
    "event", [AnswerWaits(1), AnswerReading(1, 3, 9), AnswerPiece(1, "old"), AnswerStays(1, "old")]
)
def test_what_a_stale_run_still_says_changes_nothing(event: AnswerPiece) -> None:
    view = View(run=2, shown=2, rounds=True, reply=REPLY, loop=Loop(branches=(Branch(sample_trace(), reply=REPLY),)))
    assert state.applied(view, event) == view
    assert state.applied(view, AnswerDone(1, WRITTEN)) == view


# -- stopping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["full_stop", "escape"])
async def test_stopped_while_the_prompt_is_read_the_extract_stays_with_the_reason(key: str) -> None:
    backend = model()
    async with running(backend) as stage:
        await until_read(stage, backend)
        await stage.press(key)
        await over(stage)
        assert REPLY.text in stage.panel("answer")
        assert "stopped before a word was written" in stage.panel("answer").replace("\n", " ")


async def test_stopped_while_it_writes_what_is_written_stays() -> None:
    backend = model()
    async with running(backend) as stage:
        await until_written(stage, backend)
        await stage.press("full_stop")
        await over(stage)
        assert "(tiny) stopped" in stage.panel("answer").replace("\n", " ")
        assert "RRF looks" in stage.panel("answer")
        await stage.press("X")  # extracts only
        assert REPLY.text in stage.panel("answer")


async def test_the_key_that_stops_stands_first_in_the_hints_only_while_an_answer_is_written() -> None:
    backend = model()
    async with running(backend, size=(80, 24)) as stage:
        await until_written(stage, backend)
        assert " . stop " in stage.panel("hints")
        assert "writing the answer" in stage.panel("status")
        assert "answer (writing)" in stage.panel("tabs")
        backend.text.opened.set()
        await over(stage)
        assert " . stop " not in stage.panel("hints")
        assert "writing" not in stage.panel("status") + stage.panel("tabs")
        await stage.press("full_stop")
        assert "no answer is being written" in stage.panel("notice")


async def test_a_model_that_fails_leaves_the_extract_and_a_sentence() -> None:
    backend = model(failure=RuntimeError("no tokens left"))
    async with running(backend) as stage:
        await until_read(stage, backend)
        backend.prompt.opened.set()
        await over(stage)
        assert REPLY.text in stage.panel("answer")
        assert "no tokens left" in stage.panel("answer").replace("\n", " ")


async def test_quitting_does_not_wait_for_the_model() -> None:
    backend = model(willing=False)
    async with running(backend) as stage:
        await until_read(stage, backend)
        await stage.pilot.press("q")
        await stage.pilot.pause()
        assert not stage.app.is_running
        assert not backend.closed
        backend.wound_up.set()
    assert backend.closed


async def test_another_folder_opens_once_the_answer_has_stopped_and_shows_nothing_of_it() -> None:
    other = ScriptedBackend()
    backend = model(willing=False, siblings={"/other": other})
    async with running(backend) as stage:
        await until_read(stage, backend)
        stage.app.send(OpenFolder("/other"))
        await stage.press("j")
        assert not backend.closed
        backend.wound_up.set()
        await stage.seen.heard(FolderOpened)
        await stage.seen.until(lambda: other.asked != [])
        assert backend.closed
        assert state.being_written(stage.view) is None
        assert not stage.view.answers.writer.name


# -- asking again, extracts only, the prompt ---------------------------------------------------------------------------


async def test_extracts_only_asks_no_model_and_the_key_asks_it_after_all() -> None:
    backend = model(who=Writer("tiny", on=False))  # as GLASSBOX_ANSWERS=extract has it
    backend.prompt.opened.set()
    backend.text.opened.set()
    async with running(backend) as stage:
        await stage.ask("rrf", rounds=True)
        assert backend.asked_of_model == []
        await stage.press("A")
        await over(stage)
        assert stage.view.reply == WRITTEN
        await stage.press("A")
        await stage.seen.until(lambda: len(backend.asked_of_model) == 2 and stage.view.answers.writing is None)
        await stage.press("X", "slash")
        await stage.ask("x", rounds=True)
        assert len(backend.asked_of_model) == 2


async def test_where_there_is_no_model_the_key_says_why() -> None:
    async with running(ScriptedBackend(who=Writer("", why="no language model is here: get one"))) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("A")
        assert "no language model is here" in stage.panel("notice")


async def test_the_prompt_is_shown_as_it_was_sent_its_control_characters_harmless() -> None:
    backend = model()
    backend.prompt.opened.set()
    backend.text.opened.set()
    async with running(backend) as stage:
        await stage.ask("rrf", rounds=True)
        await over(stage)
        await stage.seen.until(lambda: stage.view.reply == WRITTEN)
        await stage.press("P")
        shown = stage.panel("sheet")
        assert "Answer from the passages." in shown
        assert "looks at ranks." in shown
        assert "\x1b" not in shown
        assert "not in it: 09-fusion.txt#0" in shown


async def test_an_answer_that_is_being_written_is_not_thrown_away_by_another_enter() -> None:
    backend = model()
    async with running(backend) as stage:
        await until_read(stage, backend)
        run = stage.view.run
        await stage.press("enter")
        assert stage.view.run == run
        assert "the answer is being written" in stage.panel("notice")


async def test_a_note_that_is_saved_meanwhile_does_not_throw_the_answer_away() -> None:
    backend = model()
    async with running(backend) as stage:
        await until_written(stage, backend)
        run = stage.view.run
        stage.app.on_posted(Posted(Changed(INFO, edited=True)))
        assert "the notes have changed since" in stage.panel("notice")
        backend.text.opened.set()
        await over(stage)
        assert (stage.view.run, stage.view.reply) == (run, WRITTEN)


async def test_citations_of_a_generated_answer_are_moved_over_and_opened_as_those_of_an_extract() -> None:
    backend = model()
    backend.prompt.opened.set()
    backend.text.opened.set()
    async with running(backend) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.seen.until(lambda: stage.view.reply == WRITTEN)
        await stage.press("5", "enter")
        reading = stage.view.reading
        assert reading is not None
        assert reading.path == "04-rrf.md"
        assert backend.read == ["04-rrf.md"]


async def test_what_is_copied_while_it_is_written_is_what_is_on_screen() -> None:
    backend = model()
    async with running(backend) as stage:
        await until_written(stage, backend)
        assert copies(stage.view)["a"][1] == "RRF looks"


# -- pure parts -------------------------------------------------------------------------------------------------------


def test_an_answer_goes_to_the_branch_that_asked() -> None:
    loop = Loop(
        branches=(Branch(sample_trace(), reply=REPLY), Branch(sample_trace(), parent=0, reply=REPLY)), current=1
    )
    asked = state.ask_model(View(run=3, shown=3, rounds=True, loop=loop, trace=sample_trace(), reply=REPLY))
    elsewhere = state.switch_branch(asked, 1)
    piece = state.applied(elsewhere, AnswerPiece(asked.run, "words"))
    assert state.written_here(piece) is None
    assert state.being_written(piece) is not None
    done = state.applied(piece, AnswerDone(asked.run, WRITTEN))
    assert [b.reply for b in done.loop.branches] == [REPLY, WRITTEN]
    assert done.reply == REPLY


def test_a_reason_stands_below_the_notice_that_was_there() -> None:
    old = replace(REPLY, notice="read this answer with doubt.")
    loop = branches.noticed(Loop(branches=(Branch(sample_trace(), reply=old),)), "the model failed")
    assert loop.branches[0].reply == replace(old, notice="read this answer with doubt.\nthe model failed")


@pytest.mark.parametrize("verdict", ["unsupported", "weak"])
def test_a_doubtful_sentence_is_marked_in_the_text_without_colour_too(verdict: str) -> None:
    text = "It is so. [1] It costs 5\neuros [2]. Fine."
    (span,) = spans(text, ["It costs 5 euros."])
    assert text[slice(*span)] == "It costs 5\neuros [2]."
    reply = Reply("generate", text, doubts=(Doubt("It costs 5 euros.", 0.1, verdict, span=span),), checked=3)
    lines = answerlines.answer(View(trace=sample_trace(), run=1, shown=1, rounds=True, reply=reply), 80, 20)
    assert lines[1].plain == "checked: 2 of 3 supported by the notes"
    assert [line.plain for line in lines[2:4]] == ["It is so. [1] !It costs 5", "euros [2]. Fine."]
    marked = [line.plain[s.start : s.end] for line in lines[2:4] for s in line.spans if "underline" in str(s.style)]
    assert marked == ["It costs 5", "euros [2]."]


def test_sentences_that_are_not_in_the_answer_have_no_place() -> None:
    assert spans("One. Two.", ["Three.", "Two.", ""]) == [(0, 0), (5, 9), (0, 0)]


def test_news_are_told_at_intervals_and_the_first_at_once() -> None:
    now, told = 0.0, list[str]()
    tell = spaced(told.append, 0.125, lambda: now)
    for step in range(100):
        now = step / 100
        tell(str(step))
    assert told[0] == "0"
    assert len(told) <= 8
