"""Promises of the evidence table and the views around it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from samples import (
    sample_trace,
    sample_trace_empty,
    sample_trace_hostile,
    sample_trace_probable,
    sample_trace_two_rounds,
)
from wcwidth import wcwidth

from glassbox_tui.index.indexer import UpdateReport
from glassbox_tui.notes.scan import Skipped
from glassbox_tui.retrieval.trace import STAGES, VECTORS_MISSING, Hit, Place, Trace
from glassbox_tui.views.answer import answer_view
from glassbox_tui.views.evidence import evidence, evidence_table, grade_line, index_line, rank_cell, to_text
from glassbox_tui.views.look import LOOKS, Look
from glassbox_tui.views.plain import clip, first_line, line, location, number, pad, short_name
from glassbox_tui.views.ranks import spark
from glassbox_tui.views.report import report
from glassbox_tui.views.status import NotSearchable, Status, report_view, status_view
from glassbox_tui.views.xray import xray

ALL = [sample_trace, sample_trace_two_rounds, sample_trace_hostile, sample_trace_empty]


def a_hit(**ranks: int | None) -> Hit:
    stages = {s: None if (r := ranks.get(s)) is None else Place(r, 1.0) for s in STAGES}
    return replace(sample_trace().hits[0], stages=stages)


def harmless(text: str) -> bool:
    return not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in text.replace("\n", ""))


@pytest.mark.parametrize("width", [80, 100, 110, 160])
def test_the_table_shows_every_rank_of_every_hit(width: int) -> None:
    trace = sample_trace()
    text = to_text(evidence_table(trace, width=width), width=width)
    head = next(r for r in text.splitlines() if "rerank" in r)
    rows = [r for r in text.splitlines() if re.match(r" *\d+ +\S+:\d", r)]
    assert len(rows) == len(trace.hits)
    for row, hit in zip(rows, trace.hits, strict=True):
        assert location(hit) in row
        by_cell = "".join(c + " " * (cell_len(c) - 1) for c in row)
        ranks = [re.match(r"(-|\d+)(?:[▴▾]\d+)?\s", by_cell[head.index(f" {stage} ") + 1 :]) for stage in STAGES]
        assert [m and m[1] for m in ranks] == ["-" if p is None else str(p.rank) for p in hit.stages.values()]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_asked(make, width: int) -> None:  # type: ignore[no-untyped-def]
    for look in LOOKS:
        text = to_text(evidence(make(), width=width, look=look), width=width)
        assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [1, 5, 20, 40])
@pytest.mark.parametrize("make", ALL)
def test_a_tiny_width_does_not_crash(make, width: int) -> None:  # type: ignore[no-untyped-def]
    to_text(evidence(make(), width=width), width=width)


def test_columns_stand_under_each_other_in_chinese_text() -> None:
    text = to_text(evidence_table(sample_trace(), width=140), width=140)
    rows = [r for r in text.splitlines() if re.match(r" *\d+ +\S+:\d", r)]
    ends = {cell_len(r[: re.search(r"[⣀⣤⣶⣿.]{5}", r).end()]) for r in rows}  # type: ignore[union-attr]
    assert len(rows) == 8
    assert len(ends) == 1


@pytest.mark.parametrize("make", ALL)
def test_nothing_a_terminal_could_obey_gets_out(make) -> None:  # type: ignore[no-untyped-def]
    trace = make()
    assert harmless(to_text(evidence(trace, width=100), width=100))
    assert harmless(trace.xray)


def test_markup_in_notes_is_shown_literally() -> None:
    text = to_text(evidence(sample_trace_hostile(), width=200), width=200)
    assert text.count("[/] [b + [type=x") > 16


def test_movement_is_told_against_the_stage_to_the_left_and_only_where_both_saw_the_chunk() -> None:
    hit = a_hit(bm25=4, dense=2, fused=2, rerank=9)
    assert [rank_cell(hit, s).plain for s in STAGES] == ["4", "2▴2", "2", "9▾7", "-"]
    assert [rank_cell(hit, s, look="ascii").plain for s in STAGES] == ["4", "2^2", "2", "9v7", "-"]


def test_the_ranks_as_bars_are_high_for_good_ranks_with_a_dot_where_absent() -> None:
    hit = a_hit(bm25=1, dense=None, fused=3, rerank=8, final=500)
    assert spark(hit, look="ascii") == "#.=-_"
    assert spark(hit) == spark(hit, look="wide") == "⣿.⣶⣤⣀"


@pytest.mark.parametrize("off", [0.1, 0.004, 0.0004, 0.00004])
def test_a_signal_just_below_its_threshold_does_not_read_as_equal(off: float) -> None:
    grade = replace(sample_trace().last.grade, coverage=0.6 - off, thresholds={"coverage": 0.6})
    value, threshold = re.findall(r"coverage (\S+) < (\S+)", grade_line(grade).plain)[0]
    assert float(value) < float(threshold)


def test_the_grade_line_holds_each_signal_against_its_threshold() -> None:
    assert grade_line(sample_trace().last.grade).plain == (
        "coverage .82 >= .60   dense .91 >= .84   rerank .71 >= .55   SUFFICIENT"
    )
    assert grade_line(sample_trace_two_rounds().last.grade).plain == (
        "coverage .52 < .60   dense .90 >= .84   rerank .41 < .55   INSUFFICIENT"
    )


def test_a_signal_that_is_missing_is_not_a_number() -> None:
    assert grade_line(sample_trace_empty().last.grade).plain == "coverage -   dense -   rerank -   INSUFFICIENT"


def test_the_rounds_tell_what_feedback_added_and_what_was_not_found() -> None:
    text = to_text(evidence(sample_trace_two_rounds(), width=200), width=200)
    assert "+ 分布式锁(.31) 租约(.22) zookeeper(.17)" in text
    assert "not found: redlock, 选型" in text


def test_the_xray_leaves_nothing_out() -> None:
    trace = sample_trace_two_rounds()
    text = trace.xray
    for r in trace.rounds:
        for stage in r.stages:
            assert f"-- {stage.name}: {len(stage.candidates)} candidates" in text
            for c in stage.candidates:
                rows = [
                    row
                    for row in text.splitlines()
                    if re.match(rf" *{c.rank}  +{c.score:.6f}  {re.escape(c.uid)} ", row)
                ]
                assert any(all(f"{p.name} {p.value:.6f}" in row for p in c.parts) for row in rows), (stage.name, c)
        for term in r.added_terms:
            assert f"added  {term.term} (weight {term.weight:.3f}) from {', '.join(term.sources)}" in text
        for hit in r.hits:
            assert all(f"    | {row}" in text for row in hit.text.splitlines())
    assert all(f"notice    {n}" in text for n in trace.notices)


def test_the_xray_of_a_trace_without_parts_still_has_every_score() -> None:
    trace = sample_trace()
    bare = [replace(s, candidates=tuple(replace(c, parts=()) for c in s.candidates)) for s in trace.last.stages]
    text = replace(trace, rounds=(replace(trace.last, stages=tuple(bare)),)).xray
    assert "   1   12.410000  04-rrf.md#1\n" in text


@dataclass
class FakeCitation:
    number: int
    path: str
    lines: tuple[int, int]
    page: int | None
    text: str


@dataclass
class FakeAnswer:
    mode: str
    text: str
    citations: tuple[FakeCitation, ...] = ()
    claims: tuple[()] = ()
    notice: str = ""
    model: str = ""


def test_an_answer_is_labelled_and_its_sources_are_lines_of_notes() -> None:
    answer = FakeAnswer("extract", "RRF 只看名次 [1]", (FakeCitation(1, "a[/].pdf", (3, 3), 2, "RRF 只看名次"),))
    text = to_text(answer_view(answer, sample_trace()), width=80)
    assert "extract: sentences quoted from the notes" in text
    assert "[1] a[/].pdf p.2:3  RRF 只看名次" in text


def test_no_answer_says_why() -> None:
    text = to_text(answer_view(FakeAnswer("none", "", notice="The index is empty."), sample_trace_empty()), width=80)
    assert "no answer" in text
    assert "The index is empty." in text


def test_status_names_the_files_no_search_can_find() -> None:
    files = (NotSearchable("a.pdf", "encrypted", "needs a password"), NotSearchable("[b]\x1b.md", "", "too large"))
    status = Status("1", "/data", "/notes", "/data/x", sample_trace().index, files)
    text = to_text(status_view(status), width=80)
    assert "a.pdf: needs a password" in text
    assert "[b]␛.md: too large" in text
    assert "14 searchable notes, 61 chunks" in text


def test_a_long_list_of_files_is_counted_not_dropped() -> None:
    report = UpdateReport(
        added=1, skipped=tuple(Skipped(f"{i}.md", "hidden") for i in range(50)), problems=(("x.md", "empty"),)
    )
    text = to_text(report_view(report, "/notes"), width=80)
    assert "50 hidden, 1 empty" in text
    assert "and 31 more" in text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.824, ".82"), (1.0, "1.00"), (-0.05, "-.05"), (0.999, "1.00"), (12.5, "12.50")]
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


def test_text_is_cut_by_cells_not_by_characters() -> None:
    assert clip("中文检索", 5) == "中文…"
    assert cell_len(clip("中文检索", 6)) <= 6
    assert pad("中", 5) == "中   "
    assert short_name("a/b/中文检索系统.md#12", 12) == "中文检索…#12"
    assert short_name("a/b.md#1", 12) == "a/b.md#1"


def test_a_trace_read_back_from_json_looks_the_same() -> None:
    from glassbox_tui.retrieval.trace_json import from_json, to_json

    def seen(trace: Trace) -> str:
        return to_text(evidence(trace, width=120), width=120) + trace.xray

    assert seen(from_json(to_json(sample_trace_two_rounds()))) == seen(sample_trace_two_rounds())


def test_the_line_shown_of_a_chunk_is_not_its_heading() -> None:
    assert first_line("\n## RRF\n\n---\n只看排名。\nmore") == "只看排名。"
    assert first_line("# only a heading") == "# only a heading"
    assert first_line(" \n\n") == ""


def keywords_only() -> Trace:
    """A search in bm25 mode: nothing dense, nothing reranked, though the index has models for both."""
    trace = sample_trace()
    left_out = ("dense", "rerank")
    stages = tuple(s for s in trace.last.stages if s.name not in left_out)
    hits = tuple(replace(h, stages=dict(h.stages) | dict.fromkeys(left_out)) for h in trace.hits)
    return replace(trace, rounds=(replace(trace.last, stages=stages, hits=hits),))


@pytest.mark.parametrize("width", [80, 140])
def test_nothing_claims_a_stage_that_did_not_run(width: int) -> None:
    trace = keywords_only()
    text = to_text(evidence_table(trace, width=width), width=width)
    head = next(r for r in text.splitlines() if "bm25" in r).split()
    assert [name for name in head if name in STAGES] == ["bm25", "fused", "final"]
    assert "late interaction" not in index_line(trace).plain
    assert "late interaction" in index_line(sample_trace()).plain
    assert rank_cell(a_hit(bm25=4, fused=2), "fused", ("bm25", "fused")).plain == "2▴2"


@pytest.mark.parametrize("look", ["wide", "ascii"])
def test_these_looks_print_nothing_of_ambiguous_width_but_what_the_notes_hold(look: Look) -> None:
    text = to_text(evidence(sample_trace(), width=80, look=look), width=80)
    ours = set(text) - {c for h in sample_trace().hits for c in h.text}
    assert not [c for c in ours if unicodedata.east_asian_width(c) == "A"]
    assert look == "wide" or not [c for c in ours if not c.isascii() and unicodedata.east_asian_width(c) not in "WF"]


STRANGE = ("👨‍👩‍👧", "❤️", "🇨🇳", "1️⃣", "👍🏽", "é", "é", "שלום", "مرحبا", "中", "ｱ", "z̴̡", "a", "한", "☃︎", "नि")


@given(st.lists(st.sampled_from(STRANGE), max_size=8).map(" ".join), st.integers(1, 40))
def test_a_line_is_as_wide_in_every_terminal(text: str, width: int) -> None:
    """By two tables, as terminals differ: rich's, which joins emoji, and wcwidth's, character by character."""
    shown = line(text)
    if not any(unicodedata.category(c) == "Mc" for c in shown):  # of vowel signs it is open: see tui/anchors.py
        assert cell_len(shown) == sum(wcwidth(c) for c in shown) == sum(cell_len(c) for c in shown)
    cut = pad(shown, width)
    assert cell_len(cut) == width
    if not any(unicodedata.category(c) == "Mc" for c in cut):
        assert sum(wcwidth(c) for c in cut) == width


@given(st.lists(st.sampled_from(["שלום", "مرحبا", "12", "a", "(b)"]), max_size=6).map(" ".join), st.integers(1, 30))
def test_text_from_right_to_left_cannot_pull_the_columns_beside_it_along(text: str, width: int) -> None:
    """UAX #9: digits after a right-to-left letter go with it, unless a strong left-to-right one stands between."""
    shown = pad(line(text), width)
    letters = [i for i, c in enumerate(shown) if unicodedata.bidirectional(c) in {"R", "AL"}]
    if letters:
        strong = [i for i, c in enumerate(shown) if unicodedata.bidirectional(c) == "L"]
        assert strong[0] < letters[0]
        assert strong[-1] > letters[-1]


