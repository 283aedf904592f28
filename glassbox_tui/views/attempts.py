"""What a language model was asked for a rewrite, and what became of its reply, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glassbox_tui.retrieval.trace import Attempt, Round, Trace
from glassbox_tui.views.plain import block, line


def of_round(trace: Trace, round_: Round) -> tuple[Attempt, ...]:
    """The attempts that led to this round; with the last round also those after it, that led to none."""
    after = round_ is trace.last
    return tuple(a for a in trace.attempts if a.round == round_.number or (after and a.round > round_.number))


def headline(attempt: Attempt) -> str:
    """`hyde by SmolLM2 for round 1, 820 ms: used`."""
    return (
        f"{line(attempt.how)} by {line(attempt.model)} for round {attempt.round}, {attempt.ms:.0f} ms:"
        f" {line(attempt.outcome)}"
    )


def whole(attempts: Sequence[Attempt]) -> Iterator[str]:
    """Prompts and replies, nothing left out."""
    for attempt in attempts:
        yield f"asked  {headline(attempt)}"
        for role, text in attempt.prompt:
            yield from (f"    {line(role)} | {told}" for told in block(text).splitlines())
        yield from (f"    reply | {told}" for told in block(attempt.reply).splitlines() or [""])
