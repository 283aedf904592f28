"""The loop as a debugger: each of its keys, over a real engine whose steps a test can hold up."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from scripted import LIMIT, Gate, ScriptedBackend, Stage, running

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.progress import CancelledFn
from glassbox_tui.retrieval import stepping
from glassbox_tui.retrieval.moves import Accept, First, Move, Own, Pause
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.retrieval.wording import added_words, editable
from glassbox_tui.settings import Settings
from glassbox_tui.tui.backend import Reply
from glassbox_tui.tui.choosing import EditScreen
from glassbox_tui.tui.memory import recall
from glassbox_tui.tui.messages import AnswerDone, StepDone
from glassbox_tui.tui.session import Session
from glassbox_tui.tui.state import within
from glassbox_tui.tui.widgets import QueryBox

NOTES = {
    "lock.md": "# Distributed locks\n\nRedlock hands out a lease. 分布式锁依赖租约和时钟。",
    "clock.md": "# Clocks\n\nA lease ends by the clock. 时钟漂移会让租约失效。 ZooKeeper counts sessions.",
    "tea.md": "# Tea\n\nGreen tea is steeped at eighty degrees. 绿茶用八十度的水。",
    "rrf.md": "# Fusion\n\nReciprocal rank fusion adds ranks. 倒数排名融合只看名次。",
}
HOPELESS = "redlock selection criteria"


@dataclass
class Stepper(ScriptedBackend):
    """`step_gate` holds every step until it is opened."""

    engine: Engine = field(default_factory=lambda: Engine(HashingEmbedder(), settings=Settings()).build(NOTES))
    step_gate: Gate | None = None
    moves: list[Move] = field(default_factory=list)

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn, scope: str = "", rewriter: str = "") -> Trace:
        self.asked.append((query, rounds))
        return self.engine.search(query, max_rewrites=None if rounds else 0, scope=scope)

    def step(self, move: Move, *, go_on: bool, cancelled: CancelledFn, rewriter: str = "") -> Pause:
        self.moves.append(move)
        if self.step_gate is not None:
            self.step_gate.hold()
        return stepping.step(self.engine, move, go_on=go_on)


async def done(stage: Stage) -> None:
    """The search or step that was asked for is on screen, and the answer too where the loop has ended."""
    view = lambda: stage.view  # noqa: E731
    await stage.seen.until(
        lambda: view().run == view().shown and (view().loop.proposal is not None or view().reply is not None)
    )
    await stage.pilot.pause()


def put(stage: Stage, query: str) -> None:
    """As if it had been typed, or pasted."""
    stage.app.screen.query_one("#query", QueryBox).value = query


async def paused(stage: Stage, query: str = HOPELESS) -> Trace:
    """In step mode, paused after round 0."""
    put(stage, query)
    await stage.press("escape", "s", "enter")
    await done(stage)
    return trace_of(stage)


async def finished(stage: Stage, query: str = HOPELESS) -> Trace:
    """A full run, as without step mode."""
    put(stage, query)
    await stage.press("enter")
    await done(stage)
    return trace_of(stage)


async def write(stage: Stage, text: str) -> None:
    """Put `text` in the place of what stands in the line editor, and run it."""
    assert isinstance(stage.app.screen, EditScreen)
    stage.app.screen.query_one(QueryBox).value = text
    await stage.press("enter")
    await done(stage)


def trace_of(stage: Stage) -> Trace:
    assert stage.view.trace is not None
    return stage.view.trace


def origins(stage: Stage) -> list[str]:
    return [r.origin for r in trace_of(stage).rounds]


# -- stepping ---------------------------------------------------------------------------------------------------------


async def test_step_mode_pauses_after_each_round_and_accepting_everything_is_the_loop() -> None:
    backend = Stepper()
    whole = backend.engine.search(HOPELESS)
    async with running(backend) as stage:
        trace = await paused(stage)
        assert [r.query for r in trace.rounds] == [HOPELESS]
        assert "paused before round 1" in stage.panel("loop")
        assert "the answer comes when the loop ends" in stage.panel("answer").replace("\n", "")
        while stage.view.loop.proposal is not None:
            await stage.press("enter")
            await done(stage)
        assert [(r.query, r.hits) for r in trace_of(stage).rounds] == [(r.query, r.hits) for r in whole.rounds]
        assert trace_of(stage).ended == whole.ended
        assert "ended: the next rewrite would repeat a query" in stage.panel("loop")
        assert "extract" in stage.panel("answer")


async def test_while_paused_every_panel_shows_the_round_that_ran_and_the_loop_what_the_next_would_change() -> None:
    async with running(Stepper()) as stage:
        trace = await paused(stage)
        proposal = stage.view.loop.proposal
        assert proposal is not None
        assert "round 0/0" in stage.panel("verdict")
        told = stage.panel("loop")
        assert " ".join(w.text for w in added_words(proposal.round.added_terms)[:1]) in told
        assert "it would make it" in told
        assert "it would change" in told
        assert {h.uid for h in proposal.round.hits} == {h.uid for h in trace.hits}  # four notes, four hits


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_keys_of_the_pause_come_first_in_the_hints_and_stand_in_the_panel(size: tuple[int, int]) -> None:
    async with running(Stepper(), size=size) as stage:
        await paused(stage)
        assert stage.panel("hints").split()[:10] == [
            "enter",
            "run",
            "e",
            "edit",
            "w",
            "own",
            "x",
            "another",
            "S",
            "stop",
        ]
        for key in ("enter run it", "e edit it", "w write your own", "x another", "S stop"):
            assert key in stage.panel("loop")
        assert "step mode" in stage.screen()


async def test_editing_the_proposal_drops_the_deleted_words_and_runs_as_the_next_round() -> None:
    async with running(Stepper()) as stage:
        await paused(stage)
        assert stage.view.loop.proposal is not None
        proposed = stage.view.loop.proposal.round
        await stage.press("e")
        box = stage.app.screen.query_one(QueryBox)
        assert box.value == editable(proposed)
        await stage.press("end", "ctrl+w", "enter")  # the last word goes
        await done(stage)
        words = [w.text for w in added_words(trace_of(stage).last.added_terms)]
        assert words == [w.text for w in added_words(proposed.added_terms)][:-1]
        assert origins(stage) == ["user", "manual"]
        assert len(stage.view.loop.branches) == 1


async def test_an_edit_that_changes_nothing_accepts_the_proposal() -> None:
    backend = Stepper()
    async with running(backend) as stage:
        await paused(stage)
        await stage.press("e", "enter")
        await done(stage)
        assert origins(stage) == ["user", "prf"]
        assert isinstance(backend.moves[-1], Accept)


async def test_leaving_the_editor_runs_nothing() -> None:
    backend = Stepper()
    async with running(backend) as stage:
        await paused(stage)
        await stage.press("e", "escape", "w", "escape")
        assert stage.view.loop.proposal is not None
        assert [type(m) for m in backend.moves] == [First]


async def test_ones_own_query_is_the_next_round() -> None:
    async with running(Stepper()) as stage:
        await paused(stage)
        await stage.press("w")
        await write(stage, "green tea")
        assert origins(stage) == ["user", "manual"]
        assert trace_of(stage).last.query == "green tea"


async def test_a_query_that_ran_already_is_refused_in_words_and_the_pause_stands() -> None:
    async with running(Stepper()) as stage:
        await paused(stage)
        await stage.press("w")
        await write(stage, HOPELESS)
        assert "round 0 has run this query already" in stage.panel("notice")
        assert stage.view.loop.proposal is not None
        assert origins(stage) == ["user"]


async def test_skipping_proposes_another_until_no_idea_is_left() -> None:
    async with running(Stepper()) as stage:
        await paused(stage)
        seen = set[str]()
        while (proposal := stage.view.loop.proposal) is not None:
            assert proposal.round.query not in seen
            seen.add(proposal.round.query)
            await stage.press("x")
            await done(stage)
        assert len(seen) > 1
        assert origins(stage) == ["user"]
        assert "no new idea for a rewrite" in stage.panel("loop")


async def test_stopping_ends_the_loop_and_answers_from_what_is_there() -> None:
    async with running(Stepper()) as stage:
        await paused(stage)
        await stage.press("S")
        await done(stage)
        assert trace_of(stage).ended == "stopped"
        assert "stopped by you" in stage.panel("loop")
        assert "extract" in stage.panel("answer")


async def test_what_was_stepped_through_to_its_end_is_in_the_history(tmp_path: Path) -> None:
    at = Session(tmp_path / "session.json", tmp_path / "history.jsonl", tmp_path / "greeted")
    async with running(Stepper(), at=at) as stage:
        await paused(stage)
        assert not (tmp_path / "history.jsonl").exists()
        await stage.press("S")
        await done(stage)
        assert [asked.query for asked in recall(tmp_path / "history.jsonl")] == [HOPELESS]


async def test_switching_step_mode_off_while_paused_stops_too_and_enter_runs_everything_again() -> None:
    async with running(Stepper()) as stage:
        await paused(stage)
        await stage.press("s")
        await done(stage)
        assert trace_of(stage).ended == "stopped"
        await stage.press("enter")
        await done(stage)
        assert len(trace_of(stage).rounds) > 1
        assert stage.view.loop.proposal is None


async def test_in_step_mode_enter_after_the_end_does_not_throw_the_rounds_away() -> None:
    backend = Stepper()
    async with running(backend) as stage:
        await paused(stage)
        await stage.press("S")
        await done(stage)
        before, asked = trace_of(stage), len(backend.moves)
        await stage.press("enter")
        assert trace_of(stage) is before
        assert len(backend.moves) == asked
        assert "this query has run" in stage.panel("notice")
        await stage.press("slash", "enter")  # from the query box it starts anew
        await done(stage)
        assert isinstance(backend.moves[-1], First)


@pytest.mark.parametrize("key", ["x", "S"])
async def test_where_nothing_is_proposed_the_keys_say_so(key: str) -> None:
    backend = Stepper()
    async with running(backend) as stage:
        await finished(stage)
        await stage.press(key)
        assert "nothing is proposed" in stage.panel("notice")
        assert not backend.moves


# -- branches ---------------------------------------------------------------------------------------------------------


async def test_editing_a_finished_run_makes_a_branch_and_both_are_kept() -> None:
    async with running(Stepper()) as stage:
        trunk = await finished(stage)
        await stage.press("e")
        assert f"round {trunk.last.number}" in stage.screen()
        await write(stage, f"{HOPELESS} + 绿茶")
        branch = trace_of(stage)
        assert [r.number for r in branch.rounds] == [r.number for r in trunk.rounds]
        assert all(a is b for a, b in zip(branch.rounds[:-1], trunk.rounds[:-1], strict=True))
        assert branch.last.origin == "manual"
        await stage.press("tab")
        assert trace_of(stage) is trunk
        await stage.press("shift+tab")
        assert trace_of(stage) is branch


async def test_from_an_earlier_round_the_shown_one_is_edited_and_a_later_one_is_not_lost() -> None:
    async with running(Stepper(engine=Engine(HashingEmbedder(), settings=Settings()).build(NOTES))) as stage:
        trunk = await paused(stage)
        await stage.press("enter")
        await done(stage)
        await stage.press("left_square_bracket", "e")
        assert stage.app.screen.query_one(QueryBox).value == HOPELESS  # round 0 is on show
        await write(stage, "green tea")
        assert [r.query for r in trace_of(stage).rounds] == [HOPELESS, "green tea"]
        assert trace_of(stage).rounds[0] is trunk.rounds[0]
        assert len(stage.view.loop.branches) == 2
        assert stage.view.loop.proposal is not None or trace_of(stage).ended  # still stepping


async def test_ones_own_query_after_the_last_round_lengthens_the_branch() -> None:
    async with running(Stepper()) as stage:
        trunk = await finished(stage)
        await stage.press("w")
        await write(stage, "green tea")
        assert len(stage.view.loop.branches) == 1
        assert trace_of(stage).rounds[: len(trunk.rounds)] == trunk.rounds
        assert origins(stage)[-1] == "manual"


async def test_each_branch_keeps_its_answer_and_its_proposal() -> None:
    async with running(Stepper()) as stage:
        await paused(stage)
        await stage.press("enter")
        await done(stage)
        await stage.press("left_square_bracket", "w")
        await write(stage, "green tea")
        there = stage.view.loop.proposal, stage.view.reply
        await stage.press("tab")
        assert stage.view.reply is not None  # the trunk had ended
        assert stage.view.loop.proposal is None
        await stage.press("tab")
        assert (stage.view.loop.proposal, stage.view.reply) == there


async def test_comparing_goes_through_the_round_before_and_the_other_branch_and_back() -> None:
    async with running(Stepper(), size=(120, 40)) as stage:
        await finished(stage)
        await stage.press("e")
        await write(stage, "green tea")
        await stage.press("c")
        assert "round 1 of branch b against round 0 of branch a" in stage.panel("loop").replace("\n", " ")
        assert "moved" in stage.panel("loop")
        await stage.press("c")
        assert "round 1 of branch b against round 1 of branch a" in stage.panel("loop")
        await stage.press("c")
        assert "against" not in stage.panel("loop")


async def test_with_one_round_there_is_nothing_to_compare_and_that_is_said() -> None:
    async with running(Stepper()) as stage:
        await stage.ask("lease clock")
        await stage.press("escape", "c")
        assert "there is nothing to compare" in stage.panel("notice")


async def test_in_the_query_box_tab_switches_no_branch() -> None:
    async with running(Stepper()) as stage:
        await finished(stage)
        await stage.press("e")
        await write(stage, "green tea")
        here = trace_of(stage)
        await stage.press("slash", "tab", "shift+tab")
        assert trace_of(stage) is here


async def test_another_query_has_branches_of_its_own() -> None:
    async with running(Stepper()) as stage:
        await finished(stage)
        await stage.press("e")
        await write(stage, "green tea")
        await stage.press("slash", "x")
        await stage.seen.until(lambda: stage.view.run == stage.view.shown)
        assert len(stage.view.loop.branches) == 1
        assert trace_of(stage).query == "x"  # what has run is replaced by what is typed next


async def test_stepping_keeps_to_the_scope_of_the_search() -> None:
    async with running(Stepper()) as stage:
        stage.app.change(within(stage.view, "clock.md"))
        await paused(stage)
        await stage.press("w")
        await write(stage, "green tea")
        assert {h.path for r in trace_of(stage).rounds for h in r.hits} == {"clock.md"}


# -- the order of messages --------------------------------------------------------------------------------------------


async def reached(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.reached.wait, LIMIT)


@asynccontextmanager
async def inside_a_step() -> AsyncIterator[tuple[Stage, Stepper, Gate]]:
    """Enter was pressed on a proposal; the gate holds the round that runs it."""
    backend = Stepper()
    async with running(backend) as stage:
        await paused(stage)
        backend.step_gate = gate = Gate()
        await stage.press("enter")
        await reached(gate)
        yield stage, backend, gate


async def test_typing_abandons_a_step_and_its_result_is_dropped_when_it_comes() -> None:
    async with inside_a_step() as (stage, _, gate):
        assert "running" in stage.panel("loop")
        await stage.press("slash", "x")
        gate.opened.set()
        await stage.seen.until(lambda: len([e for e in stage.seen.events if isinstance(e, StepDone)]) == 2)
        await stage.seen.until(lambda: stage.view.run == stage.view.shown)
        assert trace_of(stage).query == HOPELESS + "x"
        assert stage.view.loop.proposal is None
        assert len(trace_of(stage).rounds) == 1


async def test_while_a_new_query_is_searched_nothing_can_be_accepted() -> None:
    """The proposal on screen is the old query's: Enter is about the new one."""
    backend = Stepper()
    async with running(backend) as stage:
        await paused(stage)
        await stage.press("slash", "x", "enter")
        await done(stage)
        assert isinstance(backend.moves[-1], First)
        assert backend.moves[-1].query == HOPELESS + "x"