def test_columns_hold_where_ambiguous_characters_are_two_cells_wide() -> None:
    """In a process of its own, as the measure is the process's. Expected widths: UAX #11, ambiguous as wide."""
    code = (
        "from dataclasses import replace; from samples import sample_trace;"
        "from glassbox_tui.views.widths import ambiguous_is_wide; from glassbox_tui.views.evidence import *;"
        "ambiguous_is_wide(); t = sample_trace(); names = ['α…b', '“中”', '①②③', 'Жук', 'é', 'x', 'y—z', '±'];"
        "hits = tuple(replace(h, path=n, heading=(n,), text=n) for h, n in zip(t.hits, names));"
        "t = replace(t, rounds=(replace(t.last, hits=hits),));"
        "print(to_text(evidence_table(t, width=80, look='wide'), width=80))"
    )
    folder = Path(__file__).parents[1]
    environ = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(folder.parent)]),
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, encoding="utf-8")
    assert not done.stderr
    rows = [r for r in done.stdout.splitlines() if re.match(r" *\d+ ", r)]
    assert len(rows) == 8

    def cells(text: str) -> int:
        return sum(
            2 if unicodedata.east_asian_width(c) in "WFA" else 0 if unicodedata.combining(c) else 1 for c in text
        )

    bars = [re.search(r"[⣀⣤⣶⣿.]{5}", r) for r in rows]
    assert len({cells(r[: m.start()]) for r, m in zip(rows, bars, strict=True) if m}) == 1
    assert all(bars)


