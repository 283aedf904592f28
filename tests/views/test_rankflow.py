"""Promises of the rank flow: every rank can be read off the plain text; it fits its box; nothing in it obeys."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from samples import HOSTILE, sample_trace, sample_trace_empty, sample_trace_hostile, sample_trace_two_rounds

from glassbox_tui.retrieval.trace import STAGES, Candidate, Round, Stage
from glassbox_tui.views.rankflow import plain_text, rank_flow, rich_text

Ranks = dict[str, dict[str, int]]  # stage -> uid -> rank


def read(picture: str) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """A reader's eye: (stage -> letter -> rank, letter -> chunk name), from nothing but the picture."""
    head, *rows = picture.splitlines()
    starts = [m.start() for m in re.finditer(r"\S+", head)]
    assert len(starts) == len(STAGES)
    ranks: dict[str, dict[str, int]] = {stage: {} for stage in STAGES}
    names: dict[str, str] = {}
    for row in rows:
        if legend := re.match(r"  = (\w) (.+)", row):
            names[legend[1]] = legend[2]
            continue
        own = row[:4].strip()
        for stage, x in zip(STAGES, starts, strict=True):
            if node := re.match(r"([A-Za-z])(\d*)", row[x:]):
                assert bool(node[2]) == own.startswith(">")
                ranks[stage][node[1]] = int(node[2] or own)
                if stage == STAGES[-1]:
                    names[node[1]] = row[x + len(node[0]) :].strip()
    return ranks, names


def a_round(ranks: Ranks) -> Round:
    stages = tuple(
        Stage(
            name, 0.0, tuple(Candidate(uid, rank, 1 / rank) for uid, rank in sorted(seen.items(), key=lambda p: p[1]))
        )
        for name, seen in ranks.items()
    )
    return replace(sample_trace().last, stages=stages, hits=())


@st.composite
def some_ranks(draw: st.DrawFn) -> Ranks:
    chunks = [f"n{i}.md#{i}" for i in range(draw(st.integers(1, 45)))]
    ranks: Ranks = {}
    for stage in STAGES:
        seen = draw(st.permutations(chunks))[: draw(st.integers(0, len(chunks)))]
        ranks[stage] = {uid: i for i, uid in enumerate(seen, start=1)}
    return ranks


@given(some_ranks(), st.integers(40, 150), st.booleans())
def test_every_rank_of_every_chunk_in_some_top_ten_can_be_read_off_the_text(
    ranks: Ranks, width: int, ascii: bool
) -> None:
    if not any(ranks.values()):
        return
    picture = plain_text(rank_flow(a_round(ranks), width=width, ascii=ascii))
    seen, names = read(picture)
    for stage in STAGES:
        in_some_top = {uid for s in STAGES for uid, rank in ranks[s].items() if rank <= 10}
        wanted = {uid: rank for uid, rank in ranks[stage].items() if uid in in_some_top}
        assert {names[letter]: rank for letter, rank in seen[stage].items()} == wanted


@given(some_ranks(), st.integers(1, 120), st.integers(1, 40), st.booleans())
def test_it_stays_inside_its_box(ranks: Ranks, width: int, height: int, ascii: bool) -> None:
    flow = rank_flow(a_round(ranks), width=width, height=height, ascii=ascii, selected="n0.md#0")
    lines = plain_text(flow).split("\n")
    assert len(lines) <= max(2, height)
    assert all(cell_len(line) <= width for line in lines)
    assert rich_text(flow).plain.split("\n") == ["".join(s.text for s in segments) for segments in flow.lines]


@given(some_ranks(), st.integers(5, 30))
def test_a_low_box_shows_fewer_ranks_but_only_true_ones(ranks: Ranks, height: int) -> None:
    if not any(ranks.values()):
        return
    flow = rank_flow(a_round(ranks), width=60, height=height)
    seen, _ = read(plain_text(flow))
    for stage, letters in seen.items():
        for letter, rank in letters.items():
            assert (
                ranks[stage][flow.chunks["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".index(letter)]] == rank
            )


