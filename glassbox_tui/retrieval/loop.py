"""The loop: a round, and while its evidence is insufficient a rewritten query and another round.

`ask_first` and `next_or_end` say what to run, `run_round` runs it, `run` is the loop over them; `stepping` goes through
the same three by hand. A later round's first lists are its own; its fused list holds round 0's too, so that no rewrite
can drop what the person asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from glassbox_tui.retrieval import plugins
from glassbox_tui.retrieval.feedback import feed_back
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.rewriting import Log, by_model, read, reworded
from glassbox_tui.retrieval.rounds import Ask, Pipeline, Step, run_round
from glassbox_tui.retrieval.trace import Attempt, Round
from glassbox_tui.retrieval.wording import query_key

MODES = ("bm25", "dense", "hybrid")


class Ran(NamedTuple):
    """All rounds, what was noticed on the way, why there were no more (one of ENDS), and what the model was asked."""

    rounds: tuple[Round, ...]
    notices: tuple[str, ...]
    ended: str
    attempts: tuple[Attempt, ...] = ()


def ask_first(text: str, pipe: Pipeline) -> Ask:
    """Round 0: the query as typed."""
    return Ask(0, "user", read(text, pipe))


def next_or_end(
    step: Step, first: Query, pipe: Pipeline, max_rewrites: int, rounds: Sequence[Round], log: Log
) -> Ask | str:
    """What to run after `step`, or why nothing is run, one of ENDS. `rounds` are all those before, with this one."""
    if step.round.grade.sufficient:
        return "sufficient"
    if step.round.grade.unknown:  # more rounds would not tell either
        return "vectors-missing"
    if step.round.number >= max_rewrites:
        return "rewrites-used"
    return ask_or_end(ask_next(step, first, pipe, log, rounds), rounds)


def ask_or_end(ask: Ask | None, rounds: Collection[Round]) -> Ask | str:
    """`ask`, unless there is none or one of the rounds has run it."""
    if ask is None:
        return "no-idea"
    seen = {query_key(r.query, r.added_terms) for r in rounds}
    return "repeated" if query_key(ask.query.text, ask.added) in seen else ask


def ask_next(
    before: Step, first: Query, pipe: Pipeline, log: Log, rounds: Sequence[Round], refused: Collection[str] = ()
) -> Ask | None:
    """What to run after an insufficient round; None: no idea.

    The transform's query if there is one, else the model's if the settings name a way for it, else feedback.
    `first` is round 0's query; `log` hears of what failed and of what the model was asked; `refused` are terms and
    whole wordings that are not to be proposed.
    """
    number, settings = before.round.number + 1, pipe.settings
    if pipe.plugins.transform is not None:
        evidence = [hit.text for hit in before.round.hits]
        text = plugins.transformed(pipe.plugins.transform, first.intent, evidence, log.notices)
        if text is not None and text not in refused:
            return Ask(number, "llm", reworded(first, text, pipe), (), before.origin_lists)
    if settings.rewriter != "feedback":
        ran = {query_key(r.query, r.added_terms) for r in rounds}
        ask = by_model(settings.rewriter, before, first, pipe, log, [r.query for r in rounds], sorted(refused))
        if ask is not None and query_key(ask.query.text, ask.added) not in ran:
            return ask
    query, added = feed_back(first, before.final, pipe.snapshot, settings.min_token_len, refused)
    return Ask(number, "prf", query, added, before.origin_lists) if added else None


def run(text: str, pipe: Pipeline, max_rewrites: int, on_round: Callable[[Round], None] = lambda _: None) -> Ran:
    """Round 0, and more until the evidence suffices, rewrites are used up, a query repeats or no idea is left."""
    ask: Ask | str = ask_first(text, pipe)
    assert isinstance(ask, Ask)
    first = ask.query
    rounds, log = list[Round](), Log()
    while isinstance(ask, Ask):
        step = run_round(ask, pipe)
        rounds.append(step.round)
        log.notices += step.notices
        on_round(step.round)
        ask = next_or_end(step, first, pipe, max_rewrites, rounds, log)
    return Ran(tuple(rounds), tuple(dict.fromkeys(log.notices)), ask, tuple(log.attempts))
