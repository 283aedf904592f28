"""The loop: a round, and while its evidence is insufficient a rewritten query and another round.

`ask_first` and `ask_next` say what to run, `run_round` runs it, `run` is the loop over them; a debugger steps through
the same three. A later round's first lists are its own; its fused list holds round 0's too, so that no rewrite can drop
what the person asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from glassbox_tui.retrieval import plugins
from glassbox_tui.retrieval.feedback import feed_back
from glassbox_tui.retrieval.query import Query, read_query
from glassbox_tui.retrieval.rounds import Ask, Pipeline, Step, run_round
from glassbox_tui.retrieval.trace import Round
from glassbox_tui.text.normalize import fold

MODES = ("bm25", "dense", "hybrid")


def ask_first(text: str, pipe: Pipeline) -> Ask:
    """Round 0: the query as typed."""
    return Ask(0, "user", _read(text, pipe))


def ask_next(before: Step, first: Query, pipe: Pipeline, notices: list[str]) -> Ask | None:
    """What to run after an insufficient round: the transform's query if there is one, else feedback; None: no idea.

    `first` is round 0's query; `notices` hears of a transform that failed.
    """
    number, settings = before.round.number + 1, pipe.settings
    if pipe.plugins.transform is not None:
        evidence = [hit.text for hit in before.round.hits]
        text = plugins.transformed(pipe.plugins.transform, first.intent, evidence, notices)
        if text is not None:
            return Ask(number, "llm", rewritten(first, text, pipe), (), before.origin_lists)
    query, added = feed_back(first, before.final, pipe.snapshot, settings.min_token_len)
    return Ask(number, "prf", query, added, before.origin_lists) if added else None


def rewritten(first: Query, text: str, pipe: Pipeline) -> Query:
    """Another wording of `first`: it searches with its own words, its evidence is judged by what was asked."""
    return replace(_read(text, pipe), intent=first.intent, asked=first.asked, tokens=first.tokens)


def run(
    text: str, pipe: Pipeline, max_rewrites: int, on_round: Callable[[Round], None] = lambda _: None
) -> tuple[tuple[Round, ...], tuple[str, ...]]:
    """All rounds and notices. Ends when the evidence suffices, rewrites are used up, or a query repeats."""
    ask: Ask | None = ask_first(text, pipe)
    assert ask is not None
    first, seen = ask.query, set[str]()
    rounds, notices = list[Round](), list[str]()
    while ask is not None and fold(ask.query.text) not in seen:
        seen.add(fold(ask.query.text))
        step = run_round(ask, pipe)
        rounds.append(step.round)
        notices += step.notices
        on_round(step.round)
        if step.round.grade.sufficient or len(rounds) > max_rewrites:
            break
        ask = ask_next(step, first, pipe, notices)
    return tuple(rounds), tuple(dict.fromkeys(notices))


def _read(text: str, pipe: Pipeline) -> Query:
    embedder = None if pipe.mode == "bm25" else pipe.embedder
    return read_query(text, embedder, pipe.snapshot.sparse, pipe.settings.min_token_len)
