"""The reader's state and pictures, without an app: the chunk is found and marked, warned of, walked to; all is text."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOSTILE, sample_trace

from glassbox_tui.notes.reading import NoteText
from glassbox_tui.retrieval.trace import Hit, Round
from glassbox_tui.tui import reading
from glassbox_tui.tui.reading import Reading, begin, draw, loaded

BODY = [f"line {i} of the note, {'偶数' if i % 2 == 0 else 'odd'}" for i in range(1, 201)]
TEXT = "\n".join(BODY)
PATH = "n.md"
W, H = 80, 24


def hit_at(first: int, last: int, uid: str = "n.md#0", text: str = TEXT) -> Hit:
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: first - 1])
    body = "\n".join(lines[first - 1 : last])
    base = sample_trace().hits[0]
    return replace(base, uid=uid, path=PATH, text=body, start=start, end=start + len(body), lines=(first, last))


def round_with(*hits: Hit) -> Round:
    return replace(sample_trace().last, hits=hits)


def opened(text: str = TEXT, first: int = 100, last: int = 102, *more: Hit, **note: object) -> Reading:
    hit = hit_at(first, last)
    there = begin(PATH, 1, hit, round_with(hit, *more))
    return loaded(there, NoteText(PATH, text, "utf-8", "md", **note), W, H)  # type: ignore[arg-type]


def shown(r: Reading, width: int = W, height: int = H, *, ascii: bool = False) -> list[str]:
    lines = draw(r, width, height, ascii=ascii)
    assert len(lines) <= height
    assert all(line.cell_len <= width and "\n" not in line.plain for line in lines)
    return [line.plain for line in lines]


def marked(r: Reading, height: int = H) -> list[str]:
    return [line.split("> ", 1)[1] for line in shown(r, height=height, ascii=True)[1:-1] if "> " in line[:8]]


def test_the_chunk_is_in_sight_and_marked_with_its_line_numbers() -> None:
    lines = shown(opened(), ascii=True)
    assert lines[0].startswith("n.md  utf-8  chunk 1 of 1 here: lines 100-102")
    assert marked(opened()) == BODY[99:102]
    assert any(line.startswith("100 > line 100 of the note") for line in lines)
    assert any(line.startswith(" 99   line 99 of the note") for line in lines)


def test_scrolling_stops_at_both_ends_and_pages_leave_nothing_out() -> None:
    r = reading.to_end(opened(), -1, W, H)
    seen: list[str] = []
    for _ in range(200):
        seen += [line for line in shown(r)[1:-1] if line not in seen]
        after = reading.page(r, 1, W, H)
        if after.top == r.top:
            break
        r = after
    assert [line[6:] for line in seen] == BODY
    assert reading.scroll(r, 1, W, H).top == r.top
    assert reading.to_end(r, 1, W, H).top == r.top
    assert reading.scroll(reading.to_end(r, -1, W, H), -5, W, H).top == 0
    assert reading.scroll(reading.scroll(opened(), 7, W, H), -7, W, H).top == opened().top


def test_the_next_chunks_of_the_note_are_one_key_away_and_round_again() -> None:
    more = (hit_at(20, 21, "n.md#1"), hit_at(180, 181, "n.md#2"), replace(hit_at(5, 6, "x.md#0"), path="x.md"))
    r = opened(TEXT, 100, 102, *more)
    order = []
    for _ in range(4):
        order.append(r.hits[r.at].lines)
        assert marked(r) == BODY[r.hits[r.at].lines[0] - 1 : r.hits[r.at].lines[1]]
        r = reading.to_chunk(r, 1, W, H)
    assert order == [(100, 102), (180, 181), (20, 21), (100, 102)]
    assert reading.to_chunk(opened(TEXT, 100, 102, *more), -1, W, H).at == 0


def test_a_search_in_the_note_starts_from_what_is_in_sight_and_goes_round() -> None:
    r = reading.search(opened(), "LINE 9", W, H)
    assert shown(r)[-1].strip() == "9 of 11 found: LINE 9"
    places = []
    for _ in range(12):
        places.append(TEXT[slice(*r.found[r.match])] and TEXT.count("\n", 0, r.found[r.match][0]) + 1)
        assert any(f"line {places[-1]} of" in line for line in shown(r))
        r = reading.to_match(r, 1, W, H)
    expected = [n for n in range(1, 201) if f"line {n} of".startswith("line 9")]
    assert sorted(set(places)) == expected
    assert places[0] == min(n for n in expected if n >= TEXT.count("\n", 0, opened().top) + 1)
    assert places[-1] == places[0]
    nothing = reading.search(opened(), "no such words", W, H)
    assert nothing.top == opened().top
    assert shown(nothing)[-1].strip() == "not found: no such words"
    assert reading.to_match(nothing, 1, W, H) == nothing


def test_a_file_that_changed_is_said_to_have_and_the_chunk_is_found_by_its_text() -> None:
    moved = "a new first line\nand another\n" + TEXT
    r = opened(moved, changed=True)
    assert "this file changed since it was indexed; lines may be off" in " ".join(shown(r))
    assert marked(r) == BODY[99:102]
    edited = "\n".join([*BODY[:99], "something else", *BODY[100:]])
    r = opened(edited, changed=True)
    assert "the chunk was edited" in " ".join(shown(r))
    assert set(marked(r)) < set(BODY[99:102])
    gone = opened("all is new", changed=True)
    assert "the chunk is not in it any more" in " ".join(shown(gone))
    assert "all is new" in " ".join(shown(gone))


def test_of_a_note_that_is_gone_the_indexed_text_is_shown_without_line_numbers() -> None:
    hit = hit_at(100, 102)
    there = begin(PATH, 1, hit, round_with(hit))
    kept = loaded(there, NoteText(PATH, TEXT, problem="n.md is gone from /notes"), W, H)
    assert "n.md is gone from /notes; this is what was indexed of it" in shown(kept)[1]
    assert marked(kept) == BODY[99:102]
    assert not any(line[:6].strip().isdigit() for line in shown(kept)[2:])
    nothing = loaded(there, NoteText(PATH, problem="n.md is gone from /notes"), W, H)
    assert marked(nothing) == BODY[99:102]  # the hit's own text


def test_a_cited_line_is_where_the_reader_opens_and_where_an_editor_would() -> None:
    hit = hit_at(100, 130)
    r = loaded(begin(PATH, 1, hit, round_with(hit), line=120), NoteText(PATH, TEXT, "utf-8", "md"), W, H)
    assert any(line.startswith("120 ") for line in shown(r))
    assert reading.line_in_sight(r, W, H) == 120
    assert reading.line_in_sight(opened(), W, H) == 100
    assert reading.line_in_sight(reading.to_end(opened(), -1, W, H), W, H) == 1


def test_pages_of_a_pdf_are_marked_and_told() -> None:
    pages = ["first page\nmore", "second page", "third"]
    text = "\n\n".join(pages)
    starts = (0, len(pages[0]) + 2, len(pages[0]) + len(pages[1]) + 4)
    r = loaded(begin("a.pdf", 1, None, None), NoteText("a.pdf", text, "pdf", "pdf", starts), W, H)
    lines = shown(r)
    assert "page 1 of 3" in lines[0]
    after = [line[4:].strip() for line in lines[1:7]]
    assert after == ["first page", "more", "-- page 2 of 3 --", "second page", "-- page 3 of 3 --", "third"]
    small = reading.scroll(r, 3, W, 3)
    assert "page 2 of 3" in shown(small, height=3)[0]


@given(st.text(max_size=300), st.integers(20, 90), st.integers(3, 20), st.booleans(), st.text(max_size=3))
def test_any_text_is_shown_harmless_and_within_its_bounds(
    text: str, width: int, height: int, ascii: bool, find: str
) -> None:
    hit = replace(hit_at(1, 1), text=text[3:20], start=3)
    r = loaded(begin(HOSTILE, 1, hit, round_with(hit)), NoteText(HOSTILE, text, HOSTILE, "md"), width, height)
    r = reading.search(r, find, width, height)
    for move in (r, reading.page(r, 1, width, height), reading.to_chunk(r, 1, width, height)):
        for line in shown(move, width, height, ascii=ascii):
            assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2028" for c in line)


@pytest.mark.parametrize("text", ["some words of a log, 一行日志\n" * 300_000, "绝对 word, " * 600_000])
def test_a_huge_note_opens_and_scrolls_at_once(text: str) -> None:
    hit = replace(hit_at(1, 1), text=text[3_000_000:3_000_700], start=3_000_000)
    began = time.perf_counter()
    r = loaded(begin(PATH, 1, hit, round_with(hit)), NoteText(PATH, text, "utf-8", "md"), 120, 40)
    assert time.perf_counter() - began < 5.0
    began = time.perf_counter()
    for move in (reading.page(r, 1, 120, 40), reading.to_end(r, 1, 120, 40), reading.scroll(r, -1, 120, 40)):
        assert shown(move, 120, 40)
    assert time.perf_counter() - began < 2.0
    assert r.places[0] is not None
    assert r.top <= r.places[0][0]


def test_before_the_text_is_there_the_reader_says_so() -> None:
    assert shown(begin(PATH, 1, hit_at(1, 2), None))[1] == "reading n.md ..."
