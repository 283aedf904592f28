"""What a language model is worth to a search, and what it costs: `eval --compare llm`.

Rerankers stand side by side by their final order at their own weight, and alone; rewriters by what one more round finds
for every question, whether it needed one or not; judges by how often they tell evidence that has the labelled note from
evidence without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median

from glassbox_tui.lab.comparing import Bench, Row
from glassbox_tui.lab.evaluate import labelled_ranking, means, note_paths, short_measures, uids_of
from glassbox_tui.lab.jsonl import LabError
from glassbox_tui.lab.metrics import success
from glassbox_tui.lab.queries import LabelledQuery
from glassbox_tui.lab.whatif import takeover
from glassbox_tui.models.entries import UNMEASURED_WEIGHT
from glassbox_tui.models.llm_judge import LLMJudge, UnclearError
from glassbox_tui.models.llm_rerank import HOWS, PREFIX, LLMReranker
from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.grade import grade
from glassbox_tui.retrieval.loop import ask_first, ask_next
from glassbox_tui.retrieval.rewriting import Log
from glassbox_tui.retrieval.rounds import Pipeline, Step, run_round
from glassbox_tui.retrieval.trace import USED, Hit, Round
from glassbox_tui.settings import REWRITERS

ALONE = "top-1 alone"  # of the reranker's own order
JUDGED = 4  # hits that a judge is shown
Order = Callable[[Round], Sequence[str]]


def llm_rows(bench: Bench) -> list[Row]:
    """Rerankers, rewriters and judges. Raises LabError where there is no language model."""
    with bench.open(bench.settings, "") as engine:
        chat = engine.chat
        if chat is None:
            raise LabError("there is no language model here to compare with: ./run.sh --with-llm brings a small one")
        queries = [query for query in bench.queries if query.query.strip()]
        paths = note_paths(engine)
        usual, spent = _first_rounds(engine, engine.pipeline(), queries, bench, "search")
        rows = [
            _row("fused", usual, queries, paths, lambda r: uids_of(r, "fused"), None),
            _row(engine.info().reranker, usual, queries, paths, _final, spent, alone=True),
        ]
        for how in HOWS:
            pipe = replace(engine.pipeline(), reranker=LLMReranker(chat, how), rerank_weight=UNMEASURED_WEIGHT)
            steps, spent = _first_rounds(engine, pipe, queries, bench, PREFIX + how)
            rows.append(_row(PREFIX + how, steps, queries, paths, _final, spent, alone=True))
        for how in REWRITERS:
            rows.append(_rewritten(how, engine, usual, queries, paths, bench))  # noqa: PERF401 - a row costs a run
        return [*rows, *_judges(engine, LLMJudge(chat), usual, queries, bench)]


def _final(round_: Round) -> Sequence[str]:
    return uids_of(round_, "final")


def _first_rounds(
    engine: Engine, pipe: Pipeline, queries: Sequence[LabelledQuery], bench: Bench, detail: str
) -> tuple[list[Step], list[float]]:
    """Round 0 of each question, and the milliseconds of each."""
    steps, spent = [], []
    for done, query in enumerate(queries):
        bench.progress(Progress("ask", done, len(queries), detail))
        started = time.perf_counter()
        with engine.going_first():
            steps.append(run_round(ask_first(query.query, pipe), pipe))
        spent.append((time.perf_counter() - started) * 1000.0)
    return steps, spent


def _row(
    name: str,
    steps: Sequence[Step],
    queries: Sequence[LabelledQuery],
    paths: frozenset[str],
    order: Order,
    spent: Sequence[float] | None,
    alone: bool = False,
) -> Row:
    def ranked(by: Order) -> list[tuple[str, ...]]:
        return [
            labelled_ranking(by(step.round), query.relevant, paths) for step, query in zip(steps, queries, strict=True)
        ]

    values: dict[str, float | int | None] = {**means(ranked(order), queries, short_measures())}
    if alone:
        values |= means(ranked(takeover), queries, {ALONE: lambda ranking, grades: success(ranking, grades, 1)})
    if spent:
        values["ms"] = round(median(spent))
    return Row(name, values)


def _rewritten(
    how: str,
    engine: Engine,
    before: Sequence[Step],
    queries: Sequence[LabelledQuery],
    paths: frozenset[str],
    bench: Bench,
) -> Row:
    """One rewrite of every question, whether or not its evidence sufficed."""
    pipe = engine.pipeline(replace(engine.settings, rewriter=how))
    steps, spent, log = [], [], Log()
    for done, step in enumerate(before):
        bench.progress(Progress("ask", done, len(queries), how))
        started = time.perf_counter()
        with engine.going_first():
            first = ask_first(queries[done].query, pipe).query
            ask = ask_next(step, first, pipe, log, [step.round])
            steps.append(step if ask is None else run_round(ask, pipe))
        spent.append((time.perf_counter() - started) * 1000.0)
    row = _row(f"round 1: {how}", steps, queries, paths, _final, spent)
    used = sum(attempt.outcome == USED for attempt in log.attempts)
    share = None if how == "feedback" else used / len(queries)
    return Row(row.name, {**row.values, "used": share})


def _judges(
    engine: Engine, judge: LLMJudge, steps: Sequence[Step], queries: Sequence[LabelledQuery], bench: Bench
) -> list[Row]:
    """How often a judge is right: the note is in the evidence, or its chunks were taken out."""
    right: dict[str, list[bool]] = {"thresholds": [], "model": []}
    spent, unclear = list[float](), 0
    for done, (step, query) in enumerate(zip(steps, queries, strict=True)):
        bench.progress(Progress("ask", done, len(queries), "judge"))
        hits = step.round.hits
        without = [hit for hit in hits if not _relevant(hit, query.relevant)]
        for shown, expected in ((hits[:JUDGED], True), (without[:JUDGED], False)):
            if expected and not any(_relevant(hit, query.relevant) for hit in shown):
                continue
            texts = [engine.snapshot.chunk(hit.uid).index_text for hit in shown]
            sufficient = _thresholds(query.query, shown, texts, engine)
            right["thresholds"].append(sufficient == expected)
            started = time.perf_counter()
            try:
                sufficient = judge.judge(query.query, texts)
            except UnclearError:  # then the built-in verdict stands
                unclear += 1
            spent.append((time.perf_counter() - started) * 1000.0)
            right["model"].append(sufficient == expected)
    agreement = {name: sum(told) / len(told) if told else None for name, told in right.items()}
    return [
        Row("judge: thresholds", {"right": agreement["thresholds"]}),
        Row("judge: model", {"right": agreement["model"], "unclear": unclear, "ms": round(median(spent or [0.0]))}),
    ]


def _relevant(hit: Hit, labels: Mapping[str, float]) -> bool:
    return labels.get(hit.path, 0) > 0 or labels.get(hit.uid, 0) > 0


def _thresholds(question: str, hits: Sequence[Hit], texts: Sequence[str], engine: Engine) -> bool:
    def top(stage: str) -> float | None:
        return max((place.score for hit in hits if (place := hit.stages[stage]) is not None), default=None)

    limits = engine.pipeline().thresholds
    return grade(question, texts, engine.snapshot.sparse, top("dense"), top("rerank"), limits).sufficient
