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

from glassbox_tui.retrieval.trace import ALL_STAGES, STAGES, Candidate, Round, Stage
from glassbox_tui.views.colours import Colours, carried
from glassbox_tui.views.look import LOOKS, Look
from glassbox_tui.views.rankflow import LETTERS, RankFlow, plain_text, rank_flow, rich_text

Ranks = dict[str, dict[str, int]]  # stage -> uid -> rank


def read(picture: str) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """A reader's eye: (stage -> letter -> rank, letter -> chunk name), from nothing but the picture."""
    head, *rows = picture.splitlines()
    starts = {stage: m.start() for m in re.finditer(r"\S+", head) for stage in ALL_STAGES if stage.startswith(m[0])}
    assert len(starts) == len(head.split())
    ranks: dict[str, dict[str, int]] = {stage: {} for stage in starts}
    names: dict[str, str] = {}
    for row in rows:
        if legend := re.match(r"  = (\w) (.+)", row):
            names[legend[1]] = legend[2]
            continue
        own = row[:4].strip()
        for stage, x in starts.items():
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
    for stage in draw(st.sampled_from([STAGES, ALL_STAGES])):
        seen = draw(st.permutations(chunks))[: draw(st.integers(0, len(chunks)))]
        ranks[stage] = {uid: i for i, uid in enumerate(seen, start=1)}
    return ranks


LOOK = st.sampled_from(LOOKS)
SELECTED = st.none() | st.integers(0, 60).map(lambda i: f"n{i}.md#{i}")


@given(some_ranks(), st.sampled_from([40, 60, 80, 120]) | st.integers(40, 150), LOOK, SELECTED, st.booleans())
def test_every_rank_of_every_chunk_in_some_top_ten_can_be_read_off_the_text(
    ranks: Ranks, width: int, look: Look, selected: str | None, only: bool
) -> None:
    if not any(ranks.values()):
        return
    width = width if len(ranks) == len(STAGES) else max(width, 48)  # below that a sixth column cuts the names
    picture = plain_text(rank_flow(a_round(ranks), width=width, look=look, selected=selected, only=only))
    seen, names = read(picture)
    top = 10 if len(ranks) == len(STAGES) else 8  # as many letters as there are
    for stage in ranks:
        lettered = {uid for s in ranks for uid, rank in ranks[s].items() if rank <= top or uid == selected}
        wanted = {uid: rank for uid, rank in ranks[stage].items() if uid in lettered}
        assert {names[letter]: rank for letter, rank in seen[stage].items()} == wanted


@given(some_ranks(), st.sampled_from([40, 60, 80, 120]), st.integers(13, 30), LOOK, SELECTED)
def test_in_a_low_box_whoever_is_in_the_final_rows_is_shown_at_every_stage(
    ranks: Ranks, width: int, height: int, look: Look, selected: str | None
) -> None:
    if not ranks["final"]:
        return
    flow = rank_flow(a_round(ranks), width=width, height=height, look=look, selected=selected)
    picture = plain_text(flow)
    assert all(re.match(r"(>?\d+\+?|=)( |$)", row.lstrip()) for row in picture.splitlines()[1:])  # nothing touches it
    seen, _ = read(picture)
    for uid, rank in ranks["final"].items():
        if rank <= flow.top:
            letter = LETTERS[rank - 1]
            assert {s: at[letter] for s, at in seen.items() if letter in at} == {
                s: at[uid] for s, at in ranks.items() if uid in at
            }


@given(some_ranks(), st.integers(1, 120), st.integers(1, 40), LOOK, st.booleans())
def test_it_stays_inside_its_box(ranks: Ranks, width: int, height: int, look: Look, only: bool) -> None:
    flow = rank_flow(a_round(ranks), width=width, height=height, look=look, selected="n0.md#0", only=only)
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
            assert ranks[stage][flow.chunks[LETTERS.index(letter)]] == rank


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
    assert plain_text(rank_flow(sample_trace().last, width=60, look="ascii", selected="07-grade.md#2")).isascii()


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


@pytest.mark.parametrize("look", ["wide", "ascii"])
def test_these_looks_draw_nothing_whose_width_depends_on_the_terminal(look: Look) -> None:
    for only in (False, True):
        text = plain_text(rank_flow(sample_trace().last, width=40, look=look, selected="07-grade.md#2", only=only))
        assert not [c for c in text if unicodedata.east_asian_width(c) == "A"]
        assert look == "wide" or text.isascii()


