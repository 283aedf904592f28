"""The order of things: what arrives late, what is overtaken, what is cut off. Gates hold the threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from samples import sample_trace
from scripted import INFO, LIMIT, Gate, ScriptedBackend, running

from glassbox_tui.errors import GlassboxError
from glassbox_tui.progress import Cancelled, CancelledFn, Progress, ProgressFn
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.tui.app import make_app
from glassbox_tui.tui.backend import Backend, Outcome, Reply
from glassbox_tui.tui.messages import (
    AnswerDone,
    OpenFailed,
    Progressed,
    SearchDone,
    SearchFailed,
    Updated,
    UpdateFailed,
)
from glassbox_tui.tui.state import selected_hit, selected_index
from glassbox_tui.tui.widgets import Panel, QueryBox

NO_NOTES = IndexInfo(0, 0, 1.0, INFO.embedder, INFO.reranker)


async def reached(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.reached.wait, LIMIT)


async def test_newest_query_wins_those_in_between_are_never_run_and_a_late_result_is_dropped() -> None:
    slow = Gate()
    backend = ScriptedBackend(gates={"a": slow})
    async with running(backend) as stage:
        await stage.press("a")
        await reached(slow)
        await stage.press("b", "c", "d")
        assert stage.view.trace is None
        slow.opened.set()
        drawn: list[tuple[int, int]] = []
        for expected in (1, 4):
            await stage.seen.until(
                lambda run=expected: run in [e.run for e in stage.seen.events if isinstance(e, SearchDone)]
            )
            drawn.append((expected, stage.view.shown))
        assert [query for query, _ in backend.asked] == ["a", "abcd"]
        # Run 1 did come in, and when it did it was not shown.
        assert [e.run for e in stage.seen.events if isinstance(e, SearchDone)] == [1, 4]
        assert drawn[-1] == (4, 4)


async def test_a_stale_result_changes_nothing_on_screen() -> None:
    first, second = Gate(), Gate()
    backend = ScriptedBackend(gates={"a": first, "ab": second})
    async with running(backend) as stage:
        await stage.press("a")
        await reached(first)
        await stage.press("b")
        first.opened.set()
        await reached(second)  # so the first search is over, and its result was posted before
        await stage.seen.heard(SearchDone)
        assert stage.view.trace is None
        second.opened.set()
        await stage.seen.until(lambda: stage.view.shown == 2)
        assert stage.view.trace is not None


async def test_a_search_that_is_overtaken_is_told_to_stop() -> None:
    told: list[bool] = []

    class Patient(ScriptedBackend):
        def search(
            self, query: str, *, rounds: bool, cancelled: CancelledFn, scope: str = "", rewriter: str = ""
        ) -> Trace:
            trace = super().search(query, rounds=rounds, cancelled=cancelled, scope=scope)
            told.append(cancelled())
            if cancelled():
                raise Cancelled
            return trace

    slow = Gate()
    async with running(Patient(gates={"a": slow})) as stage:
        await stage.press("a")
        await reached(slow)
        await stage.press("b")
        slow.opened.set()
        await stage.seen.until(lambda: stage.view.shown == 2)
        assert told == [True, False]
        assert [e.run for e in stage.seen.events if isinstance(e, SearchDone)] == [2]


async def test_an_empty_box_takes_the_old_results_off_the_screen_and_keeps_late_ones_off() -> None:
    slow = Gate()
    backend = ScriptedBackend(gates={"a": slow})
    async with running(backend) as stage:
        await stage.press("a")
        await reached(slow)
        await stage.press("backspace")
        slow.opened.set()
        await stage.seen.heard(SearchDone)
        assert stage.view.trace is None
        assert "type a question" in stage.panel("verdict")


async def test_search_works_while_the_index_is_built_and_again_once_it_is() -> None:
    indexing = Gate()
    steps = (Progress("scan", 3, 3), Progress("text", 3, 3), Progress("embed", 3, 10))
    backend = ScriptedBackend(update_gate=indexing, steps=steps)
    async with running(backend, indexed=False) as stage:
        await reached(indexing)
        await stage.ask("rrf")
        assert "embedding 3/10" in stage.panel("status")
        assert "SUFFICIENT" in stage.panel("verdict")
        asked = len(backend.asked)
        indexing.opened.set()
        await stage.seen.until(lambda: len(backend.asked) > asked and stage.view.shown == stage.view.run)
        assert backend.asked[-1] == ("rrf", False)
        assert "embedding" not in stage.panel("status")
    assert [e.progress for e in stage.seen.events if isinstance(e, Progressed)] == list(steps)


@pytest.mark.parametrize("full", [False, True])
async def test_a_search_that_began_on_an_empty_index_and_ends_after_it_was_filled_runs_again(full: bool) -> None:
    indexing, slow = Gate(), Gate()

    class Filling(ScriptedBackend):
        """What a search sees is the index as it is when the search begins."""

        def search(
            self, query: str, *, rounds: bool, cancelled: CancelledFn, scope: str = "", rewriter: str = ""
        ) -> Trace:
            empty = not indexing.opened.is_set()
            trace = super().search(query, rounds=rounds, cancelled=cancelled, scope=scope)
            if (query, rounds) == ("rrf", full):
                slow.hold()
            nothing = replace(trace.rounds[0], hits=())
            return replace(trace, index=NO_NOTES, rounds=(nothing,)) if empty else trace

        def info(self) -> IndexInfo:
            return INFO if indexing.opened.is_set() else NO_NOTES

    backend = Filling(update_gate=indexing)
    async with running(backend, indexed=False) as stage:
        await reached(indexing)
        await stage.press(*"rrf", *(["enter"] if full else []))
        await reached(slow)
        indexing.opened.set()
        await stage.seen.heard(Updated)
        slow.opened.set()
        await stage.seen.until(lambda: stage.view.shown == stage.view.run and selected_hit(stage.view) is not None)
        assert "0 notes" not in stage.panel("status")
        assert "14 notes" in stage.panel("status")
        assert backend.asked[-1] == ("rrf", full)


async def test_what_is_typed_before_the_index_is_open_is_searched_as_soon_as_it_is() -> None:
    opening, backend = Gate(), ScriptedBackend()

    def open_slowly(progress: ProgressFn) -> Backend:
        opening.hold()
        return backend

    app = make_app(open_slowly)
    async with app.run_test(size=(120, 40)) as pilot:
        await reached(opening)
        await pilot.press(*"rrf")
        assert "starts as soon as the index is open" in app.screen.query_one("#verdict", Panel).plain
        opening.opened.set()
        async with asyncio.timeout(LIMIT):
            while app.view.trace is None:
                await pilot.pause()
        assert backend.asked[0] == ("rrf", False)
    assert app.crew.stop(LIMIT)


async def test_quitting_does_not_wait_for_indexing_nor_for_a_search_and_closes_the_index_when_they_end() -> None:
    indexing, slow = Gate(), Gate()
    backend = ScriptedBackend(update_gate=indexing, gates={"a": slow})
    app = make_app(lambda progress: backend)
    async with app.run_test() as pilot:
        await reached(indexing)
        await pilot.press("a")
        await reached(slow)
        await pilot.press("escape", "q")
    # The app is gone while both threads still work; nothing was closed under them.
    assert not app.is_running
    assert app.crew.stop(0.0) is False
    assert not backend.closed
    indexing.opened.set()
    slow.opened.set()
    assert app.crew.stop(LIMIT)
    assert backend.closed


async def test_quitting_while_the_index_is_being_opened_stops_the_opening() -> None:
    opening = Gate()
    passed: list[str] = []

    def open_slowly(progress: ProgressFn) -> Backend:
        opening.hold()
        progress(Progress("model", 1, 10))
        passed.append("the opening went on")
        return ScriptedBackend()

    app = make_app(open_slowly)
    async with app.run_test() as pilot:
        await reached(opening)
        await pilot.press("ctrl+c")
    opening.opened.set()
    assert app.crew.stop(LIMIT)
    assert not passed


async def test_the_answer_of_an_overtaken_run_is_dropped() -> None:
    thinking = Gate()

    class Thinker(ScriptedBackend):
        def extract(self, trace: Trace) -> Reply:
            thinking.hold()
            return Reply("extract", "old answer")

    async with running(Thinker()) as stage:
        await stage.press("a", "enter")
        await reached(thinking)
        assert "answering" in stage.panel("answer")
        await stage.press("slash", "b")
        thinking.opened.set()
        await stage.seen.heard(AnswerDone)
        await stage.seen.until(lambda: stage.view.shown == stage.view.run)
        assert "old answer" not in stage.screen()


async def test_the_selection_stays_on_its_content_when_the_list_changes() -> None:
    def reordered(query: str, rounds: bool) -> Trace:
        trace = sample_trace()
        if len(query) < 2:
            return trace
        hits = tuple(replace(h, uid=f"edited/{h.uid}") for h in reversed(trace.hits))
        return replace(trace, rounds=(replace(trace.last, hits=hits),))

    async with running(ScriptedBackend(trace_for=reordered)) as stage:
        await stage.ask("a")
        await stage.press("down", "down")
        before = selected_hit(stage.view)
        await stage.ask("b")
        after = selected_hit(stage.view)
        assert before is not None
        assert after is not None
        assert (after.content, after.uid) == (before.content, f"edited/{before.uid}")
        assert selected_index(stage.view) == 5


async def test_an_index_that_cannot_be_opened_is_said_in_its_own_words() -> None:
    class NoModel(GlassboxError):
        pass

    def fail(progress: ProgressFn) -> Backend:
        raise NoModel("the model file [/] is damaged; delete it")

    heard: list[object] = []
    app = make_app(fail, observer=heard.append)
    async with app.run_test(size=(120, 40)) as pilot:
        async with asyncio.timeout(LIMIT):
            while not any(isinstance(e, OpenFailed) for e in heard):
                await pilot.pause()
        await pilot.pause()
        for name in ("#verdict", "#evidence"):
            assert "the model file [/] is damaged; delete it" in app.screen.query_one(name, Panel).plain
    assert app.crew.stop(LIMIT)


async def test_a_failed_search_is_said_and_the_next_one_works() -> None:
    def failing(query: str, rounds: bool) -> Trace:
        if query == "a":
            raise GlassboxError("the [red]index[/red] is locked")
        return sample_trace()

    async with running(ScriptedBackend(trace_for=failing)) as stage:
        await stage.press("a")
        await stage.seen.heard(SearchFailed)
        await stage.pilot.pause()
        assert "the search failed: the [red]index[/red] is locked" in stage.panel("verdict")
        await stage.ask("b")
        assert "SUFFICIENT" in stage.panel("verdict")


async def test_indexing_that_fails_leaves_the_old_index_searchable() -> None:
    class Full(ScriptedBackend):
        def update(
            self, *, progress: ProgressFn, cancelled: CancelledFn, changed: Callable[[], None], hold: CancelledFn
        ) -> Outcome:
            raise GlassboxError("the disk is full")

    async with running(Full(), indexed=False) as stage:
        await stage.seen.heard(UpdateFailed)
        await stage.ask("rrf")
        assert "the disk is full" in stage.panel("notice")
        assert "SUFFICIENT" in stage.panel("verdict")
        assert stage.view.info == INFO


async def test_three_pasted_lines_are_one_query_and_nothing_is_lost() -> None:
    from textual.events import Paste

    backend = ScriptedBackend()
    async with running(backend) as stage:
        await stage.press("x", "space")
        stage.app.post_message(Paste("第一行 one\r\n\tsecond line\n第三行\x1b[31m"))
        await stage.seen.until(lambda: len(stage.view.query) > 2 and stage.view.shown == stage.view.run)
        assert stage.app.screen.query_one(QueryBox).value == "x 第一行 one second line 第三行[31m"
        assert backend.asked[-1] == ("x 第一行 one second line 第三行[31m", False)
