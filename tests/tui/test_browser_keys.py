"""The notes browser in the app: each key does what the help says, and the search follows."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import Gate, ScriptedBackend, Stage, running

from glassbox_tui.notes.reading import NoteText
from glassbox_tui.retrieval.listing import ChunkInfo, NoteInfo
from glassbox_tui.tui import registry
from glassbox_tui.tui.browserscreen import BrowserScreen
from glassbox_tui.tui.commands import BROWSER
from glassbox_tui.tui.features import browser
from glassbox_tui.tui.keys import all_keys_of
from glassbox_tui.tui.messages import ChunksListed, NotesListed
from glassbox_tui.tui.readerscreen import ReaderScreen
from glassbox_tui.tui.screens import HelpScreen, MainScreen
from glassbox_tui.tui.state import View
from glassbox_tui.tui.target import target
from glassbox_tui.tui.widgets import Panel, QueryBox


def note(path: str, status: str = "ok", reason: str = "", vectors: int = 2, title: str = "") -> NoteInfo:
    ok = status == "ok"
    return NoteInfo(path, title, status, reason, (), "utf-8", "md", 1200, 2 * ok, vectors * ok)


def chunks(path: str) -> tuple[ChunkInfo, ...]:
    return tuple(
        ChunkInfo(f"{path}#{i}", ("Top", f"Part {i}"), (10 * i + 1, 10 * i + 9), None, i, i + 1, f"words {i}", i == 0)
        for i in range(2)
    )


NOTES = (
    note(".secret.md", "skipped", "hidden file"),
    note("04-rrf.md", title="Rank fusion"),
    note("07-grade.md"),
    note("new.md", "unread", "not read yet"),
    note("scan.pdf", "no-text", "has no text layer"),
    note("work/db/lease.md", vectors=1),
    note("work/lock.md"),
    note("zoo/tea.md"),
)
# As the tree shows them when everything is open, which it is for so few files.
LINES = (
    *("work", "work/db", "work/db/lease.md", "work/lock.md", "zoo", "zoo/tea.md"),
    *(".secret.md", "04-rrf.md", "07-grade.md", "new.md", "scan.pdf"),
)


def backend() -> ScriptedBackend:
    return ScriptedBackend(listed=NOTES, inside={n.path: chunks(n.path) for n in NOTES if n.status == "ok"})


def selected(stage: Stage) -> str:
    row = stage.view.browser.row
    return "" if row is None else row.path


def in_sight(stage: Stage) -> tuple[str, ...]:
    return tuple(row.path for row in stage.view.browser.rows)


async def browse(stage: Stage) -> None:
    """Open the browser from outside the query box, and wait for its list."""
    await stage.press("escape", "n")
    assert isinstance(stage.app.screen, BrowserScreen)
    await stage.seen.until(lambda: stage.view.browser.loaded)
    await stage.pilot.pause()


async def test_n_lists_the_files_with_counts_and_what_became_of_each() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        assert in_sight(stage) == LINES
        lines = {name: line for line in stage.panel("tree").splitlines() for name in line.split() if name}
        assert lines["work/"].split()[-4:] == ["2", "4", "1", "waiting"]
        assert (
            lines["lease.md"].endswith("waits for 1 of 2 vectors".ljust(1)) or "waits for 1 of 2" in lines["lease.md"]
        )
        assert "waits to be read" in lines["new.md"]
        assert "hidden file" in lines[".secret.md"]
        assert "has no text layer" in lines["scan.pdf"]
        heading = stage.panel("browser-heading")
        assert all(words in heading for words in ("5 notes", "10 chunks", "2 waiting", "2 not searchable"))


MOVES = (
    (("j",), "work/db"),
    (("down", "j", "k"), "work/db"),
    (("j", "up"), "work"),
    (("G",), "scan.pdf"),
    (("end", "j"), "scan.pdf"),
    (("G", "g"), "work"),
    (("end", "home", "k"), "work"),
    (("j", "j", "h"), "work/db"),
    (("j", "j", "left", "h", "h"), "work"),
    (("l",), "work/db"),
    (("right", "l"), "work/db/lease.md"),
    (("space",), "scan.pdf"),
    (("G", "b"), "work"),
    (("pagedown", "pageup"), "work"),
)


async def test_moving_through_the_tree() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        as_opened = stage.view
        for keys, path in MOVES:
            stage.app.change(as_opened)
            await stage.press(*keys)
            assert selected(stage) == path, keys


async def test_enter_closes_a_folder_and_opens_it_again_and_h_closes_it_too() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        await stage.press("enter")
        assert in_sight(stage) == (LINES[0], *LINES[4:])
        await stage.press("enter")
        assert in_sight(stage) == LINES
        await stage.press("h")
        assert in_sight(stage) == (LINES[0], *LINES[4:])


async def test_the_preview_follows_the_selection_and_shows_how_the_note_begins() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        assert "work/" in stage.panel("preview")
        await stage.press("j", "j", "j")
        await stage.seen.heard(ChunksListed)
        await stage.seen.until(lambda: bool(stage.view.browser.chunks))
        await stage.pilot.pause()
        assert all(words in stage.panel("preview") for words in ("lock.md", "2 chunks", "words 0", "words 1"))
        await stage.press("G")
        assert "has no text layer" in stage.panel("preview")


async def test_from_a_note_to_its_chunks_and_back() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        await stage.press("j", "j", "j")
        await stage.seen.until(lambda: bool(stage.view.browser.chunks))
        await stage.press("l", "j", "j")
        assert (stage.view.browser.inside, stage.view.browser.chunk) == (True, 1)
        shown = stage.panel("preview")
        assert all(words in shown for words in ("1-9", "Part 0", "11-19", "Part 1", "no vector yet"))
        await stage.press("h")
        assert not stage.view.browser.inside
        assert selected(stage) == "work/lock.md"


async def test_typing_after_slash_narrows_the_list_and_esc_shows_all_again() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        await stage.press("slash", *"work l")
        assert in_sight(stage) == LINES[:4]
        await stage.press(*"e")
        assert in_sight(stage) == ("work", "work/db", "work/db/lease.md")
        await stage.press("down", "down")  # the arrows move while one types
        assert selected(stage) == "work/db/lease.md"
        await stage.press("enter", "k")
        assert selected(stage) == "work/db"
        assert stage.app.screen.query_one(QueryBox).value == "work le"
        await stage.press("escape")
        assert in_sight(stage) == LINES
        assert selected(stage) == "work/db"
        await stage.press("slash", *"rank", "enter")  # by title
        assert in_sight(stage) == ("04-rrf.md",)


async def test_u_shows_only_what_no_search_finds() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        await stage.press("u")
        assert in_sight(stage) == (".secret.md", "scan.pdf")
        await stage.press("u")
        assert in_sight(stage) == LINES


async def test_s_searches_only_there_says_so_and_n_searches_everywhere_again() -> None:
    scripted = backend()
    async with running(scripted) as stage:
        await stage.ask("rrf")
        await browse(stage)
        await stage.press("g", "s")
        await stage.seen.until(lambda: scripted.scopes[-1] == "work" and stage.view.shown == stage.view.run)
        assert "searching only in work" in stage.panel("browser-heading")
        await stage.press("q")
        assert isinstance(stage.app.screen, MainScreen)
        assert "only in work" in stage.panel("status")
        assert "in work /" in stage.screen()
        await stage.press("slash", "x")
        await stage.seen.until(lambda: scripted.asked[-1][0] == "rrfx")
        assert scripted.scopes[-1] == "work"
        await stage.press("escape", "N")
        await stage.seen.until(lambda: scripted.scopes[-1] == "" and stage.view.shown == stage.view.run)
        assert "only in" not in stage.panel("status")
        assert "in work" not in stage.screen()


async def test_s_again_on_the_same_line_and_on_what_holds_nothing() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        await stage.press("g", "s")
        assert stage.view.scope == "work"
        await stage.press("s")
        assert stage.view.scope == ""
        await stage.press("G", "s")
        assert stage.view.scope == ""
        assert "nothing in scan.pdf can be searched" in stage.screen()


async def test_the_browser_opens_at_the_selected_hits_note_and_keeps_its_place_when_it_closes() -> None:
    async with running(backend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "j", "j")
        await stage.press("n")
        await stage.seen.until(lambda: stage.view.browser.loaded)
        assert selected(stage) == "07-grade.md"
        for leave in ("q", "n", "escape"):
            await stage.press(leave)
            assert isinstance(stage.app.screen, MainScreen)
            await stage.press("n")
            assert selected(stage) == "07-grade.md"


async def test_search_only_in_the_hits_note_stands_in_the_palette() -> None:
    scripted = backend()
    async with running(scripted) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "colon", *"search only selected", "enter")
        await stage.seen.until(lambda: scripted.scopes[-1] == "04-rrf.md")
        assert stage.view.scope == "04-rrf.md"


async def test_the_list_follows_the_index_while_it_is_open() -> None:
    scripted = backend()
    async with running(scripted) as stage:
        await browse(stage)
        await stage.press("G", "k")
        scripted.listed = tuple(n for n in NOTES if n.path != "work/lock.md")
        before = len(stage.seen.events)
        await stage.press("r")
        await stage.seen.until(lambda: any(isinstance(e, NotesListed) for e in stage.seen.events[before:]))
        await stage.seen.until(lambda: "work/lock.md" not in in_sight(stage))
        assert selected(stage) == "new.md"


async def test_before_the_index_is_open_the_browser_says_that_it_waits() -> None:
    gate = Gate()

    class Slow(ScriptedBackend):
        def files(self) -> tuple[NoteInfo, ...]:
            gate.hold()
            return self.listed

    async with running(Slow(listed=NOTES)) as stage:
        await stage.press("escape", "n", "j", "s", "l", "h", "enter", "u", "u", "G")
        assert "listing the notes" in stage.panel("tree")
        gate.opened.set()
        await stage.seen.until(lambda: stage.view.browser.loaded)
        await stage.pilot.pause()
        assert in_sight(stage) == LINES


async def test_a_list_that_cannot_be_made_says_why() -> None:
    class Broken(ScriptedBackend):
        def files(self) -> tuple[NoteInfo, ...]:
            raise OSError("the disk is gone")

    async with running(Broken()) as stage:
        await stage.press("escape", "n")
        await stage.seen.until(lambda: bool(stage.view.browser.failure))
        await stage.pilot.pause()
        assert "the disk is gone" in stage.panel("tree")


async def test_help_in_the_browser_lists_its_keys() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        await stage.press("question_mark")
        assert isinstance(stage.app.screen, HelpScreen)
        told = " ".join(stage.app.screen.query_one(Panel).plain.split())
        for command in registry.COMMANDS:
            if command.keys and BROWSER in command.where:
                assert f"{all_keys_of(command.id)} {command.title}" in told
        only_elsewhere = {c.title for c in registry.COMMANDS} - {
            c.title for c in registry.COMMANDS if BROWSER in c.where
        }
        assert not any(line.endswith(title) for line in told for title in only_elsewhere)
        await stage.press("escape")
        assert isinstance(stage.app.screen, BrowserScreen)


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (40, 10), (120, 40)])
async def test_the_browser_fits_every_size(size: tuple[int, int]) -> None:
    async with running(backend(), size) as stage:
        await browse(stage)
        await stage.press("j", "j")
        screen = stage.screen()
        if size < (60, 16):
            assert "too small" in screen
        else:
            assert "lease.md" in screen
            assert "q back" in screen
        assert all(len(line) <= size[0] for line in screen.splitlines() if line.isascii())


def test_the_scripted_notes_are_what_the_lines_say() -> None:
    assert {n.path for n in NOTES} < set(LINES)
    assert Path(LINES[2]).parent.as_posix() == LINES[1]


async def test_enter_reads_the_note_and_from_the_chunks_at_the_chunks_line() -> None:
    scripted = backend()
    text = "\n".join(f"line {n}" for n in range(1, 60))
    scripted.notes = {"work/lock.md": NoteText("work/lock.md", text)}
    async with running(scripted) as stage:
        await browse(stage)
        await stage.press("j", "j", "j", "enter")
        await stage.seen.until(lambda: stage.view.reading is not None and stage.view.reading.note is not None)
        await stage.pilot.pause()
        assert isinstance(stage.app.screen, ReaderScreen)
        assert "line 1" in stage.screen()
        await stage.press("q")
        assert isinstance(stage.app.screen, BrowserScreen)
        assert selected(stage) == "work/lock.md"
        await stage.press("l", "j", "enter")
        await stage.seen.until(lambda: stage.view.reading is not None and stage.view.reading.note is not None)
        assert stage.view.reading is not None
        assert stage.view.reading.line == 11
        assert target(stage.view) is not None
        await stage.press("q")
        assert stage.view.browser.inside


async def test_what_was_left_out_is_not_opened_but_says_why() -> None:
    async with running(backend()) as stage:
        await browse(stage)
        for key in ("enter", "o"):
            await stage.press("g", *["j"] * LINES.index(".secret.md"), key)
            assert isinstance(stage.app.screen, BrowserScreen)
            assert ".secret.md: hidden file" in stage.screen()


async def test_o_opens_the_editor_at_the_chunks_line(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(browser, "open_editor", lambda app, path, line: asked.append((path, line)))
    async with running(backend()) as stage:
        await browse(stage)
        await stage.press("j", "j", "j", "o")
        await stage.seen.until(lambda: bool(stage.view.browser.chunks))
        await stage.press("l", "j", "o")
        assert asked == [("work/lock.md", 1), ("work/lock.md", 11)]


async def test_a_replay_has_no_notes_to_browse() -> None:
    async with running(backend(), view=View(notes="x.json", offline=True)) as stage:
        for key in ("n", "D"):
            await stage.press("escape", key)
            assert isinstance(stage.app.screen, MainScreen)
            assert "a saved trace is replayed" in stage.screen()
