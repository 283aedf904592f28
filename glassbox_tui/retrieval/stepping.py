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
from glassbox_tui.retrieval.loop import ask_first, ask_next, ask_or_end, changes, next_round, question_after
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
from glassbox_tui.retrieval.rewriting import Log, read_typed, reworded
from glassbox_tui.retrieval.rounds import Ask, Pipeline, Step, lists_of, mends, run_round, say_of
from glassbox_tui.retrieval.stages import uids
from glassbox_tui.retrieval.trace import USED, Attempt, Candidate, Round, Trace, decided
from glassbox_tui.retrieval.wording import PLUS, base_of, query_key, read_edited, with_filters

SKIPPED = "skipped by you"  # the outcome of an attempt whose proposal was
MOST_DROPPED = 8  # rounds that are tried in search of a proposal that changes something


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


def _edited(move: Edit, before: Step, asked: Query, pipe: Pipeline) -> Ask:
    first = question_after(move.of, asked, pipe)
    wording, added = read_edited(move.text, move.of, pipe.settings.min_token_len)
    same = wording == with_filters(move.of) and base_of(move.of.query, move.of.added_terms) == first.text
    query = first if same else reworded(first, wording, pipe, typed=True)
    new = tuple(t for t in added if t.term not in query.terms)
    query = grown(query, wording, new, before.final, pipe.snapshot)
    return Ask(before.round.number + 1, "manual", query, new, before.origin_lists)


def _own(move: Own, before: Step, first: Query, pipe: Pipeline) -> Ask:
    """The written query alone, judged by itself; behind a plus it is fused with round 0 and judged by the question."""
    number, text = before.round.number + 1, move.text.strip()
    if text[:1] == PLUS.strip() and text[1:2] in ("", " "):
        return Ask(number, "manual", reworded(first, text[1:].strip(), pipe, typed=True), (), before.origin_lists)
    return Ask(number, "manual", read_typed(text, pipe))


def _pause(trace: Trace, pipe: Pipeline) -> Pause:
    """After a round: as the loop would go on by itself."""
    before, first, _ = resumed(trace, pipe)
    log = Log()
    found = next_round(before, first, pipe, pipe.settings.max_rewrites, trace.rounds, log)
    return _proposed(trace, found, log, frozenset())


def _propose(skip: Skip, pipe: Pipeline) -> Pause:
    """Another proposal: what was refused and what changes nothing is left out."""
    trace, refused = skip.trace, _refused(skip)
    before, first, _ = resumed(trace, pipe)
    log, dropped = Log(attempts=_skipped(skip)), list[Round]()
    found: Step | str = "no-change"
    while len(dropped) < MOST_DROPPED:
        ask = ask_or_end(ask_next(before, first, pipe, log, [*trace.rounds, *dropped], refused), trace.rounds)
        if isinstance(ask, str):
            found = "no-change" if dropped else ask
            break
        step = run_round(ask, pipe)
        if changes(before.round, step.round):
            found = step
            break
        dropped.append(step.round)
        log.nothing_came_of(step.round)
        refused |= _said([step.round])
    return _proposed(trace, found, log, refused)


def _proposed(trace: Trace, found: Step | str, log: Log, refused: frozenset[str]) -> Pause:
    if isinstance(found, str):
        told = replace(_noticed(trace, log.notices), attempts=(*trace.attempts, *log.attempts))
        return Pause(with_end(told, found))
    notices, attempts = (*log.notices, *found.notices), tuple(log.attempts)
    return Pause(replace(trace, ended=""), Proposal(found.round, notices, refused, attempts))


def _skipped(skip: Skip) -> list[Attempt]:
    """What the model was asked for the proposal that is skipped."""
    attempts = skip.proposal.attempts if skip.proposal is not None else ()
    return [replace(a, outcome=SKIPPED) if a.outcome == USED else a for a in attempts]


def _refused(skip: Skip) -> frozenset[str]:
    """What was proposed before and skipped; where nothing was proposed, what the rounds have run."""
    rounds = skip.trace.rounds[1:] if skip.proposal is None else [skip.proposal.round]
    return _said(rounds) | (skip.proposal.refused if skip.proposal is not None else frozenset())


def _said(rounds: Sequence[Round]) -> frozenset[str]:
    """The terms that rounds added, and the wordings of those that added none."""
    return frozenset(word for r in rounds for word in ({t.term for t in r.added_terms} or {r.query}))


def _with_round(trace: Trace, new: Round, notices: Sequence[str]) -> Trace:
    longer = replace(trace, rounds=(*trace.rounds, new), decision=decided(new), ended="")
    return _noticed(longer, notices)


def _noticed(trace: Trace, notices: Sequence[str]) -> Trace:
    return replace(trace, notices=tuple(dict.fromkeys((*trace.notices, *notices))))


def resumed(trace: Trace, pipe: Pipeline) -> tuple[Step, Query, tuple[str, ...]]:
    """What the loop held when it had just run the last round of `trace`, the question as it stands, and notices.

    The lists are round 0's, or those of the query that a person has run alone since, and those of the question mended.
    Chunks that the index no longer holds are left out of them.
    """
    first = question_after(trace.last, ask_first(trace.query, pipe).query, pipe)
    base = next((r for r in reversed(trace.rounds) if _stands_alone(r)), trace.rounds[0])
    gone = set[str]()
    lists: tuple[RankedList, ...] = ()
    for r in (base, *(r for r in trace.rounds[base.number + 1 :] if mends(r))):
        query = first if r.number == 0 else question_after(r, first, pipe) if mends(r) else read_typed(r.query, pipe)
        lists += lists_of(r, pipe.settings, _first_lists(r, query, pipe, gone))
    final = trace.last.stage("final")
    order = _held(final.candidates if final is not None else (), pipe, gone)
    notices = (f"the notes changed: {len(gone)} chunks of the earlier rounds are gone",) if gone else ()
    return Step(trace.last, first, lists, order), first, notices


def _stands_alone(r: Round) -> bool:
    """Whether a round holds no other round's lists, as one of the person's own does, unless a plus stands before it."""
    fused = r.stage("fused")
    names = {part.name for c in fused.candidates for part in c.parts} if fused is not None else set()
    return r.number == 0 or (r.origin == "manual" and bool(names) and not any("@" in name for name in names))


def _first_lists(r: Round, query: Query, pipe: Pipeline, gone: set[str]) -> list[RankedList]:
    """The lists that a round fused first, from its stages, with the weights that they had there."""
    own = [s for s in takewhile(lambda stage: stage.name != "fused", r.stages) if s.name != "literal"]
    held: dict[str, RankedList] = {}
    for stage in own:
        ranking = _held(stage.candidates, pipe, gone)
        held[stage.name] = RankedList(stage.name, say_of(stage.name, query, ranking, pipe), uids(ranking))
    others = {name: [r for n, r in held.items() if n != name] for name in held}
    k = pipe.settings.rrf_k
    return [placed(held[s.name], uids(rrf(others[s.name], k, False)), s.lacking) for s in own]


def _held(candidates: Sequence[Candidate], pipe: Pipeline, gone: set[str]) -> tuple[Candidate, ...]:
    gone.update(c.uid for c in candidates if c.uid not in pipe.snapshot.row_of)
    return tuple(c for c in candidates if c.uid in pipe.snapshot.row_of)
