"""The loop by hand: pause after each round, see what would be run next and what it would change, then decide.

Nothing is kept between two steps but Traces: a Trace holds all that the next round needs, so it is taken up wherever it
was left, and a branch is a Trace that shares its first rounds with another. Round 0's lists are fused into each.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from glassbox_tui.progress import CancelledFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.feedback import grown
from glassbox_tui.retrieval.fusion import RankedList, rrf
from glassbox_tui.retrieval.loop import ask_first, ask_next, ask_or_end, next_or_end
from glassbox_tui.retrieval.moves import (
    Accept,
    Edit,
    First,
    Move,
    Own,
    Pause,
    Proposal,
    Skip,
    SteppingError,
    Stop,
    with_end,
)
from glassbox_tui.retrieval.places import placed
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.rewriting import Log, reworded
from glassbox_tui.retrieval.rounds import Ask, Pipeline, Step, run_round, say_of
from glassbox_tui.retrieval.stages import uids
from glassbox_tui.retrieval.trace import USED, Attempt, Candidate, Round, Trace, decided
from glassbox_tui.retrieval.wording import base_of, query_key, read_edited

SKIPPED = "skipped by you"  # the outcome of an attempt whose proposal was


def step(
    engine: Engine, move: Move, *, go_on: bool = True, cancelled: CancelledFn | None = None, rewriter: str | None = None
) -> Pause:
    """Make a move. `go_on` False: the round is the last one, nothing is proposed after it.

    `rewriter`: how queries are rewritten from now on (one of REWRITERS; None: as before).
    Raises SteppingError for a query that is empty or ran already, and what `Engine.search` raises.
    """
    if rewriter is not None and not isinstance(move, First):
        move = replace(move, trace=replace(move.trace, settings={**move.trace.settings, "rewriter": rewriter}))
    with engine.going_first():
        return _step(engine, move, go_on, cancelled, rewriter)


def _step(engine: Engine, move: Move, go_on: bool, cancelled: CancelledFn | None, rewriter: str | None) -> Pause:
    started, before = time.perf_counter(), 0.0
    match move:
        case First():
            trace = _first_round(engine, move, cancelled, rewriter)
        case Skip(trace, _) | Stop(trace):
            before = trace.timings_ms.get("total", 0.0)
        case _:
            trace = _moved(move, engine.pipeline_of(move.trace, cancelled))
            before = move.trace.timings_ms.get("total", 0.0)
    if isinstance(move, Stop) or not (go_on or isinstance(move, Skip)):
        pause = Pause(with_end(trace, "stopped" if isinstance(move, Stop) else "one-round"))
    else:
        pipe = engine.pipeline_of(trace, cancelled)
        pause = _propose(move, pipe) if isinstance(move, Skip) else _pause(trace, pipe)
    total = round(before + (time.perf_counter() - started) * 1000.0, 3)
    return replace(pause, trace=replace(pause.trace, timings_ms={**trace.timings_ms, "total": total}))


def _first_round(engine: Engine, first: First, cancelled: CancelledFn | None, rewriter: str | None) -> Trace:
    changes: dict[str, Any] = {} if rewriter is None else {"rewriter": rewriter}
    trace = engine.search(first.query, max_rewrites=0, cancelled=cancelled, scope=first.scope, **changes)
    return replace(trace, settings={**trace.settings, "max_rewrites": engine.settings.max_rewrites}, ended="")


def _moved(move: Accept | Edit | Own, pipe: Pipeline) -> Trace:
    """The Trace with one more round."""
    trace = move.trace
    if isinstance(move, Accept):
        longer = _with_round(trace, move.proposal.round, move.proposal.notices)
        return replace(longer, attempts=(*trace.attempts, *move.proposal.attempts))
    before, first, notices = resumed(trace, pipe)
    ask = _edited(move, before, first, pipe) if isinstance(move, Edit) else _own(move, before, first, pipe)
    if not ask.query.text.strip():
        raise SteppingError("the query is empty: there is nothing to run")
    for r in trace.rounds:
        if query_key(r.query, r.added_terms) == query_key(ask.query.text, ask.added):
            raise SteppingError(f"round {r.number} has run this query already: change a word")
    done = run_round(ask, pipe)
    return _with_round(trace, done.round, (*notices, *done.notices))


def _edited(move: Edit, before: Step, first: Query, pipe: Pipeline) -> Ask:
    wording, added = read_edited(move.text, move.of, pipe.settings.min_token_len)
    same = wording == base_of(move.of.query, move.of.added_terms) == first.text
    query = first if same else reworded(first, wording, pipe, typed=True)
    new = tuple(t for t in added if t.term not in query.terms)
    query = grown(query, wording, new, before.final, pipe.snapshot)
    return Ask(before.round.number + 1, "manual", query, new, before.origin_lists)


def _own(move: Own, before: Step, first: Query, pipe: Pipeline) -> Ask:
    return Ask(
        before.round.number + 1, "manual", reworded(first, move.text.strip(), pipe, typed=True), (), before.origin_lists
    )


def _pause(trace: Trace, pipe: Pipeline) -> Pause:
    """After a round: as the loop would go on by itself."""
    before, first, _ = resumed(trace, pipe)
    log = Log()
    ask = next_or_end(before, first, pipe, pipe.settings.max_rewrites, trace.rounds, log)
    return _proposed(trace, ask, pipe, log, frozenset())


def _propose(skip: Skip, pipe: Pipeline) -> Pause:
    trace, refused = skip.trace, _refused(skip)
    before, first, _ = resumed(trace, pipe)
    log = Log(attempts=_skipped(skip))
    ask = ask_or_end(ask_next(before, first, pipe, log, trace.rounds, refused), trace.rounds)
    return _proposed(trace, ask, pipe, log, refused)


def _proposed(trace: Trace, ask: Ask | str, pipe: Pipeline, log: Log, refused: frozenset[str]) -> Pause:
    if isinstance(ask, str):
        told = replace(_noticed(trace, log.notices), attempts=(*trace.attempts, *log.attempts))
        return Pause(with_end(told, ask))
    done = run_round(ask, pipe)
    notices, attempts = (*log.notices, *done.notices), tuple(log.attempts)
    return Pause(replace(trace, ended=""), Proposal(done.round, notices, refused, attempts))


def _skipped(skip: Skip) -> list[Attempt]:
    """What the model was asked for the proposal that is skipped."""
    attempts = skip.proposal.attempts if skip.proposal is not None else ()
    return [replace(a, outcome=SKIPPED) if a.outcome == USED else a for a in attempts]


def _refused(skip: Skip) -> frozenset[str]:
    """What was proposed before and skipped; where nothing was proposed, what the rounds have run."""
    rounds = skip.trace.rounds[1:] if skip.proposal is None else [skip.proposal.round]
    said = frozenset(word for r in rounds for word in ({t.term for t in r.added_terms} or {r.query}))
    return said | (skip.proposal.refused if skip.proposal is not None else frozenset())


def _with_round(trace: Trace, new: Round, notices: Sequence[str]) -> Trace:
    longer = replace(trace, rounds=(*trace.rounds, new), decision=decided(new), ended="")
    return _noticed(longer, notices)


def _noticed(trace: Trace, notices: Sequence[str]) -> Trace:
    return replace(trace, notices=tuple(dict.fromkeys((*trace.notices, *notices))))


def resumed(trace: Trace, pipe: Pipeline) -> tuple[Step, Query, tuple[str, ...]]:
    """What the loop held when it had just run the last round of `trace`, round 0's query, and notices.

    Chunks that the index no longer holds are left out of the lists.
    """
    first = ask_first(trace.query, pipe).query
    own = list(takewhile(lambda stage: stage.name != "fused", trace.rounds[0].stages))
    gone = set[str]()
    k, weight = pipe.settings.rrf_k, pipe.settings.query_weight
    held = {}
    for stage in own:
        if stage.name != "literal":  # every round makes its own
            ranking = _held(stage.candidates, pipe, gone)
            said = weight * say_of(stage.name, first, ranking, pipe)
            held[stage.name] = RankedList(f"{stage.name}@0", said, uids(ranking))
    lists = tuple(
        placed(held[s.name], uids(rrf([r for name, r in held.items() if name != s.name], k, False)), s.lacking)
        for s in own
        if s.name in held
    )
    final = trace.last.stage("final")
    order = _held(final.candidates if final is not None else (), pipe, gone)
    notices = (f"the notes changed: {len(gone)} chunks of the earlier rounds are gone",) if gone else ()
    return Step(trace.last, first, lists, order), first, notices


def _held(candidates: Sequence[Candidate], pipe: Pipeline, gone: set[str]) -> tuple[Candidate, ...]:
    gone.update(c.uid for c in candidates if c.uid not in pipe.snapshot.row_of)
    return tuple(c for c in candidates if c.uid in pipe.snapshot.row_of)
