"""The drawing functions alone: widths that hold, numbers that add up, words for every verdict."""

from __future__ import annotations

import logging
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from samples import (
    sample_trace,
    sample_trace_empty,
    sample_trace_hostile,
    sample_trace_probable,
    sample_trace_two_rounds,
)
from scripted import REPLY
from wcwidth import wcwidth

from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.trace import STAGES, Hit, Part, Place, Trace
from glassbox_tui.tui import answerlines, cells, desk, evidence, hints, lines, rounds, screens, table
from glassbox_tui.tui.backend import Doubt
from glassbox_tui.tui.state import View, ask, listed_hits, select, selected_hit, step_sort
from glassbox_tui.tui.statusline import status
from glassbox_tui.tui.terminal import native_output_to, wants_ascii
from glassbox_tui.tui.widgets import changed_span, one_line
from glassbox_tui.tui.words import speak
from glassbox_tui.views.look import LOOKS, Look
from glassbox_tui.views.ranks import movement

DRAW = (
    status,
    lines.verdict,
    lines.notice,
    lines.tabs,
    hints.hints,
    rounds.loop,
    answerlines.answer,
    lines.too_small,
    evidence.evidence,
    evidence.scores,
    screens.flow,
)
TRACES = (sample_trace(), sample_trace_two_rounds(), sample_trace_hostile(), sample_trace_empty(), None)


ODD = (
    "👨‍👩‍👧 家",
    "❤️ heart",
    "🇨🇳 flag",
    "1️⃣ first",
    "👍🏽 ok",
    "e\u0301te\u0301",
    "שלום 12",
    "مرحبا",
    "한글",
    "z̴̡a",
    "…–α",
)


JOINERS = "\u200d\ufe0f\u20e3\U0001f3fd"
FLAG = {0x1F1E8: "C", 0x1F1F3: "N"}


