"""Where the verdict's dense value is not the table's best, it is said why; where they agree nothing is."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from samples import sample_trace, sample_trace_probable, sample_trace_two_rounds

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.trace import Place, Round, Trace
from glassbox_tui.settings import Settings
from glassbox_tui.tui.state import View, replayed
from glassbox_tui.views.evidence import round_lines
from glassbox_tui.views.plain import asked_dense
from glassbox_tui.views.report import report
from glassbox_tui.views.xray import xray

SAID = "dense .81 is closeness to the question asked, as the verdict takes it; to this round's query it is up to .86"


def with_values(r: Round, own: float | None, best: float) -> Round:
    """The round with these two values: the verdict's, and the best dense score of its hits."""
    hits = [replace(hit, stages={**hit.stages, "dense": Place(2, best - 0.1)}) for hit in r.hits]
    hits[-1] = replace(hits[-1], stages={**hits[-1].stages, "dense": Place(1, best)})
    return replace(r, hits=tuple(hits), grade=replace(r.grade, top_dense=own))


def trace_with(own: float | None, best: float, probable: bool = False) -> Trace:
    trace = sample_trace_two_rounds()
    last = with_values(trace.last, own, best)
    if probable:
        grade = sample_trace_probable().last.grade
        last = replace(last, grade=replace(grade, top_dense=own))
    return replace(trace, rounds=(*trace.rounds[:-1], last))


@pytest.mark.parametrize(
    ("own", "best", "said"),
    [(0.81, 0.86, SAID), (0.812, 0.8149, ""), (0.81, 0.81, ""), (None, 0.86, ""), (0.86, 0.81, "up to .81")],
)
def test_it_is_said_where_the_two_are_told_apart(own: float | None, best: float, said: str) -> None:
    trace = trace_with(own, best)
    table = "\n".join(text.plain for text in round_lines(trace))
    for shown in (table, xray(trace), report(trace)):
        assert (said in shown) if said else "closeness to the question" not in shown


def test_of_a_fitted_verdict_it_is_said_where_its_values_are_shown() -> None:
    trace = trace_with(0.81, 0.86, probable=True)
    assert SAID in xray(trace) and SAID in report(trace)
    assert "closeness" not in "\n".join(text.plain for text in round_lines(trace))


def test_the_first_round_asks_what_was_asked() -> None:
    trace = sample_trace()
    assert asked_dense(with_values(trace.last, 0.81, 0.86)) == ""


def test_the_loop_panel_of_the_app_says_it_too() -> None:
    from glassbox_tui.tui.rounds import loop

    lines = loop(replayed(View(notes="n"), trace_with(0.81, 0.86)), 120, 60)
    assert SAID in re.sub(r"\s+", " ", " ".join(line.plain for line in lines))


def test_the_sentence_is_true_of_a_real_loop() -> None:
    """The first value is the cosine with the question as asked, found here once more from the vectors themselves."""
    words = ["lease", "lock", "clock", "drift", "redis", "renewal", "storm", "harbour", "ferry", "tide"]
    notes = {
        f"{a}-{b}.md": f"# {a} {b}\n\nThe {a} of a {b} is written down here, with {a} and more {b}.\n"
        for a in words
        for b in words
        if a < b
    }
    engine = Engine(HashingEmbedder(), settings=Settings(verdict="thresholds", max_rewrites=2)).build(notes)
    trace = engine.search("zeppelin lock over an unknown harbour")
    assert len(trace.rounds) > 1
    for r in trace.rounds[1:]:
        asked = engine.embedder.embed_query(r.judged_by)
        best = max(
            float(asked @ vector)
            for hit in r.hits
            if (vector := engine.snapshot.dense.vector(engine.snapshot.row_of[hit.uid])) is not None
        )
        assert r.grade.top_dense == pytest.approx(best, abs=1e-4)