# -- a verdict that is a probability -----------------------------------------------------------------------------------

PROBABLE = sample_trace_probable().last.grade


def test_the_grade_line_says_the_verdict_first_and_then_what_weighs_most() -> None:
    assert grade_line(PROBABLE).plain == "answered here 93%   stands out +1.9   words +.4   numbers -.3"
    related = replace(PROBABLE, level="related", probability=0.4149, sufficient=False)
    assert grade_line(related).plain.startswith("related 41%   ")
    assert grade_line(replace(related, level="nothing", probability=0.0021)).plain.startswith("nothing 1%   ")
    assert grade_line(replace(PROBABLE, probability=0.9999)).plain.startswith("answered here 99%   ")


def test_what_cannot_be_told_yet_is_said_so() -> None:
    unknown = replace(PROBABLE, level="", probability=None, log_odds=None, signals=(), sufficient=False)
    assert grade_line(replace(unknown, reasons=(VECTORS_MISSING,))).plain == "not known yet"


def test_the_x_ray_and_the_report_show_every_share_and_their_sum() -> None:
    trace = sample_trace_probable()
    for text in (xray(trace), report(trace)):
        for told in ("answered here 93%", "+.4000", "+1.9000", "-.3000", "+2.6000", "[b]v3[/b]"):
            assert told in text or told.replace(".", "0.", 1) in text, told
