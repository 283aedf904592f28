"""Branches as data: what is shared, which branch a round belongs to, and the tree that shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.text import Text
from samples import sample_trace, sample_trace_hostile, sample_trace_two_rounds

from glassbox_tui.retrieval.moves import Pause, Proposal, cut_after
from glassbox_tui.retrieval.reasons import ENDED
from glassbox_tui.retrieval.trace import ENDS, Round, Trace
from glassbox_tui.tui import branches, keys, registry, rounds
from glassbox_tui.tui.branches import Loop
from glassbox_tui.tui.state import View

FIRST = sample_trace_two_rounds().rounds[0]


def trace_of(*queries: str) -> Trace:
    made = tuple(replace(FIRST, number=i, query=query) for i, query in enumerate(queries))
    return replace(sample_trace_two_rounds(), rounds=made)


def after(trace: Trace, number: int, *queries: str) -> Pause:
    """`trace` up to round `number`, and other rounds behind it."""
    kept = cut_after(trace, number)
    new = tuple(replace(FIRST, number=number + 1 + i, query=query) for i, query in enumerate(queries))
    return Pause(replace(kept, rounds=(*kept.rounds, *new)))


TRUNK = trace_of("zero", "one", "two")


def grown() -> Loop:
    """a: 0 1 2; b left a after 0; c left b after its own round 1; d left a after 1."""
    loop = branches.trunk(Loop(), TRUNK)
    loop = branches.stepped(loop, 0, 0, after(TRUNK, 0, "b1", "b2"))
    loop = branches.stepped(loop, 1, 1, after(loop.branches[1].trace, 1, "c2"))
    return branches.stepped(loop, 0, 1, after(TRUNK, 1, "d2"))


def queries(loop: Loop, branch: int) -> list[str]:
    return [r.query for r in loop.branches[branch].trace.rounds]


def test_every_branch_is_whole_and_shares_the_very_rounds_it_started_from() -> None:
    loop = grown()
    assert [queries(loop, i) for i in range(4)] == [
        ["zero", "one", "two"],
        ["zero", "b1", "b2"],
        ["zero", "b1", "c2"],
        ["zero", "one", "d2"],
    ]
    a, b, c, d = (branch.trace.rounds for branch in loop.branches)
    assert a[0] is b[0] is c[0] is d[0]
    assert (c[1] is b[1], d[1] is a[1]) == (True, True)
    assert loop.current == 3


def test_a_step_from_the_last_round_lengthens_the_branch_it_is_made_in() -> None:
    loop = branches.stepped(grown(), 2, 2, after(grown().branches[2].trace, 2, "c3"))
    assert len(loop.branches) == 4
    assert queries(loop, 2) == ["zero", "b1", "c2", "c3"]
    assert loop.current == 2


def test_a_branch_that_leaves_a_shared_round_leaves_the_branch_whose_round_it_is() -> None:
    loop = branches.stepped(grown(), 2, 0, after(TRUNK, 0, "e1"))  # made while c was on screen, from round 0
    assert (loop.branches[4].parent, loop.branches[4].after) == (0, 0)


def test_the_tree_says_where_each_branch_left() -> None:
    drawn = [f"{branches.name(i)} {lead}{'-'.join(map(str, numbers))}" for i, lead, numbers in branches.tree(grown())]
    assert drawn == [
        "a 0-1-2",
        "d    \\2",
        "b  \\1-2",
        "c    \\2",
    ]


def test_names_go_on_after_z() -> None:
    assert [branches.name(i) for i in (0, 25, 26, 51, 52)] == ["a", "z", "a1", "z1", "a2"]


def test_a_round_is_compared_with_the_one_before_and_with_every_other_branch_that_differs_there() -> None:
    loop = replace(grown(), current=1)
    found = branches.comparisons(loop, loop.branches[1].trace.rounds[1])
    assert [(branches.name(c.branch), c.round.query) for c in found] == [("a", "zero"), ("a", "one")]
    assert branches.comparisons(loop, TRUNK.rounds[0]) == ()


def test_the_key_goes_through_all_comparisons_and_back_to_the_rounds() -> None:
    loop, shown = replace(grown(), current=1), grown().branches[1].trace.rounds[2]
    seen = []
    for _ in range(len(branches.comparisons(loop, shown)) + 1):
        loop = branches.next_comparison(loop, shown)
        seen.append(loop.compared)
    assert seen == [*range(len(branches.comparisons(loop, shown))), None]


# -- the panel --------------------------------------------------------------------------------------------------------


def paused_view(proposed: Round, trace: Trace) -> View:
    loop = branches.first_step(Loop(stepping=True), Pause(trace, Proposal(replace(proposed, number=1))))
    return View(query="q", trace=trace, rounds=True, loop=loop)


@pytest.mark.parametrize("proposed", [sample_trace_two_rounds().rounds[1], sample_trace_hostile().last])
@pytest.mark.parametrize("width", [58, 76, 118])
def test_what_is_proposed_is_told_within_the_panel_and_harmless(proposed: Round, width: int) -> None:
    lines = rounds.loop(paused_view(proposed, sample_trace()), width, 12)
    assert all(isinstance(line, Text) and line.cell_len <= width for line in lines)
    shown = "\n".join(line.plain for line in lines)
    assert "\x1b" not in shown and "\x00" not in shown and "\x9b" not in shown
    assert "paused before round 1" in shown


def test_in_a_low_panel_what_waits_for_a_word_is_still_seen() -> None:
    view = paused_view(sample_trace_two_rounds().rounds[1], sample_trace())
    seen = "\n".join(line.plain for line in rounds.loop(view, 76, 11)[:11])
    for key in ("run", "edit", "own", "skip", "stop"):
        assert f"{keys.shown(registry.command(key).keys)} " in seen
    assert "it would change" in seen


@pytest.mark.parametrize("why", ENDS)
def test_why_it_ended_is_said_in_words_before_the_rounds(why: str) -> None:
    trace = replace(sample_trace_two_rounds(), ended=why)
    view = View(query="q", trace=trace, rounds=True, loop=branches.trunk(Loop(), trace))
    assert rounds.loop(view, 76, 5)[0].plain.startswith(f"ended: {ENDED[why]}")


def test_the_reasons_are_said_for_people_and_a_judge_of_ones_own_in_its_own_words() -> None:
    trace = sample_trace_two_rounds()
    last = replace(trace.last, grade=replace(trace.last.grade, reasons=("coverage 0.52 < 0.60", "my judge says no")))
    view = View(query="q", trace=replace(trace, rounds=(trace.rounds[0], last)), rounds=True)
    shown = " ".join(line.plain.strip() for line in rounds.loop(view, 76, 30))
    assert "too few of the question's words stand in the evidence; my judge says no" in shown


def test_added_words_stand_with_the_chunk_they_came_from() -> None:
    trace = sample_trace_two_rounds()
    shown = "\n".join(line.plain for line in rounds.loop(View(query="q", trace=trace, rounds=True), 118, 30))
    sources = "words of the first hits, 13-glossary.md#7: 分布式锁; 12-threads.md#0: 租约; 08-chunks.md#2: zookeeper"
    assert sources in " ".join(shown.split())
    assert "分布式锁(.31) 租约(.22) zookeeper(.17)" in shown