def cells_of(text: str) -> int:
    """Terminal cells by the Unicode tables alone, for text without combining characters."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@given(st.sampled_from(DRAW), st.sampled_from(TRACES), st.integers(60, 160), st.integers(1, 20), st.integers(0, 8))
def test_no_line_is_wider_than_its_panel(
    draw: Callable[[View, int, int], Sequence[Text]], trace: Trace | None, width: int, height: int, at: int
) -> None:
    view = select(View(trace=trace, info=trace.index if trace else None), at)
    for line in draw(view, width, height):
        assert "\n" not in line.plain
        assert cells_of(line.plain) <= width


@given(st.lists(st.tuples(st.sampled_from(("plain", "中文 ", *ODD)), st.sampled_from(["", "bold", "red"])), max_size=6))
def test_a_line_is_drawn_in_as_many_cells_everywhere_and_keeps_its_styles(parts: list[tuple[str, str]]) -> None:
    line = cells.drawn(Text.assemble(*parts))
    assert line.cell_len == sum(map(wcwidth, line.plain))
    for style in ("bold", "red"):
        said = "".join(line.plain[s.start : s.end] for s in line.spans if str(s.style) == style)
        wanted = "".join(text for text, own in parts if own == style)
        assert said == "".join(c for c in wanted.translate(FLAG) if c not in JOINERS)
    assert ["L", *(k for k in map(unicodedata.bidirectional, line.plain) if k in ("L", "R", "AL"))][-1] == "L"


MODES = st.sampled_from(["rank", "score", "both"])


def oddly_named(names: list[str]) -> Trace:
    """The sample with other paths and headings, one for each hit."""
    trace = sample_trace()
    hits = [
        replace(h, uid=f"{name}.md#{i}", path=f"{name}.md", heading=(name, name)) if name else h
        for i, (h, name) in enumerate(zip(trace.hits, names, strict=True))
    ]
    return replace(trace, rounds=(replace(trace.last, hits=tuple(hits)),))


@given(
    st.sampled_from(TRACES) | st.lists(st.sampled_from(("", *ODD)), min_size=8, max_size=8).map(oddly_named),
    st.integers(58, 160),
    MODES,
    st.sampled_from(LOOKS),
    st.sampled_from(STAGES),
)
def test_every_cell_of_the_table_is_exactly_as_wide_as_its_column(
    trace: Trace | None, width: int, mode: str, look: Look, sort: str
) -> None:
    """By two measures: rich's, and wcwidth's character by character, as terminals without joined emoji draw."""
    view = View(trace=trace, columns=mode, look=look, sort=sort)
    shape = table.columns(view, width)
    assert sum(c.width + table.GAP for c in shape) - table.GAP <= width
    for row in table.rows(view, shape):
        assert [cell.cell_len for cell in row] == [c.width for c in shape]
        assert [sum(map(wcwidth, cell.plain)) for cell in row] == [c.width for c in shape]
    assert [table.label(c).cell_len for c in shape] == [c.width for c in shape]


@given(st.sampled_from(TRACES), st.integers(58, 160), MODES, st.sampled_from(["wide", "ascii"]))
def test_the_table_adds_nothing_of_ambiguous_width(trace: Trace | None, width: int, mode: str, look: Look) -> None:
    view = View(trace=trace, columns=mode, look=look)
    shape = table.columns(view, width)
    ours = "".join(cell.plain for row in table.rows(view, shape) for c, cell in zip(shape, row, strict=True)
                   if c.key not in ("note", "heading"))  # fmt: skip
    assert not [c for c in ours if unicodedata.east_asian_width(c) == "A"]
    assert look == "wide" or ours.isascii()


def far_apart() -> Trace:
    """Ranks of four digits, as a deep first stage gives them."""
    trace = sample_trace()
    far = {"bm25": Place(9_999, 0.1), "dense": Place(1, 0.9), "fused": Place(1_234, 0.01), "rerank": None}
    hits = tuple(replace(h, stages=dict(h.stages) | far) for h in trace.hits)
    return replace(trace, rounds=(replace(trace.last, hits=hits),))


@given(st.sampled_from(["rank", "both"]), st.integers(60, 160), st.sampled_from(LOOKS))
def test_no_rank_and_no_movement_is_ever_cut(mode: str, width: int, look: Look) -> None:
    view = View(trace=far_apart(), columns=mode, look=look)
    shape = table.columns(view, width)
    text = "|".join(cell.plain for cell in table.rows(view, shape)[0])
    up, down = ("^", "v") if look == "ascii" else ("▴", "▾")
    wanted = ["9999", "1234"] + ([f"1{up}9998", f"1234{down}1233"] if mode == "rank" else [])
    assert all(word in text for word in wanted)


def test_a_stage_that_did_not_run_has_no_column() -> None:
    trace = sample_trace()
    stages = tuple(s for s in trace.last.stages if s.name not in ("dense", "rerank"))
    view = View(trace=replace(trace, rounds=(replace(trace.last, stages=stages),)), sort="rerank")
    assert [c.key for c in table.columns(view, 80) if c.key in STAGES] == ["bm25", "fused", "final"]
    assert [c.key for c in table.columns(view, 80) if c.label.endswith("*")] == ["final"]


@given(st.sampled_from(STAGES), st.integers(0, 7))
def test_sorted_by_a_stage_its_ranks_rise_the_absent_come_last_and_the_ranks_shown_stay_true(
    sort: str, at: int
) -> None:
    before = select(View(trace=sample_trace()), at)
    after = replace(before, sort=sort)
    hits = sample_trace().hits
    shown = listed_hits(after)
    ranks = [None if (place := h.stages[sort]) is None else place.rank for h in shown]
    seen = [r for r in ranks if r is not None]
    assert seen == sorted(seen) and ranks == seen + [None] * (len(ranks) - len(seen))
    assert sorted(h.uid for h in shown) == sorted(h.uid for h in hits)
    assert selected_hit(after) == selected_hit(before) == hits[at]
    shape = table.columns(after, 120)
    assert [c.key for c in shape if c.label.endswith("*")] == [sort]
    for row, hit in zip(table.rows(after, shape), shown, strict=True):
        cells_ = {c.key: cell.plain.split() for c, cell in zip(shape, row, strict=True)}
        assert cells_["rank"] == [str(hits.index(hit) + 1)]
        place = hit.stages[sort]
        assert re.split("[▴▾]", cells_[sort][0])[0] == ("-" if place is None else str(place.rank))


def test_sorting_stops_at_the_ends_and_the_top_hit_stays_selected_though_nobody_chose_it() -> None:
    view = View(trace=sample_trace())
    first = selected_hit(view)
    for by, sort in (
        (1, "final"),
        (-1, "rerank"),
        (-1, "fused"),
        (-1, "dense"),
        (-1, "bm25"),
        (-1, "bm25"),
        (1, "dense"),
    ):
        view = step_sort(view, by)
        assert view.sort == sort
        assert selected_hit(view) == first


@given(st.text(st.sampled_from("ab 中文。é~")), st.integers(0, 12), st.booleans())
def test_fit_fills_exactly_the_width_and_cuts_only_what_is_too_long(text: str, width: int, right: bool) -> None:
    fitted = cells.fit(text, width, right=right)
    assert cells_of(fitted) == width
    if cells_of(text) <= width:
        assert fitted.strip() == text.strip()


@given(st.lists(st.floats(0.1, 9), min_size=1, max_size=12))
def test_the_summands_of_a_score_add_up_to_it_on_screen(values: list[float]) -> None:
    texts = evidence.summands([Part(f"t{i}", v) for i, v in enumerate(values)])
    shown = sum(float(t.plain.split()[-1]) for t in texts)
    assert shown == pytest.approx(sum(values), abs=0.006 * len(texts))
    assert len(texts) <= evidence.NAMED_PARTS + 1


def test_matched_terms_are_marked_where_they_stand_and_the_strongest_tokens_are_underlined() -> None:
    trace = sample_trace()
    hit = trace.hits[0]
    rerank = trace.last.stages[3]
    at = hit.text.index("量纲")
    part = replace(rerank.candidates[0].parts[0], span=(at, at + 2))
    spanned = replace(rerank, candidates=(replace(rerank.candidates[0], parts=(part,)), *rerank.candidates[1:]))
    now = replace(trace.last, stages=(*trace.last.stages[:3], spanned, trace.last.stages[4]))
    text = evidence.marked_text(hit, now)
    assert text.plain == hit.text
    marked = {text.plain[s.start : s.end] for s in text.spans if "yellow" in str(s.style)}
    assert {m.lower() for m in marked} == {"rrf", "加权"}
    assert [text.plain[s.start : s.end] for s in text.spans if "underline" in str(s.style)] == ["量纲"]


@pytest.mark.parametrize("shown", [0, 1])
def test_the_shown_round_is_whole_in_the_loop_however_little_room_there_is(shown: int) -> None:
    view = replace(View(), trace=sample_trace_two_rounds(), rounds=True, round=shown)
    roomy, tight = (["".join(line.plain) for line in rounds.loop(view, 60, height)] for height in (99, 5))
    assert [line[2] for line in tight if line[2].isdigit()] == ["0", "1"]  # both rounds are named
    own = next(line for line in roomy if line.startswith(">"))
    start, stop = roomy.index(own), len(roomy) if shown == 1 else [x[2] for x in roomy].index("1")
    at = tight.index(own)
    assert tight[at : at + stop - start] == roomy[start:stop]
    assert len(tight) < len(roomy)


def test_the_verdict_says_every_signal_its_threshold_and_which_side_it_is_on() -> None:
    good = lines.verdict(View(trace=sample_trace()), 120, 1)[0].plain
    assert "coverage" in good and ".82 >= .60" in good and "dense .91 >= .84" in good and "rerank .71 >= .55" in good
    assert good.endswith("SUFFICIENT ")
    bad = lines.verdict(View(trace=sample_trace_two_rounds()), 80, 1)[0].plain
    assert ".52 < .60" in bad and "rerank .41 < .55" in bad
    assert bad.endswith("insufficient ")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_verdict_by_probability_is_words_at_the_end_and_what_weighs_most_before(width: int) -> None:
    view = View(trace=sample_trace_probable())
    shown = lines.verdict(view, width, 1)[0]
    assert shown.plain.endswith("answered here 93% ") and "stands out +1.9" in shown.plain
    assert shown.cell_len == width
    told = [line.plain for line in rounds.loop(view, width, 30)]
    assert told[0].endswith("answered here 93%") and any("stands out +1.9" in line for line in told)


def test_a_verdict_by_probability_in_chinese() -> None:
    speak("zh")
    try:
        shown = lines.verdict(View(trace=sample_trace_probable()), 120, 1)[0].plain
    finally:
        speak("en")
    assert shown.endswith("这里有答案 93% ") and "突出 +1.9" in shown


@pytest.mark.parametrize(
    ("before", "now", "said"), [(5, 3, "▴2"), (1, 12, "▾11"), (4, 4, ""), (None, 2, ""), (2, None, "")]
)
def test_movement_is_against_the_stage_before(before: int | None, now: int | None, said: str) -> None:
    hit: Hit = sample_trace().hits[0]
    stages = {
        "fused": None if before is None else Place(before, 0.5),
        "rerank": None if now is None else Place(now, 0.5),
    }
    assert movement(replace(hit, stages=stages), "rerank", STAGES) == said


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.912, ".912"),
        (12.412, "12.41"),
        (1 / 61, ".0164"),
        (-0.25, "-.250"),
        (0.0, ".000"),
        (None, "-"),
        (1234.5, "1234"),
    ],
)
def test_numbers_keep_the_digits_that_tell_them_apart(value: float | None, shown: str) -> None:
    assert cells.number(value) == shown


def test_bars_are_as_long_as_asked_and_never_of_ambiguous_width() -> None:
    drawn = [cells.bar(share / 20, 8, ascii=ascii) for share in range(-3, 25) for ascii in (True, False)]
    assert {len(b) for b in drawn} == {8}
    assert cells.bar(0.5, 8, ascii=True) == "####----"
    assert all(unicodedata.east_asian_width(c) in ("N", "Na") for c in "".join(drawn))


def test_progress_passes_at_most_ten_times_a_second_but_never_loses_the_first_or_last_of_a_phase() -> None:
    now, told = 0.0, []
    tell = desk.throttled(told.append, 0.1, lambda: now)
    for done in range(1, 1001):
        now += 0.001
        tell(Progress("text", done, 1000))
    tell(Progress("embed", 1, 5))
    tell(Progress("embed", 2, 5))
    tell(Progress("embed", 5, 5))
    texts = [p.done for p in told if p.phase == "text"]
    assert texts[0] == 1 and texts[-1] == 1000 and len(texts) <= 12
    assert [p.done for p in told if p.phase == "embed"] == [1, 5]


def test_a_query_is_one_line_without_control_characters_and_keeps_its_blanks() -> None:
    assert one_line(" a\r\n\tb\u2028c \x1b[1m\x07\u202e\n") == " a b c [1m "
    assert one_line("重启nginx后502 🙂") == "重启nginx后502 🙂"


def test_asking_again_keeps_the_old_result_on_screen_until_the_new_one_is_there() -> None:
    view = ask(View(trace=sample_trace(), run=1, shown=1), "new", rounds=False)
    assert view.trace is not None
    assert view.run == 2
    assert ask(view, "  ", rounds=False).trace is None


@pytest.mark.parametrize(
    ("environ", "ascii"),
    [
        ({"LANG": "en_US.UTF-8", "TERM": "xterm"}, False),
        ({"LANG": "zh_CN.utf8"}, False),
        ({"LANG": "en_US.ISO-8859-1"}, True),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, False),
        ({}, False),
    ],
)
def test_the_ascii_look_follows_locale_and_terminal(environ: dict[str, str], ascii: bool) -> None:
    assert wants_ascii(environ) is ascii


def test_what_native_code_writes_goes_to_the_log_and_comes_back_to_the_terminal_afterwards(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "logs" / "tui.log"
    with native_output_to(log) as screen:
        os.write(1, b"native stdout\n")
        os.write(2, b"native stderr\n")
        screen.write("a picture\n")
        screen.flush()
    os.write(2, b"after\n")
    assert log.read_text().splitlines() == ["native stdout", "native stderr"]
    out, err = capfd.readouterr()
    assert "native" not in out + err
    assert "a picture" in out + err
    assert "after" in err
    assert log.stat().st_mode & 0o077 == 0


def test_where_no_log_can_be_written_the_terminal_is_kept_clean_all_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").write_text("a file stands where the folder should be")
    with native_output_to(tmp_path / "logs" / "tui.log"):
        os.write(2, b"native stderr\n")
        logging.getLogger("glassbox_tui").error("of our own")
    assert capfd.readouterr() == ("", "")


def _as_cells(text: str) -> list[tuple[str, None]]:
    return [(c, None) for char in text for c in ((char, "") if cells_of(char) == 2 else (char,))]


@given(st.text(st.sampled_from("ab中文"), max_size=12), st.text(st.sampled_from("ab中文"), max_size=12))
def test_only_changed_cells_are_sent_and_no_wide_character_is_cut(old: str, new: str) -> None:
    width = 24
    before, after = ((_as_cells(t) + [(" ", None)] * width)[:width] for t in (old, new))
    spans = changed_span(_as_cells(old), _as_cells(new), width)
    patched = list(before)
    for start, end in spans:
        patched[start:end] = after[start:end]
        for line in (before, after):
            assert line[start][0] != ""
            assert end == width or line[end][0] != ""
    assert patched == after
    assert bool(spans) == (before != after)


def test_a_sentence_without_support_is_marked_above_the_sources_and_sound_answers_say_so() -> None:
    doubt = Doubt("八十年后 [/] 出现", 0.2, "unsupported", ("八十年",), (2,), "wrong", "[1] a.md:3")
    view = replace(View(), trace=sample_trace(), reply=replace(REPLY, checked=2, doubts=(doubt,)))
    shown = [line.plain for line in answerlines.answer(view, 140, 20)]
    marked = next(at for at, text in enumerate(shown) if text.startswith("! "))
    assert "no support" in shown[marked] and "八十年" in shown[marked] and "nearest: [1] a.md:3" in shown[marked]
    assert "[/]" in shown[marked + 1]
    assert "04-rrf.md:12-31" in shown[-1]  # keys count the sources from the end
    sound = [line.plain for line in answerlines.answer(replace(view, reply=replace(REPLY, checked=2)), 100, 20)]
    assert any("every sentence is supported" in text for text in sound)
    assert not any(text.startswith("! ") for text in sound)


def test_in_the_query_box_the_hints_name_no_letter_but_behind_the_key_that_leaves_it() -> None:
    view = View(trace=sample_trace(), query="rrf", typing=True)
    before, _, behind = hints.hints(view, 80, 1)[0].plain.partition(" esc ")
    assert behind.split() == ["out,", "then", "?", "help", "q", "quit"]
    assert before.startswith(" enter run ")
    assert all(len(word) > 1 for word in before.split())


@pytest.mark.parametrize("width", [80, 120])
def test_out_of_the_box_the_hints_tell_how_to_open_the_hit_and_where_the_answer_is(width: int) -> None:
    view = View(trace=sample_trace(), query="rrf", rounds=True, reply=REPLY)
    line = hints.hints(view, width, 1)[0].plain
    assert all(hint in line for hint in (" 5 answer ", " j k move ", " o open ", " / query "))
    assert "enter" not in line  # it has run
    assert "5 answer (ready)" in lines.tabs(view, width, 1)[0].plain
    assert "(ready)" not in lines.tabs(replace(view, panel="answer"), width, 1)[0].plain


def test_a_question_worded_on_keeps_the_selected_hit_and_another_one_begins_at_the_top() -> None:
    view = select(replace(View(), trace=sample_trace(), query="why ranks"), 2)
    for on in ("why ranks", "why ranks and not scores", "why rank", "so why ranks"):
        assert ask(view, on, rounds=False).selected == view.selected, on
    for another in ("w", "how much memory", "日志"):
        assert ask(view, another, rounds=False).selected is None, another


def test_the_loop_says_what_prf_is() -> None:
    view = View(trace=sample_trace_two_rounds(), round=1)
    text = " ".join(line.plain for line in rounds.loop(view, 120, 40))
    assert "prf, feedback: words of the first hits" in text
