"""The loop as a debugger: step mode, edited and own queries, branches, comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from glassbox_tui.retrieval.moves import Accept, Edit, First, Move, Own, Skip, Stop, cut_after
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.retrieval.wording import editable
from glassbox_tui.tui import branches, state
from glassbox_tui.tui.choosing import EditScreen
from glassbox_tui.tui.commands import Command
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.messages import MakeStep
from glassbox_tui.tui.replay import refusal
from glassbox_tui.tui.state import View, shown_round
from glassbox_tui.tui.words import say

if TYPE_CHECKING:
    from glassbox_tui.tui.app import GlassboxApp


# -- when -------------------------------------------------------------------------------------------------------------


def settled(view: View) -> bool:
    """A finished search is on screen, and no other is under way."""
    return view.trace is not None and view.run == view.shown


def idle(view: View) -> bool:
    """More rounds can be run of what is on screen."""
    return settled(view) and not view.offline


def waits(view: View) -> bool:
    """Stepping is paused: a proposal waits for a word."""
    return idle(view) and view.loop.proposal is not None


def can_skip(view: View) -> bool:
    return waits(view) or (idle(view) and view.loop.by_hand)


def has_branches(view: View) -> bool:
    return settled(view) and len(view.loop.branches) > 1


def can_compare(view: View) -> bool:
    now = shown_round(view)
    return settled(view) and now is not None and bool(branches.comparisons(view.loop, now))


def looked_at(view: View) -> bool:
    """The loop is what is looked at: its keys come first."""
    return view.panel == "loop"


def _while_waiting(word: str, view: View, else_: str = "") -> str:
    """The word for the hints line while a proposal waits; `else_`: the one for when the loop is looked at."""
    return word if waits(view) else else_ if looked_at(view) else ""


# -- what -------------------------------------------------------------------------------------------------------------


def entered(app: GlassboxApp, query: str, *, in_box: bool) -> bool:
    """Enter, as far as it is about stepping: True if it was dealt with here."""
    view = app.view
    here = not in_box and idle(view) and query == view.query
    if here and view.loop.proposal is not None:
        _from_the_last(app, "accept")
    elif here and (view.loop.by_hand if view.loop.stepping else len(view.loop.branches) > 1):
        # Another run from the start would throw the branches away: that takes the query box.
        app.tell(say("this query has run: {} edits it, {} and {} start anew", *map(key_of, ("edit", "query", "run"))))
    elif view.loop.stepping:
        # The query before may still be on screen: what comes next is about this one.
        app.change(replace(view, query=query))
        _send(app, First(query, app.view.scope), None, 0)
    else:
        return False
    return True


def _toggle(app: GlassboxApp) -> None:
    view, on = app.view, not app.view.loop.stepping
    if not on and waits(view):
        _from_the_last(app, "stop")
    app.change(state.on_panel(replace(app.view, loop=replace(app.view.loop, stepping=on)), "loop"))
    app.tell(
        say("step mode: {} runs round 0 and pauses after each round", key_of("run"))
        if on
        else say("step mode is off: {} runs all rounds", key_of("run"))
    )


def _from_the_last(app: GlassboxApp, what: str) -> None:
    """A move after the last round of the branch on screen."""
    view = app.view
    trace, proposal = view.trace, view.loop.proposal
    if trace is None or not (can_skip(view) if what == "skip" else waits(view)):
        app.tell(
            say("nothing is proposed: {} switches step mode on, {} edits a query", key_of("step_mode"), key_of("edit"))
        )
        return
    moves: dict[str, Move] = {"skip": Skip(trace, proposal), "stop": Stop(trace)}
    if proposal is not None:
        moves["accept"] = Accept(trace, proposal)
    _send(app, moves[what], view.loop.current, trace.last.number)


def _refused(app: GlassboxApp) -> bool:
    """A replayed Trace can be looked at and not be run on; then that is said."""
    if app.view.offline:
        app.tell(refusal())
    return app.view.offline


def _edit(app: GlassboxApp) -> None:
    """Edit the proposal, or the shown round's query; round 0 is never replaced, so its edited wording follows it."""
    view, shown, proposal = app.view, shown_round(app.view), app.view.loop.proposal
    if _refused(app) or view.trace is None or shown is None or not idle(view):
        return
    if proposal is not None and shown is view.trace.last:
        of, kept = proposal.round, shown.number
        title = say("edit the proposed query, then run it as round {}", of.number)
    else:
        of, kept = shown, max(0, shown.number - 1)
        title = say("edit the query of round {}, then run it as round {} of a new branch", of.number, kept + 1)
    before = editable(of)

    def done(text: str | None) -> None:
        if text is None:
            return
        if text.strip() != before.strip():
            _branch_off(app, view, kept, lambda trace: Edit(trace, of, text))
        elif proposal is not None and of is proposal.round:
            entered(app, view.query, in_box=False)
        else:
            app.tell(say("nothing was changed, so nothing was run"))

    hint = say("behind the + stand the added words: delete some, write others; enter runs it, esc leaves")
    app.push_screen(EditScreen(title, before, lambda _: hint), done)


