"""The branches of the query on screen, and where stepping stands: one frozen value, changed by pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from string import ascii_lowercase

from glassbox_tui.retrieval.moves import Pause, Proposal
from glassbox_tui.retrieval.trace import Round, Trace
from glassbox_tui.tui.backend import Reply


@dataclass(frozen=True, slots=True)
class Branch:
    """A Trace that left its parent after the parent's round `after`, whose rounds up to there it shares.

    `proposal` waits for a word: it may become the next round. `reply` is the answer from its evidence, when it
    is there; `extract` the one that quotes, which came before the model's.
    """

    trace: Trace
    parent: int | None = None
    after: int = 0
    proposal: Proposal | None = None
    reply: Reply | None = None
    extract: Reply | None = None

    @property
    def own(self) -> tuple[Round, ...]:
        """The rounds that it does not share with its parent."""
        return self.trace.rounds if self.parent is None else self.trace.rounds[self.after + 1 :]


@dataclass(frozen=True, slots=True)
class Loop:
    """`stepping`: step mode is on. `current` is the branch on screen.

    `answering` is the branch that the next answer is for. `by_hand`: the rounds were run one by one.
    `compared` is the place in `comparisons` of what the shown round is held against; None: the rounds are shown.
    """

    stepping: bool = False
    branches: tuple[Branch, ...] = ()
    current: int = 0
    answering: int = 0
    by_hand: bool = False
    compared: int | None = None

    @property
    def branch(self) -> Branch | None:
        return self.branches[self.current] if self.branches else None

    @property
    def proposal(self) -> Proposal | None:
        return self.branches[self.current].proposal if self.branches else None


NO_BRANCHES = Loop()


def trunk(loop: Loop, trace: Trace | None) -> Loop:
    """Another query: its first branch, and nothing of the one before but whether step mode is on."""
    return Loop(loop.stepping, (Branch(trace),) if trace is not None else ())


def first_step(loop: Loop, pause: Pause) -> Loop:
    """Another query, stepped through from its first round."""
    return Loop(loop.stepping, (Branch(pause.trace, proposal=pause.proposal),), by_hand=True)


def stepped(loop: Loop, branch: int, kept: int, pause: Pause) -> Loop:
    """After a step from `branch`: its rounds 0 to `kept` stay, what `pause` has behind them is new.

    From its last round the branch grows; from an earlier one a new branch leaves it, and both are kept.
    """
    old = loop.branches[branch]
    shared = old.trace.rounds[: kept + 1]
    trace = replace(pause.trace, rounds=(*shared, *pause.trace.rounds[len(shared) :]))
    if kept + 1 >= len(old.trace.rounds):
        grown = Branch(trace, old.parent, old.after, pause.proposal)
        branches = tuple(grown if b is old else b for b in loop.branches)
        return replace(loop, branches=branches, current=branch, answering=branch, compared=None)
    new = Branch(trace, _holder(loop, branch, kept), kept, pause.proposal)
    at = len(loop.branches)
    return replace(loop, branches=(*loop.branches, new), current=at, answering=at, compared=None)


def _holder(loop: Loop, branch: int, number: int) -> int:
    """The branch whose own round `number` is: a round that is shared belongs to a parent."""
    at = loop.branches[branch]
    while at.parent is not None and number <= at.after:
        branch, at = at.parent, loop.branches[at.parent]
    return branch


def switched(loop: Loop, by: int) -> Loop:
    """The next branch, or one before."""
    return replace(loop, current=(loop.current + by) % len(loop.branches), compared=None)


def answered(loop: Loop, reply: Reply, *, by_model: bool) -> Loop:
    """The answer has come; the person may be on another branch by now."""
    if loop.answering >= len(loop.branches):
        return loop
    old = loop.branches[loop.answering]
    new = replace(old, reply=reply, extract=old.extract if by_model else reply)
    return replace(loop, branches=tuple(new if i == loop.answering else b for i, b in enumerate(loop.branches)))


def noticed(loop: Loop, reason: str) -> Loop:
    """The answer that is there stays; `reason` says why no other came."""
    if loop.answering >= len(loop.branches) or (old := loop.branches[loop.answering].reply) is None:
        return loop
    return answered(loop, replace(old, notice="\n".join(filter(None, (old.notice, reason)))), by_model=True)


def name(branch: int) -> str:
    """a, b, ... z, then a1, b1, ..."""
    turn, at = divmod(branch, len(ascii_lowercase))
    return ascii_lowercase[at] + (str(turn) if turn else "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the shown round is held against: round `round.number` of `branch`."""

    branch: int
    round: Round


def comparisons(loop: Loop, shown: Round) -> tuple[Comparison, ...]:
    """The round before, then the other branches' round of the same number (their last where they have fewer)."""
    found: list[Comparison] = []
    if not loop.branches:
        return ()
    rounds = loop.branches[loop.current].trace.rounds
    if shown.number:
        before = rounds[shown.number - 1]
        found.append(Comparison(_holder(loop, loop.current, before.number), before))
    for i, branch in enumerate(loop.branches):
        other = branch.trace.rounds[min(shown.number, len(branch.trace.rounds) - 1)]
        if i != loop.current and other != shown and all(other != c.round for c in found):
            found.append(Comparison(i, other))
    return tuple(found)


def next_comparison(loop: Loop, shown: Round) -> Loop:
    """The first comparison, the next, ... and after the last one the rounds again."""
    at = 0 if loop.compared is None else loop.compared + 1
    return replace(loop, compared=at if at < len(comparisons(loop, shown)) else None)


def tree(loop: Loop) -> list[tuple[int, str, tuple[int, ...]]]:
    """(branch, what stands before its rounds, the numbers of its own rounds), a child below what it left.

    a 0-1-2
    b  \\1      left a after round 0
    c    \\2    left a after round 1
    """
    cell = 1 + max((len(str(b.trace.last.number)) for b in loop.branches), default=1)
    rows = []
    for i in _in_order(loop, None):
        branch = loop.branches[i]
        lead = "" if branch.parent is None else " " * (cell * (branch.after + 1) - 1) + "\\"
        rows.append((i, lead, tuple(r.number for r in branch.own)))
    return rows


def _in_order(loop: Loop, parent: int | None) -> list[int]:
    children = [i for i, b in enumerate(loop.branches) if b.parent == parent]
    # A child that left later stands above those that left earlier: so no line crosses another.
    children.sort(key=lambda i: (-loop.branches[i].after, i))
    return [i for child in children for i in (child, *_in_order(loop, child))]