def test_the_braille_lines_meet_where_box_lines_do() -> None:
    """Each braille cell must leave by the same sides as the box character in its place: left, right, up, down."""
    sides = {"│": "ud", "─": "lr", "╰": "ur", "╯": "lu", "╭": "dr", "╮": "ld", "├": "udr", "┤": "lud",
             "┬": "lrd", "┴": "lru", "┼": "lrud"}  # fmt: skip
    dots = {"u": 0x01, "d": 0x40, "l": 0x02, "r": 0x10}
    box, braille = (plain_text(rank_flow(sample_trace().last, width=60, look=look)) for look in ("unicode", "wide"))
    met = set()
    for a, b in zip(box, braille, strict=True):
        if a in sides:
            met.add(a)
            assert all(ord(b) & dots[side] for side in sides[a]), (a, b)
            assert all(side in sides[a] or side == "l" or not ord(b) & dots[side] for side in "udr"), (a, b)
    assert {"│", "─", "╰", "╯", "╭", "╮"} <= met


def test_only_the_selected_chunks_line_is_drawn_on_demand_and_every_letter_stays() -> None:
    round_ = sample_trace().last
    everyone = rank_flow(round_, width=60, selected="07-grade.md#2")
    alone = rank_flow(round_, width=60, selected="07-grade.md#2", only=True)
    assert {s.chunk for line in alone.lines for s in line if s.role == "line"} == {alone.chunks.index("07-grade.md#2")}
    assert read(plain_text(alone)) == read(plain_text(everyone))
    nobody = rank_flow(round_, width=60, selected="nowhere.md#0", only=True)
    assert plain_text(nobody) == plain_text(rank_flow(round_, width=60))


def test_a_selected_chunk_beyond_every_top_is_in_the_picture_even_in_a_low_box() -> None:
    ranks: Ranks = {s: {f"n{i}.md#0": i for i in range(1, 41)} for s in STAGES}
    seen, names = read(plain_text(rank_flow(a_round(ranks), width=60, height=13, selected="n33.md#0")))
    letter = next(key for key, name in names.items() if name == "n33.md#0")
    assert {stage: at[letter] for stage, at in seen.items()} == dict.fromkeys(STAGES, 33)


def test_a_stage_that_did_not_run_has_no_column() -> None:
    ranks: Ranks = {s: {"a.md#0": 1} for s in ("bm25", "fused", "final")}
    head, row = plain_text(rank_flow(a_round(ranks), width=40)).splitlines()
    assert head.split() == ["bm25", "fused", "final"]
    assert row == " 1  a───────a───────a a.md#0"


def coloured(flow: RankFlow) -> dict[str, str]:
    """uid -> colour of its letters, read off the drawn text."""
    text = rich_text(flow)
    found: dict[str, set[str]] = {}
    at = 0
    for segments in flow.lines:
        for s in segments:
            if s.role == "node" and s.chunk is not None:
                styles = {w for span in text.spans if span.start <= at < span.end for w in str(span.style).split()}
                found.setdefault(flow.chunks[s.chunk], set()).update(styles - {"bold", "reverse", "dim", "none"})
            at += len(s.text)
        at += 1
    assert all(len(names) <= 1 for names in found.values())
    return {uid: names.pop() for uid, names in found.items() if names}


@st.composite
def a_few_lists(draw: st.DrawFn) -> list[list[str]]:
    chunks = [f"n{i}.md#{i}" for i in range(16)]
    return draw(st.lists(st.permutations(chunks).map(lambda p: p[:11]), min_size=2, max_size=6))


@given(a_few_lists(), st.integers(0, 10))
def test_who_stays_in_the_picture_keeps_its_colour_and_no_two_share_one(lists: list[list[str]], at: int) -> None:
    before: dict[str, str] = {}
    colours = Colours()
    for uids in lists:
        round_ = a_round({s: {uid: i for i, uid in enumerate(uids, 1)} for s in STAGES})
        colours = carried(colours, round_)
        now = coloured(rank_flow(round_, width=80, colours=colours, selected=uids[at]))
        assert set(now) == set(uids[:10])
        assert len(set(now.values())) == len(now)
        assert {uid: c for uid, c in now.items() if uid in before} == {u: c for u, c in before.items() if u in now}
        assert carried(colours, round_) == colours  # drawing the same again changes nothing
        before = now


def test_a_letter_typed_and_taken_back_brings_the_colours_back() -> None:
    def of(*uids: str) -> Round:
        return a_round({s: {uid: i for i, uid in enumerate(uids, 1)} for s in STAGES})

    first = carried(Colours(), of("a", "b", "c"))
    second = carried(first, of("x", "y"))
    assert carried(second, of("c", "b", "a")).by_uid == first.by_uid


def test_an_edit_that_shifts_the_numbers_of_chunks_does_not_shift_their_colours() -> None:
    round_ = sample_trace().last
    first = carried(Colours(), round_)
    final = round_.stages[-1]
    shifted = replace(
        round_,
        stages=(replace(final, candidates=tuple(replace(c, uid=c.uid + "0") for c in final.candidates)),),
        hits=tuple(replace(h, uid=h.uid + "0") for h in round_.hits),
    )
    after = carried(first, shifted)
    assert {h.uid: after.by_uid[h.uid + "0"] for h in round_.hits} == {h.uid: first.by_uid[h.uid] for h in round_.hits}
