"""Stepping through the loop, as data: where it stands and what a person may decide. Light: no model, no index."""

from __future__ import annotations

from dataclasses import dataclass, replace

from glassbox_tui.errors import GlassboxError
from glassbox_tui.retrieval.trace import Attempt, Round, Trace, decided


class SteppingError(GlassboxError):
    """A step that cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the loop would run next: `round` has run already, quietly, so its effect can be shown before it counts.

    `refused` are the terms and wordings that were skipped on the way here. `attempts`: what the model was asked for it.
    """

    round: Round
    notices: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Pause:
    """Where stepping stands: the Trace so far and the proposal; None: `trace.ended` says why there is none."""

    trace: Trace
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class First:
    """Run round 0 of this query, in `scope` (see `Engine.search`)."""

    query: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Accept:
    """The proposal becomes the next round."""

    trace: Trace
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class Skip:
    """Not this one (None: there is none): propose another, even where the loop by itself would end."""

    trace: Trace
    proposal: Proposal | None


@dataclass(frozen=True, slots=True)
class Edit:
    """Run an edited wording of `of`: the proposed round, or one of another branch that this one replaces."""

    trace: Trace
    of: Round
    text: str


@dataclass(frozen=True, slots=True)
class Own:
    """Run the person's own words."""

    trace: Trace
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """No more rounds."""

    trace: Trace


Move = First | Accept | Skip | Edit | Own | Stop


def cut_after(trace: Trace, number: int) -> Trace:
    """The beginning of a branch: `trace` up to round `number`, with those very rounds."""
    rounds = trace.rounds[: number + 1]
    attempts = tuple(a for a in trace.attempts if a.round <= number)
    return replace(trace, rounds=rounds, decision=decided(rounds[-1]), ended="", attempts=attempts)


def with_end(trace: Trace, why: str) -> Trace:
    """`trace` with the reason why it ends; evidence that suffices is the reason, whatever else stopped it."""
    return replace(trace, ended="sufficient" if trace.last.grade.sufficient else why)
