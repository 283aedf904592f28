"""Another folder without leaving: completion, recent folders, the switch itself, and what is said when it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted import Gate, ScriptedBackend, Seen, Stage, running
from textual.widgets import Input

from glassbox_tui.errors import GlassboxError
from glassbox_tui.notes.scan import NotesError
from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.listing import NoteInfo
from glassbox_tui.tui import folders
from glassbox_tui.tui.folderscreen import FolderScreen
from glassbox_tui.tui.messages import (
    FolderFailed,
    FolderOpened,
    ListNotes,
    NotesListed,
    OpenFailed,
    OpenFolder,
    Search,
    SearchDone,
    Updated,
)
from glassbox_tui.tui.session import Session
from glassbox_tui.tui.widgets import Panel
from glassbox_tui.tui.work import Workers

LIMIT = 20.0


# -- what is typed -----------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("work", "work-old", "Music", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "work" / "a\x1b[2Jb").mkdir()
    (tmp_path / "note.md").write_text("a note", "utf-8")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    return tmp_path


def test_folders_and_notes_complete_what_is_typed(home: Path) -> None:
    at = str(home)
    for typed, found in (
        (f"{at}/w", [f"{at}/work-old/", f"{at}/work/"]),
        ("~/w", ["~/work-old/", "~/work/"]),
        (f"{at}/", [f"{at}/Music/", f"{at}/note.md", f"{at}/work-old/", f"{at}/work/"]),
        (f"{at}/.h", [f"{at}/.hidden/"]),
        (f"{at}/nothing", []),
        ("~nobody-of-that-name/x", []),
        ("\x00/", []),
    ):
        offered = folders.offers(typed, ())
        assert sorted(offered.found) == sorted(found), typed
    assert folders.completed("~/w", ("~/work-old/", "~/work/")) == "~/work"
    assert folders.completed("~/x", ()) == "~/x"


def test_recent_folders_are_offered_by_any_part_of_their_path() -> None:
    known = ("/home/me/Work/notes", "/srv/wiki")
    assert folders.offers("", known).recent == known
    assert folders.offers("work", known).recent == known[:1]
    assert folders.offers("zzz", known).recent == ()


def test_what_cannot_be_opened_is_a_sentence(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir()
    for typed, words in (
        ("", "type the path"),
        ("   ", "type the path"),
        (f"{home}/nowhere", "there is no folder"),
        (f"{home}/photo.jpg", "is not a note"),
        ("~nobody-of-that-name", "cannot open"),
        ("a\x00b", "cannot open"),
        ("x" * 5000, "cannot open"),
    ):
        with pytest.raises(NotesError) as caught:
            folders.checked(typed)
        assert words in str(caught.value)
    assert folders.checked("~/work/") == home / "work"
    assert folders.checked(f"  {home}/note.md ") == home / "note.md"
    assert folders.checked(f"{home}/work/../Music") == home / "Music"


# -- recent folders ----------------------------------------------------------------------------------------------------


def test_recent_folders_are_kept_newest_first_each_once_and_not_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "data" / "recent.json"
    assert folders.recent(file) == ()
    for number in (*range(25), 3):
        folders.remember(file, f"/notes/{number}")
    assert folders.recent(file) == ("/notes/3", *(f"/notes/{n}" for n in range(24, 5, -1)))
    assert oct(file.stat().st_mode)[-3:] == "600"
    assert list(file.parent.iterdir()) == [file]
    odd = "/notes/\udce9\n\x1b"
    folders.remember(file, odd)
    assert folders.recent(file)[0] == odd


@pytest.mark.parametrize("text", ["", "{", '"/a"', "[1, null, [], {}]", "[" * 100_000, '["relative", "/kept"]', "\xff"])
def test_a_list_of_recent_folders_that_makes_no_sense_stops_nobody(tmp_path: Path, text: str) -> None:
    file = tmp_path / "recent.json"
    file.write_bytes(text.encode("latin-1"))
    assert folders.recent(file) in ((), ("/kept",))
    folders.remember(file, "/new")
    assert folders.recent(file)[0] == "/new"
    assert isinstance(json.loads(file.read_text("utf-8")), list)


# -- the workers -------------------------------------------------------------------------------------------------------


def kinds(seen: Seen) -> list[type]:
    return [type(event) for event in seen.events]


async def until(seen: Seen, kind: type, count: int = 1) -> None:
    await seen.until(lambda: kinds(seen).count(kind) >= count)


async def test_another_folder_opens_while_the_first_is_being_indexed() -> None:
    """Its update is told to stop; only then is it closed; nothing of it is told after the other is open."""
    gate, other = Gate(), ScriptedBackend()
    first = ScriptedBackend(update_gate=gate, siblings={"/other": other})
    async with running(first, indexed=False) as stage:
        assert gate.reached.wait(LIMIT)
        stage.app.send(OpenFolder("/other"))
        assert not first.closed
        gate.opened.set()
        await until(stage.seen, FolderOpened)
        assert first.closed
        assert stage.view.notes == "/other"
        await until(stage.seen, Updated)
        told = kinds(stage.seen)
        assert told.index(FolderOpened) < told.index(Updated)
        assert (first.updates, other.updates) == (1, 1)
        first.closed = False
    assert other.closed
    assert not first.closed  # once was enough


async def test_a_folder_that_cannot_be_opened_leaves_the_first_as_it_was_and_its_update_is_taken_up() -> None:
    first = ScriptedBackend(siblings={"/bad": GlassboxError("the index of /bad is damaged")})
    async with running(first) as stage:
        await stage.ask("rrf")
        stage.app.send(OpenFolder("/bad"))
        await until(stage.seen, FolderFailed)
        await until(stage.seen, Updated, 2)
        assert stage.view.notes == "notes"
        assert stage.view.trace is not None
        assert "damaged" in stage.screen()
        await stage.press("escape", "j")
        assert not first.closed


async def test_a_search_that_runs_is_not_cut_off_and_its_result_is_not_shown_in_the_other_folder() -> None:
    gate, other = Gate(), ScriptedBackend()
    first = ScriptedBackend(gates={"slow": gate}, siblings={"/other": other})
    async with running(first) as stage:
        await stage.press(*"slow")
        assert gate.reached.wait(LIMIT)
        stage.app.send(OpenFolder("/other"))
        gate.opened.set()
        await until(stage.seen, FolderOpened)
        await stage.seen.until(lambda: other.asked != [])
        assert other.asked[-1] == ("slow", False)  # the question that stands there is asked anew
        await stage.seen.until(lambda: stage.view.shown == stage.view.run)
        told = kinds(stage.seen)
        assert SearchDone in told[told.index(FolderOpened) :]


async def test_where_the_first_folder_could_not_be_opened_another_can() -> None:
    seen, other = Seen(), ScriptedBackend(listed=(NoteInfo("a.md", "", "ok", "", (), "utf-8", "md", 1, 1, 1),))

    def broken(progress: object) -> ScriptedBackend:
        raise GlassboxError("no such folder")

    workers = Workers(broken, seen, lambda path, progress: other)
    workers.start()
    workers.send(ListNotes())
    await until(seen, OpenFailed)
    workers.send(OpenFolder("/other"))
    await until(seen, FolderOpened)
    await until(seen, Updated)
    workers.send(ListNotes())
    workers.send(Search(1, "rrf", False))
    await until(seen, NotesListed)
    await until(seen, SearchDone)
    assert workers.stop(LIMIT)
    assert other.closed


async def test_quitting_while_another_folder_waits_for_a_search_to_end() -> None:
    gate = Gate()
    first = ScriptedBackend(gates={"slow": gate}, siblings={"/other": ScriptedBackend()})
    async with running(first) as stage:
        await stage.press(*"slow")
        assert gate.reached.wait(LIMIT)
        stage.app.send(OpenFolder("/other"))
    # `running` opens the gate and asserts that all threads end.


# -- the prompt --------------------------------------------------------------------------------------------------------


async def prompt(stage: Stage) -> FolderScreen:
    await stage.press("escape", "D")
    screen = stage.app.screen
    assert isinstance(screen, FolderScreen)
    return screen


async def offered(stage: Stage, screen: FolderScreen, typed: str) -> None:
    """Until the disk has answered for what stands in the box."""
    while screen._offers.typed != typed:
        await stage.pilot.pause()


async def test_a_path_is_typed_completed_with_tab_and_opened(home: Path, tmp_path: Path) -> None:
    other = ScriptedBackend()
    first = ScriptedBackend(siblings={str(home / "work"): other})
    recent = tmp_path / "data" / "recent.json"
    async with running(first, at=Session(recent=recent)) as stage:
        screen = await prompt(stage)
        await stage.press("tilde", "slash", "w")
        await offered(stage, screen, "~/w")
        await stage.press("tab")
        assert screen.query_one(Input).value == "~/work"
        await offered(stage, screen, "~/work")
        assert all(words in screen.query_one("#folders", Panel).plain for words in ("~/work/", "~/work-old/"))
        await stage.press("slash")
        await offered(stage, screen, "~/work/")
        assert "\u241b[2J" in screen.query_one("#folders", Panel).plain
        await stage.press("enter")
        await until(stage.seen, FolderOpened)
        await stage.pilot.pause()
        assert stage.view.notes == str(home / "work")
        assert "~/work" in stage.panel("status")
    assert folders.recent(recent)[0] == str(home / "work")


async def test_an_absolute_path_begins_with_the_slash_that_is_typed(home: Path) -> None:
    first = ScriptedBackend(siblings={str(home / "Music"): ScriptedBackend()})
    async with running(first) as stage:
        screen = await prompt(stage)
        await stage.press(*["slash" if c == "/" else c for c in f"{home}/Mus"])
        assert screen.query_one(Input).value == f"{home}/Mus"
        await offered(stage, screen, f"{home}/Mus")
        await stage.press("tab", "enter")
        await until(stage.seen, FolderOpened)
        assert stage.view.notes == str(home / "Music")


async def test_a_recent_folder_is_chosen_with_the_arrows(tmp_path: Path) -> None:
    recent = tmp_path / "recent.json"
    known = tmp_path / "known"
    known.mkdir()
    folders.remember(recent, str(known))
    first = ScriptedBackend(siblings={str(known): ScriptedBackend()})
    async with running(first, at=Session(recent=recent)) as stage:
        await prompt(stage)
        await stage.press("down", "down", "up", "down", "enter")
        await until(stage.seen, FolderOpened)
        assert stage.view.notes == str(known)


async def test_what_is_no_folder_is_said_in_the_prompt_which_stays_until_esc(home: Path) -> None:
    async with running(ScriptedBackend()) as stage:
        screen = await prompt(stage)
        await stage.press(*"nowhere", "enter")
        while "there is no folder nowhere" not in screen.query_one("#folders", Panel).plain:
            await stage.pilot.pause()
        await stage.press("escape")
        assert not isinstance(stage.app.screen, FolderScreen)
        assert stage.view.notes == "notes"


async def test_the_other_folder_begins_anew_but_keeps_the_question_and_the_look(tmp_path: Path) -> None:
    other = ScriptedBackend(steps=(Progress("text", 1, 1),))
    first = ScriptedBackend(siblings={"/other": other})
    async with running(first) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("v", "2", "j")
        columns, panel = stage.view.columns, stage.view.panel
        stage.app.send(OpenFolder("/other"))
        await until(stage.seen, FolderOpened)
        await stage.seen.until(lambda: other.asked != [])
        assert (stage.view.columns, stage.view.panel, stage.view.query) == (columns, panel, "rrf")
        assert stage.view.scope == ""
        assert not stage.view.browser.loaded


async def test_from_the_browser_the_other_folders_files_are_listed_at_once(tmp_path: Path) -> None:
    def one(path: str) -> tuple[NoteInfo, ...]:
        return (NoteInfo(path, "", "ok", "", (), "utf-8", "md", 1, 1, 1),)

    first = ScriptedBackend(listed=one("here.md"), siblings={"/other": ScriptedBackend(listed=one("there.md"))})
    async with running(first) as stage:
        await stage.press("escape", "n", "slash", *"here", "enter", "s")
        await stage.seen.until(lambda: stage.view.scope == "here.md")
        stage.app.send(OpenFolder("/other"))
        await stage.seen.until(lambda: [row.path for row in stage.view.browser.rows] == ["there.md"])
        await stage.pilot.pause()
        assert "there.md" in stage.panel("tree")
        assert stage.app.screen.query_one(Input).value == ""
        assert stage.view.scope == ""