async def test_of_two_quick_enters_the_second_accepts_nothing_twice() -> None:
    async with inside_a_step() as (stage, backend, gate):
        await stage.press("e", "w", "x", "S", "tab", "c")
        assert not isinstance(stage.app.screen, EditScreen)
        assert len(backend.moves) == 2
        gate.opened.set()
        await done(stage)
        assert origins(stage) == ["user", "prf"]


async def test_what_was_written_for_another_query_is_not_run() -> None:
    backend = Stepper()
    async with running(backend) as stage:
        await paused(stage)
        await stage.press("w")
        stage.app.search("lease clock", rounds=False)  # as a change of the notes does
        await stage.seen.until(lambda: stage.view.run == stage.view.shown)
        stage.app.screen.query_one(QueryBox).value = "green tea"
        await stage.press("enter")
        assert "the query has changed meanwhile" in stage.panel("notice")
        assert [type(m) for m in backend.moves] == [First]


async def test_quitting_does_not_wait_for_a_step() -> None:
    async with inside_a_step() as (stage, _, gate):
        await stage.pilot.press("q")
        async with asyncio.timeout(LIMIT):
            while stage.app.is_running:
                await asyncio.sleep(0)
        assert not gate.opened.is_set()
        gate.opened.set()


async def test_the_answer_of_an_overtaken_step_is_dropped() -> None:
    thinking = Gate()

    class Thinker(Stepper):
        def extract(self, trace: Trace) -> Reply:
            thinking.hold()
            return replace(self.reply, text="old answer")

    async with running(Thinker()) as stage:
        await paused(stage)
        await stage.press("S")
        await reached(thinking)
        await stage.press("slash", "x")
        thinking.opened.set()
        await stage.seen.heard(AnswerDone)
        await stage.seen.until(lambda: stage.view.run == stage.view.shown)
        assert "old answer" not in stage.screen()