def test_the_final_column_reads_a_b_c_downwards_and_names_the_notes() -> None:
    seen, names = read(plain_text(rank_flow(sample_trace().last, width=80)))
    assert [letter for letter, rank in sorted(seen["final"].items(), key=lambda p: p[1]) if rank <= 10] == list(
        "abcdefghij"
    )
    assert names["a"] == "04-rrf.md#1"
    assert names["c"] == "07-grade.md#2"
    assert {stage: letters["c"] for stage, letters in seen.items()} == {
        "bm25": 5, "dense": 9, "fused": 5, "rerank": 2, "final": 3,
    }  # fmt: skip


def test_a_chunk_that_fell_out_of_the_top_stands_below_with_its_true_rank() -> None:
    picture = plain_text(rank_flow(sample_trace().last, width=80))
    assert any(
        line.startswith(">10") and "k11" in line and "02-cjk-tokens.md#1" in line for line in picture.splitlines()
    )


def test_a_chunk_missing_from_final_is_named_in_a_legend() -> None:
    ranks: Ranks = {s: {"a.md#0": 1} for s in STAGES}
    ranks["bm25"] = {"a.md#0": 1, "lost.md#3": 2}
    assert "  = b lost.md#3" in plain_text(rank_flow(a_round(ranks), width=60)).splitlines()


def test_a_straight_line_joins_the_places_of_a_chunk_that_does_not_move() -> None:
    ranks: Ranks = {s: {"a.md#0": 1} for s in STAGES}
    row = plain_text(rank_flow(a_round(ranks), width=40)).splitlines()[1]
    assert row == " 1  a────a────a────a────a a.md#0"


def test_a_stage_without_the_chunk_has_no_letter_and_no_line() -> None:
    ranks: Ranks = {s: {"a.md#0": 1} for s in STAGES} | {"dense": {"b.md#0": 1}}
    row = plain_text(rank_flow(a_round(ranks), width=40)).splitlines()[1]
    assert row == " 1  a    b    a────a────a a.md#0"


def test_lines_pass_over_a_stage_that_did_not_run() -> None:
    ranks: Ranks = {s: {"a.md#0": 1} for s in STAGES} | {"rerank": {}}
    row = plain_text(rank_flow(a_round(ranks), width=40)).splitlines()[1]
    assert row == " 1  a────a────a─────────a a.md#0"


def test_the_selected_chunk_is_told_apart_without_colour() -> None:
    plain = plain_text(rank_flow(sample_trace().last, width=60))
    picked = plain_text(rank_flow(sample_trace().last, width=60, selected="07-grade.md#2"))
    assert set(picked) - set(plain) >= {"━", "┃"}
    assert read(picked) == read(plain)


def test_ascii_is_ascii() -> None:
    assert plain_text(rank_flow(sample_trace().last, width=60, ascii=True, selected="07-grade.md#2")).isascii()


@pytest.mark.parametrize("make", [sample_trace, sample_trace_two_rounds, sample_trace_hostile])
def test_everything_but_names_is_one_cell_wide(make) -> None:  # type: ignore[no-untyped-def]
    for segments in rank_flow(make().last, width=70, selected="x").lines:
        for s in segments:
            assert s.role == "name" or all(cell_len(c) == 1 for c in s.text)


def test_hostile_names_are_shown_not_obeyed() -> None:
    flow = rank_flow(sample_trace_hostile().last, width=300)
    text = plain_text(flow)
    assert "[/] [b + [type=x, v={'a[0]'}] [red]red[/red]" in text
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in text.replace("\n", ""))
    assert rich_text(flow).plain.count("[/]") >= 10
    assert HOSTILE not in text


def test_an_empty_round_says_so() -> None:
    assert plain_text(rank_flow(sample_trace_empty().last, width=40)) == "nothing was found"