def _own(app: GlassboxApp) -> None:
    view, shown = app.view, shown_round(app.view)
    if _refused(app) or shown is None or not idle(view):
        return

    def done(text: str | None) -> None:
        if text is not None:
            _branch_off(app, view, shown.number, lambda trace: Own(trace, text))

    hint = say("it runs alone and is judged by itself; behind a + it is fused with round 0; enter runs it, esc leaves")
    title = say("your own query, to run as round {}", shown.number + 1)
    app.push_screen(EditScreen(title, "", lambda _: hint), done)


def _branch_off(app: GlassboxApp, view: View, kept: int, move: Callable[[Trace], Move]) -> None:
    """Run another query after round `kept` of the branch that `view` showed when the person began to write."""
    if app.view.run != view.run or view.trace is None:
        app.tell(say("the query has changed meanwhile: nothing was run"))
        return
    _send(app, move(cut_after(view.trace, kept)), view.loop.current, kept)


def _send(app: GlassboxApp, move: Move, branch: int | None, kept: int) -> None:
    if _refused(app):
        return
    app.change(state.on_panel(state.ask_step(app.view), "loop"))
    view = app.view
    app.send(MakeStep(view.run, move, view.loop.stepping, branch, kept, view.answers.chosen, view.rewriter))


def _switch(app: GlassboxApp, by: int) -> None:
    if app.focused is None:  # in the query box the key is not ours
        app.change(state.on_panel(state.switch_branch(app.view, by), "loop"))


def _compare(app: GlassboxApp) -> None:
    view, shown = app.view, shown_round(app.view)
    if shown is None:
        return
    if not can_compare(view):
        app.tell(say("there is nothing to compare this round with"))
        return
    app.change(state.on_panel(replace(view, loop=branches.next_comparison(view.loop, shown)), "loop"))


COMMANDS: tuple[Command, ...] = (
    Command(
        "step_mode", "s", "step mode: pause after each round of the loop", "stepping", _toggle, "step mode",
        lambda view: not view.offline,
    ),
    Command(
        "edit", "e", "edit the proposed query, or the shown round's, and run it", "stepping", _edit, "edit query", idle,
        urgent=partial(_while_waiting, "edit", else_="edit"),
    ),
    Command(
        "own", "w", "write a query of your own and run it after the shown round", "stepping", _own, "own query", idle,
        urgent=partial(_while_waiting, "own", else_="own query"),
    ),
    Command(
        "skip", "x", "skip the proposed rewrite: propose another", "stepping", partial(_from_the_last, what="skip"),
        when=can_skip, urgent=partial(_while_waiting, "another", else_="another rewrite"),
    ),
    Command(
        "stop", "S", "stop stepping, and answer from what is there", "stepping", partial(_from_the_last, what="stop"),
        when=waits, urgent=partial(_while_waiting, "stop"),
    ),
    Command(
        "compare", "c", "compare the shown round: what entered, left, moved", "stepping", _compare, "compare",
        can_compare,
    ),
    Command(
        "branch_next", "tab", "next branch of the loop", "stepping", partial(_switch, by=1), "branch", has_branches,
    ),
    Command("branch_before", "shift+tab", "branch before", "stepping", partial(_switch, by=-1), when=has_branches),
)  # fmt: skip