async def test_an_answer_goes_to_the_branch_it_was_made_for() -> None:
    thinking = Gate()

    class Thinker(Stepper):
        def extract(self, trace: Trace) -> Reply:
            if trace.last.query == "green tea":
                thinking.hold()
            return replace(self.reply, text=f"an answer to {trace.last.query}")

    async with running(Thinker()) as stage:
        await finished(stage)
        await stage.press("e")
        stage.app.screen.query_one(QueryBox).value = "green tea"
        await stage.press("enter")
        await reached(thinking)
        await stage.pilot.pause()
        await stage.press("tab")
        before = stage.panel("answer")
        thinking.opened.set()
        await stage.seen.until(lambda: len([e for e in stage.seen.events if isinstance(e, AnswerDone)]) == 2)
        assert stage.panel("answer") == before
        await stage.press("tab")
        assert "an answer to green tea" in stage.panel("answer")


def test_moves_and_pauses_survive_the_pipe() -> None:
    engine = Engine(HashingEmbedder(), settings=Settings()).build(NOTES)
    pause = stepping.step(engine, First(HOPELESS))
    assert pause.proposal is not None
    for value in (pause, Accept(pause.trace, pause.proposal), Own(pause.trace, "tea")):
        assert pickle.loads(pickle.dumps(value)) == value
