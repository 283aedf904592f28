"""A search as a Markdown report: what was asked, whether to trust it, how each hit got its rank, the evidence itself.

Foreign text (notes, names, the query) stands in code spans and fences that are longer than any run of backticks in it,
so that nothing in a note can become a heading, a link, a picture or the end of the report's own block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from glassbox_tui.retrieval.reasons import ADDERS, ENDED, SIGNAL_WORDS, filter_words
from glassbox_tui.retrieval.trace import Grade, Hit, Round, Trace
from glassbox_tui.retrieval.wording import added_words
from glassbox_tui.views import attempts
from glassbox_tui.views.matching import surface_forms
from glassbox_tui.views.plain import (
    ABSENT,
    asked_dense,
    block,
    by_probability,
    heading,
    line,
    location,
    number,
    signals,
    signed,
    verdict_words,
)
from glassbox_tui.views.rankflow import plain_text, rank_flow

FLOW_WIDTH = 90
_BACKTICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """An answer for a report. `sources` are lines like "[1] 04-rrf.md:12-31"."""

    mode: str
    text: str
    sources: tuple[str, ...] = ()
    notice: str = ""


def report(trace: Trace, *, answer: ReportAnswer | None = None, made: str = "") -> str:
    """The whole run as Markdown (GitHub's dialect, for the tables). `made` says when, for the head."""
    return "\n".join(_lines(trace, answer, made)) + "\n"


def code(text: str, *, cell: bool = False) -> str:
    """`text` on one line as a code span. In a table's `cell` a bar becomes a broken one: escapes can be undone."""
    shown = " ".join(line(text).split()) or " "
    ticks = "`" * (1 + max(map(len, _BACKTICKS.findall(shown)), default=0))
    blank = " " if shown.startswith("`") or shown.endswith("`") else ""
    span = f"{ticks}{blank}{shown}{blank}{ticks}"
    return span.replace("|", "¦") if cell else span


def fenced(text: str) -> str:
    """`text` as a fenced block that nothing in it can end."""
    shown = block(text)
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(shown)), default=0))
    return f"{fence}text\n{shown}\n{fence}"


def _lines(trace: Trace, answer: ReportAnswer | None, made: str) -> Iterator[str]:
    last = trace.last
    yield f"# Search: {code(trace.query)}"
    yield ""
    rounds = f"{len(trace.rounds)} round{'' if len(trace.rounds) == 1 else 's'}"
    ended = f" ({ENDED[trace.ended]})" if trace.ended in ENDED else ""
    yield f"**{_verdict(last.grade)}** after {rounds}{ended}."
    yield ""
    if made:
        yield f"- made: {made}"
    info = trace.index
    yield f"- index: {info.notes:,} notes, {info.chunks:,} chunks, dense coverage {info.dense_coverage:.0%}"
    yield f"- embedder: {code(info.embedder)}; reranker: {code(info.reranker or 'none')}"
    if "total" in trace.timings_ms:
        yield f"- time: {trace.timings_ms['total']:.0f} ms"
    for notice in trace.notices:
        yield f"- notice: {code(notice)}"
    if answer is not None:
        yield from _answer(answer)
    yield from ("", "## Rounds")
    for round_ in trace.rounds:
        yield from _round(round_, trace)
    yield from ("", "## Ranks", "")
    yield from _ranks(last)
    yield from ("", "## Rank flow", "")
    yield fenced(plain_text(rank_flow(last, width=FLOW_WIDTH)))
    yield from ("", "## Evidence")
    for place, hit in enumerate(last.hits, start=1):
        yield from _evidence(place, hit)
    yield from ("", "## Settings", "")
    yield fenced("\n".join(f"{key} = {value}" for key, value in trace.settings.items()))


def _verdict(grade: Grade) -> str:
    word = "Sufficient evidence" if grade.sufficient else "Insufficient evidence"
    return f"{word}: {verdict_words(grade)}" if by_probability(grade) else word


