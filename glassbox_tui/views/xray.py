"""The x-ray: a whole run as plain text, nothing left out: scores with their parts, signals with their thresholds."""

from __future__ import annotations

from collections.abc import Iterator

from glassbox_tui.retrieval.reasons import ADDERS, ENDED, SIGNAL_WORDS, filter_words
from glassbox_tui.retrieval.trace import Candidate, Grade, Hit, Part, Round, Stage, Trace
from glassbox_tui.views import attempts
from glassbox_tui.views.look import Look
from glassbox_tui.views.plain import (
    ABSENT,
    asked_dense,
    block,
    by_probability,
    heading,
    line,
    location,
    signals,
    verdict_words,
)
from glassbox_tui.views.rankflow import plain_text, rank_flow


def xray(trace: Trace, *, width: int = 100, look: Look = "unicode") -> str:
    """Every stage of every round. Only the rank flow keeps to `width` cells; lists of parts are as long as they are."""
    return "\n".join(_lines(trace, width, look)) + "\n"


def _lines(trace: Trace, width: int, look: Look) -> Iterator[str]:
    info = trace.index
    yield f"query     {line(trace.query)}"
    yield f"index     {info.notes} notes, {info.chunks} chunks, dense coverage {info.dense_coverage:.1%}"
    yield f"models    embedder {line(info.embedder)}, reranker {line(info.reranker) or 'none'}"
    yield f"settings  {', '.join(f'{line(str(k))}={line(str(v))}' for k, v in trace.settings.items())}"
    yield f"decision  {line(trace.decision)}, after {len(trace.rounds)} round{'s' if len(trace.rounds) > 1 else ''}"
    if trace.ended:
        yield f"ended     {ENDED.get(trace.ended, line(trace.ended))}"
    for notice in trace.notices:
        yield f"notice    {line(notice)}"
    if trace.timings_ms:
        yield f"timings   {', '.join(f'{line(k)} {v:.1f} ms' for k, v in trace.timings_ms.items())}"
    for r in trace.rounds:
        yield from _round(r, trace, width, look)


def _round(r: Round, trace: Trace, width: int, look: Look) -> Iterator[str]:
    yield ""
    yield f"== round {r.number} ({line(r.origin)}) ".ljust(min(width, 72), "=")
    yield from (f"why    {line(sentence)}" for sentence in r.why.splitlines())
    yield f"query  {line(r.query)}"
    if r.judged_by != trace.rounds[0].judged_by:
        yield f"judged by {line(r.judged_by)}"
    yield f"terms  {' '.join(map(line, r.terms)) or 'no keyword terms'}"
    for f in r.filters:
        yield f"filter {line(filter_words(f.kind, f.text, f.removed))}"
    for t in r.added_terms:
        word = f", from the word {line(t.surface)}" if t.surface not in ("", t.term) else ""
        sources = ", ".join(map(line, t.sources)) or ADDERS.get(r.origin, "you")
        yield f"added  {line(t.term)} (weight {t.weight:.3f}{word}) from {sources}"
    yield from attempts.whole(attempts.of_round(trace, r))
    for stage in r.stages:
        yield ""
        yield from _stage(stage)
    yield ""
    yield "-- rank flow --"
    yield plain_text(rank_flow(r, width=width, look=look))
    yield ""
    yield from _grade(r)
    for rank, hit in enumerate(r.hits, start=1):
        yield ""
        yield from _hit(rank, hit)


def _stage(stage: Stage) -> Iterator[str]:
    yield f"-- {line(stage.name)}: {len(stage.candidates)} candidates, {stage.ms:.1f} ms --"
    for c in stage.candidates:
        yield _candidate(c)
    if stage.lacking:
        yield f"      not seen by this stage, kept in their places: {', '.join(map(line, stage.lacking))}"


def _candidate(c: Candidate) -> str:
    parts = f"  = {' + '.join(map(_part, c.parts))}" if c.parts else ""
    return f"{c.rank:>4}  {c.score:>10.6f}  {line(c.uid)}{parts}"


def _part(p: Part) -> str:
    detail = f" ({line(p.detail)})" if p.detail else ""
    return f"{line(p.name)} {p.value:.6f}{detail}"


def _grade(r: Round) -> Iterator[str]:
    if by_probability(r.grade):
        yield from _probability(r.grade)
    else:
        yield f"-- grade: {'sufficient' if r.grade.sufficient else 'insufficient'} --"
    for name, value, threshold in signals(r.grade):
        shown = ABSENT if value is None else f"{value:.4f}"
        if value is None or threshold is None:
            yield f"  {name:<13} {shown:>7}  (has no say)"
        else:
            yield f"  {name:<13} {shown:>7}  {'>=' if value >= threshold else '< '} {threshold:.4f}"
    if differs := asked_dense(r):
        yield f"  {differs}"
    if r.grade.idf_coverage is not None:
        yield f"  {'idf coverage':<13} {r.grade.idf_coverage:>7.4f}  (shown for comparison, has no say)"
    for reason in r.grade.reasons:
        yield f"  reason: {line(reason)}"
    if r.grade.missing:
        yield f"  not found in the evidence: {', '.join(map(line, r.grade.missing))}"


def _probability(grade: Grade) -> Iterator[str]:
    """The verdict with every summand of its log-odds, and what its name means."""
    yield f"-- grade: {'sufficient' if grade.sufficient else 'insufficient'}: {verdict_words(grade)} --"
    for s in grade.signals:
        value = "" if s.value is None else f"value {s.value:.4f}"
        told = "; ".join(filter(None, [value, line(s.detail)]))
        yield f"  {SIGNAL_WORDS.get(s.name, line(s.name)):<24} {s.share:>+9.4f}{f'  ({told})' if told else ''}"
    if grade.log_odds is not None and grade.probability is not None:
        yield f"  {'log-odds':<24} {grade.log_odds:>+9.4f}  probability {grade.probability:.4f} = 1 / (1 + e^-log-odds)"


def _hit(rank: int, hit: Hit) -> Iterator[str]:
    places = ", ".join(f"{name} {ABSENT if p is None else p.rank}" for name, p in hit.stages.items())
    yield f"[{rank}] {location(hit)}  {heading(hit)}".rstrip()
    yield f"    {line(hit.uid)}, characters {hit.start}-{hit.end}; {places}"
    for text in block(hit.text).splitlines():
        yield f"    | {text}"
