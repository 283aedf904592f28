"""The notes browser as pure functions: the tree holds every file once, counts add up, nothing hostile is obeyed."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from glassbox_tui.retrieval.listing import ChunkInfo, NoteInfo
from glassbox_tui.text.normalize import fold
from glassbox_tui.tui import browserlines, browsing, tree
from glassbox_tui.tui.browsing import Browser, Leaf
from glassbox_tui.tui.tree import Folder, Standing, standing


def note(path: str, status: str = "ok", chunks: int = 2, vectors: int = 2, title: str = "") -> NoteInfo:
    reason = "" if status == "ok" else f"is {status}"
    return NoteInfo(path, title, status, reason, (), "utf-8", "md", 100, chunks, vectors)


NAMES = st.text("ab中É.", min_size=1, max_size=2).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".md")
NOTES = st.lists(
    st.tuples(
        PATHS, st.sampled_from(["ok", "ok", "unread", "skipped", "damaged"]), st.integers(0, 3), st.integers(0, 3)
    ),
    max_size=15,
    unique_by=lambda found: found[0],
).map(lambda found: [note(p, s, c if s == "ok" else 0, min(c, v)) for p, s, c, v in found])
KEYS = st.lists(
    st.sampled_from(["down", "up", "in", "out", "turn", "missing", "filter", "clear", "bottom", "leaf"]), max_size=25
)


def pressed(browser: Browser, key: str) -> Browser:
    match key:
        case "down" | "up" | "bottom":
            return browsing.moved(browser, {"down": 1, "up": -1, "bottom": 10**9}[key])
        case "in":
            return browsing.deeper(browser)
        case "out":
            return browsing.shallower(browser)
        case "turn":
            return browsing.turned(browser)
        case "missing":
            return browsing.only_missing(browser)
        case "filter":
            return browsing.narrowed(browser, "a")
        case "leaf":
            chunk = ChunkInfo("x#0", (), (1, 2), None, 0, 4, "text", True)
            path = browser.row.path if browser.row else ""
            return browsing.looked_into(browser, Leaf(path, (chunk, chunk), "text"))
        case _:
            return browsing.narrowed(browser, "")


@given(NOTES)
def test_the_open_tree_holds_every_file_once_and_every_folder_above_one(notes: list[NoteInfo]) -> None:
    root = tree.grown(notes)
    rows = tree.rows_of(root, tree.folders_of(root))
    assert sorted(r.path for r in rows if isinstance(r.item, NoteInfo)) == sorted(n.path for n in notes)
    folders = {str(p) for n in notes for p in PurePosixPath(n.path).parents} - {"."}
    assert {r.path for r in rows if isinstance(r.item, Folder)} == folders == tree.folders_of(root)
    # Each line stands one step deeper than the folder it is in, which is the nearest line above that is not as deep.
    for at, row in enumerate(rows):
        outer = next((r.path for r in reversed(rows[:at]) if r.depth < row.depth), "")
        assert outer == tree.parent(row.path)


@given(NOTES)
def test_a_folders_counts_are_those_of_the_files_below_it(notes: list[NoteInfo]) -> None:
    root = tree.grown(notes)
    for row in tree.rows_of(root, tree.folders_of(root)):
        if isinstance(row.item, Folder):
            below = [n for n in notes if PurePosixPath(n.path).is_relative_to(row.path)]
            found = [standing(n) for n in below]
            counts = row.item.counts
            assert counts.notes == sum(n.status == "ok" for n in below)
            assert counts.chunks == sum(n.chunks for n in below)
            assert (counts.waiting, counts.missing) == (found.count(Standing.WAITING), found.count(Standing.MISSING))
            assert counts.notes + counts.missing + sum(n.status == "unread" for n in below) == len(below)


@given(NOTES, KEYS)
def test_whatever_is_pressed_a_line_that_is_there_is_selected_and_drawn(notes: list[NoteInfo], keys: list[str]) -> None:
    browser = browsing.listed(Browser(), notes)
    for key in keys:
        browser = browsing.scrolled(pressed(browser, key), 5)
        if browser.rows:
            assert browser.row is not None
            assert browser.top <= browser.index < browser.top + 5
            assert 0 <= browser.chunk <= max(0, len(browser.chunks) - 1)
            drawn = browserlines.tree(browser, "", 70, 6, ascii=False)
            assert browser.row.name in drawn[1 + browser.index - browser.top].plain
        else:
            assert browser.row is None
            assert browserlines.preview(browser, 40, 8) == []


@given(NOTES, st.text("abé中É ", max_size=3))
def test_the_filter_shows_the_files_that_hold_every_word_and_opens_their_folders(
    notes: list[NoteInfo], words: str
) -> None:
    browser = browsing.narrowed(browsing.listed(Browser(), notes), words)
    wanted = [n.path for n in notes if all(fold(w) in fold(n.path) for w in words.split())]
    if words.split():
        assert sorted(r.path for r in browser.rows if isinstance(r.item, NoteInfo)) == sorted(wanted)


@given(NOTES, NOTES, st.integers(0, 14))
def test_the_selection_stays_on_its_file_when_the_list_changes(
    before: list[NoteInfo], after: list[NoteInfo], by: int
) -> None:
    browser = browsing.moved(browsing.listed(Browser(), before), by)
    changed = browsing.listed(browser, after)
    if browser.row is not None and browser.row.path in {r.path for r in changed.rows}:
        assert changed.row is not None
        assert changed.row.path == browser.row.path


def test_a_revealed_note_is_selected_whatever_hid_it() -> None:
    notes = [note(f"deep/er/{i}.md") for i in range(50)] + [note("a.md"), note("bad.md", "damaged")]
    closed = browsing.listed(Browser(), notes)
    assert [r.path for r in closed.rows] == ["deep", "a.md", "bad.md"]
    for hidden in (closed, browsing.narrowed(closed, "a.md"), browsing.only_missing(closed)):
        shown = browsing.revealed(hidden, "deep/er/7.md")
        assert shown.row is not None
        assert shown.row.path == "deep/er/7.md"
    asked_before_it_was_there = browsing.listed(browsing.revealed(Browser(), "deep/er/7.md"), notes)
    assert asked_before_it_was_there.row is not None
    assert asked_before_it_was_there.row.path == "deep/er/7.md"


def test_a_path_a_thousand_folders_deep_is_no_trouble() -> None:
    path = "/".join("d" * 1500) + "/n.md"
    browser = browsing.revealed(browsing.listed(Browser(), [note(path)]), path)
    assert browser.row is not None
    assert browser.row.path == path
    assert browserlines.tree(browser, "", 60, 10, ascii=False)


HOSTILE = (
    "a\nb.md",
    "\x1b[31mred\x1b]52;c;aGk=\x07.md",
    "[/]{b + .md",
    "\u202egnp.md",
    "e\u0301😀👨‍👩‍👧.md",
    "\ud800.md",
    "长" * 90 + ".md",
    "مرحبا.md",
)


@pytest.mark.parametrize("width", [30, 58, 72, 118])
def test_hostile_names_are_shown_as_text_in_columns_that_hold(width: int) -> None:
    notes = [note(name, title=name) for name in HOSTILE] + [note(f"{name}/x.md", "damaged") for name in HOSTILE]
    browser = browsing.listed(Browser(), notes)
    for at in range(len(browser.rows)):
        shown = browsing.moved(browser, at)
        row = shown.row
        assert row is not None
        shown = browsing.looked_into(shown, Leaf(row.path, (), "\x1b[2Jtext\r\n[/]"))
        lines = browserlines.tree(shown, row.path, width, 40, ascii=False)
        assert {cell_len(line.plain) for line in lines} == {width}
        lines += browserlines.preview(shown, width, 9) + browserlines.heading(shown, row.path, row.path, width)
        told = "".join(line.plain for line in lines)
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", told)


def test_ten_thousand_notes_are_drawn_a_screenful_at_a_time() -> None:
    notes = [note(f"{i % 40:02}/{i:05}.md") for i in range(10_000)]
    browser = browsing.narrowed(browsing.listed(Browser(), notes), "md")
    assert len(browser.rows) == 10_040
    bottom = browsing.scrolled(browsing.moved(browser, 10**9), 20)
    lines = browserlines.tree(bottom, "", 80, 21, ascii=True)
    assert len(lines) == 21
    assert "09999.md" in lines[-1].plain