def _answer(answer: ReportAnswer) -> Iterator[str]:
    yield from ("", f"## Answer ({line(answer.mode)})", "")
    if answer.notice:
        yield from (code(answer.notice), "")
    yield fenced(answer.text)
    if answer.sources:
        yield ""
    yield from (f"- {code(source)}" for source in answer.sources)


def _round(r: Round, trace: Trace) -> Iterator[str]:
    yield from ("", f"### Round {r.number} ({line(r.origin)}): {_verdict(r.grade).lower()}", "")
    yield f"- query: {code(r.query)}"
    for f in r.filters:
        yield f"- filter: {code(filter_words(f.kind, f.text, f.removed))}"
    yield from (f"- why: {code(sentence)}" for sentence in r.why.splitlines())
    if r.judged_by != trace.rounds[0].judged_by:
        yield f"- judged by: {code(r.judged_by)}"
    surface = surface_forms(r, trace.query, (hit.text for hit in r.hits))
    for word in added_words(r.added_terms):
        adder = ADDERS.get(r.origin, "the person who searched")
        sources = ", ".join(code(uid) for uid in word.sources) or adder
        yield f"- added: {code(surface.get(word.text, word.text))} (weight {number(word.weight)}) from {sources}"
    for reason in r.grade.reasons:
        yield f"- because: {code(reason)}"
    if r.grade.missing:
        yield f"- not in the evidence: {', '.join(code(surface.get(t, t)) for t in r.grade.missing)}"
    for attempt in attempts.of_round(trace, r):
        yield f"- asked a model: {code(attempts.headline(attempt))}"
        for name, text in (*attempt.prompt, ("reply", attempt.reply)):
            yield from ("", f"  {line(name)}:", "", *(f"  {told}" for told in fenced(text).splitlines()))
    yield ""
    if by_probability(r.grade):
        yield from _table(("signal", "value", "log-odds", ""), list(_shares(r.grade)), right=(1, 2))
    else:
        yield from _table(("signal", "value", "threshold", ""), [_signal(*s) for s in signals(r.grade)], right=(1, 2))
    if differs := asked_dense(r):
        yield from ("", differs)


def _shares(grade: Grade) -> Iterator[Sequence[str]]:
    """The summands of the log-odds, and their sum."""
    for s in grade.signals:
        detail = code(s.detail, cell=True) if s.detail else ""
        yield SIGNAL_WORDS.get(s.name, line(s.name)), number(s.value, 4), signed(s.share, 4), detail
    if grade.log_odds is not None:
        yield "all together", number(grade.probability, 4), signed(grade.log_odds, 4), "the value is the probability"


def _signal(name: str, value: float | None, threshold: float | None) -> Sequence[str]:
    word = "" if value is None or threshold is None else "holds" if value >= threshold else "falls short"
    return name, number(value, 4), number(threshold, 4), word


def _ranks(r: Round) -> Iterator[str]:
    if not r.hits:
        yield "Nothing was found."
        return
    stages = r.hits[0].stages
    rows = [
        (str(place), code(location(hit), cell=True), code(heading(hit), cell=True) if hit.heading else "",
         *(_place(hit, stage) for stage in stages))
        for place, hit in enumerate(r.hits, start=1)
    ]  # fmt: skip
    yield from _table(("#", "note", "heading", *stages), rows, right=(0, *range(3, 3 + len(stages))))


def _place(hit: Hit, stage: str) -> str:
    place = hit.stages.get(stage)
    return ABSENT if place is None else f"{place.rank} ({number(place.score, 4)})"


def _evidence(place: int, hit: Hit) -> Iterator[str]:
    yield from ("", f"### [{place}] {code(location(hit))}", "")
    if hit.heading:
        yield from (code(heading(hit)), "")
    yield fenced(hit.text)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---:' if i in right else '---' for i in range(len(head)))}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
