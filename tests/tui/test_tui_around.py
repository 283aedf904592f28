"""Around the search: history, selftest, replay, notices, colours, language, keys, and what the next start restores."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from samples import sample_trace, sample_trace_hostile, sample_trace_two_rounds
from scripted import LIMIT, Gate, ScriptedBackend, Stage, running
from textual.widgets import Input

from glassbox_tui.config import Ui, parsed
from glassbox_tui.retrieval.trace_json import to_json
from glassbox_tui.settings import Settings, SettingsError
from glassbox_tui.tui import state
from glassbox_tui.tui.app import make_app
from glassbox_tui.tui.choosing import ChooseScreen
from glassbox_tui.tui.features.selftest import SelftestScreen
from glassbox_tui.tui.keys import key_of, remap
from glassbox_tui.tui.messages import Checked, SelftestDone
from glassbox_tui.tui.registry import COMMANDS
from glassbox_tui.tui.replay import Replay, ReplayError, read_trace
from glassbox_tui.tui.screens import HelpScreen, MainScreen
from glassbox_tui.tui.session import Session, begun, ended, session
from glassbox_tui.tui.start import started
from glassbox_tui.tui.state import View
from glassbox_tui.tui.widgets import QueryBox
from glassbox_tui.tui.words import speak, spoken

CHECKS = (
    ("chunking", "offsets are exact", True, "120 chunks compared"),
    ("chunking", "nothing is lost", False, "chunk 3 lacks [/] \x1b[31m"),
    ("generation", "a refusal is said", True, "not run: no model"),
)


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """Language and key names are the process's."""
    yield
    speak("en")
    remap({command.id: command.keys for command in COMMANDS})


@pytest.fixture
def at(tmp_path: Path) -> Session:
    return Session(tmp_path / "session.json", tmp_path / "history.jsonl", tmp_path / "greeted")


# -- history -----------------------------------------------------------------------------------------------------------


async def test_what_was_run_is_in_the_history_and_can_be_run_again(at: Session) -> None:
    backend = ScriptedBackend()
    async with running(backend, at=at) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("H")
        assert isinstance(stage.app.screen, ChooseScreen)
        assert "redlock 选型" in stage.screen()  # the scripted Trace's own query
        assert "insufficient  .52" in stage.screen()
        await stage.press(*"redl", "enter")
        assert isinstance(stage.app.screen, MainScreen)
        await stage.seen.until(lambda: backend.asked[-1] == ("redlock 选型", True))
        assert stage.app.screen.query_one(QueryBox).value == "redlock 选型"


async def test_what_was_only_typed_is_not_in_the_history(at: Session) -> None:
    async with running(ScriptedBackend(), at=at) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "H")
        assert isinstance(stage.app.screen, MainScreen)
        assert "the history is empty" in stage.panel("notice")


async def test_ctrl_r_opens_the_history_from_inside_the_box_once(at: Session) -> None:
    async with running(ScriptedBackend(), at=at) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("slash", "ctrl+r", "ctrl+r")
        assert isinstance(stage.app.screen, ChooseScreen)
        await stage.press("escape")
        assert isinstance(stage.app.screen, MainScreen)
        assert stage.app.focused is stage.app.screen.query_one(QueryBox)


async def test_history_switched_off_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    at = session(Settings(data=str(tmp_path)), tmp_path / "notes", Ui(history=False))
    async with running(ScriptedBackend(), at=at) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("H")
        assert "no history is kept" in stage.panel("notice")
    assert not list(tmp_path.rglob("*history*"))


# -- the next start ----------------------------------------------------------------------------------------------------


async def test_the_next_start_is_where_the_last_session_ended(at: Session) -> None:
    async with running(ScriptedBackend(), at=at) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "v", "3", "j", "j")
        ended(stage.view, at)
        last = stage.view
    backend = ScriptedBackend()
    async with running(backend, view=begun(View(notes="notes"), at), at=at) as stage:
        await stage.seen.until(lambda: stage.view.shown == stage.view.run and stage.view.trace is not None)
        await stage.pilot.pause()
        assert backend.asked == [("rrf", False)] * len(backend.asked)
        assert state.selected_hit(stage.view) == state.selected_hit(last)
        assert (stage.view.columns, stage.view.panel) == ("score", "evidence")
        # The old question stands selected: typing begins a new one, moving does not.
        await stage.press("x")
        assert stage.app.screen.query_one(QueryBox).value == "x"


async def test_a_damaged_session_is_ignored_and_said(at: Session) -> None:
    assert at.state is not None
    at.state.write_text("{")
    view = begun(View(notes="notes"), at)
    async with running(ScriptedBackend(), view=view, at=at) as stage:
        assert "what the last session left behind is damaged and was ignored" in stage.panel("notice")
        assert stage.view.query == ""


def test_the_welcome_is_shown_once_per_data_folder(at: Session) -> None:
    assert [begun(View(), at).first_time for _ in range(3)] == [True, False, False]


# -- selftest ----------------------------------------------------------------------------------------------------------


async def test_the_selftest_shows_each_check_and_can_be_left_while_it_runs() -> None:
    backend = ScriptedBackend(checks=CHECKS, selftest_gate=Gate())
    async with running(backend) as stage:
        await stage.press("escape", "T")
        assert isinstance(stage.app.screen, SelftestScreen)
        assert "indexing the bundled notes" in stage.panel("sheet")
        await stage.press("escape")
        assert isinstance(stage.app.screen, MainScreen)
        await stage.press("slash")
        await stage.ask("rrf")  # searching goes on
        assert stage.view.selftest.running
        assert backend.selftest_gate is not None
        backend.selftest_gate.opened.set()
        await stage.seen.heard(SelftestDone)
        await stage.press("escape", "T")
        shown = stage.panel("sheet")
        assert "1 hold, 1 fell, 1 not run" in shown
        assert "chunking" in shown
        assert "FAIL" in shown
        await stage.press("k")
        assert "chunk 3 lacks [/]" in stage.panel("sheet")
        assert "\x1b" not in stage.screen()


async def test_the_selftest_runs_again_on_r_and_only_then() -> None:
    async with running(ScriptedBackend(checks=CHECKS)) as stage:
        await stage.press("escape", "T")
        await stage.seen.heard(SelftestDone)
        await stage.press("escape", "T")
        assert stage.view.selftest.run == 1
        await stage.press("r")
        await stage.seen.until(lambda: stage.view.selftest.run == 2 and not stage.view.selftest.running)
        assert len(stage.view.selftest.checks) == 3


def test_checks_of_an_earlier_run_are_stale() -> None:
    view = replace(View(), selftest=replace(View().selftest, run=2, running=True))
    old = Checked(1, "g", "n", True, "", 1, 9)
    assert state.applied(view, old) == view
    assert state.applied(view, SelftestDone(1)) == view
    assert state.applied(view, replace(old, run=2)).selftest.checks == (replace(old, run=2),)


async def test_a_selftest_that_cannot_run_says_why() -> None:
    class Broken(ScriptedBackend):
        def selftest(self, heard: object) -> None:
            raise SettingsError("the bundled notes are missing")

    async with running(Broken()) as stage:
        await stage.press("escape", "T")
        await stage.seen.heard(SelftestDone)
        await stage.pilot.pause()
        assert "it stopped: the bundled notes are missing" in stage.panel("sheet")


# -- replay ------------------------------------------------------------------------------------------------------------


async def replaying(text: str, tmp_path: Path, keys: str) -> list[str]:
    """What each panel shows of a Trace that is replayed without an engine, after `keys`."""
    file = tmp_path / "trace.json"
    file.write_text(text, encoding="utf-8", errors="backslashreplace")
    trace = read_trace(file)
    start = replace(state.replayed(View(notes=str(file)), trace), offline=True, info=trace.index, progress=None)
    app = make_app(view=start, crew=Replay)
    shown = []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
            shown.append("\n".join(strip.text for strip in app.screen._compositor.render_strips()))
    return shown


async def test_a_saved_trace_replays_without_its_notes(tmp_path: Path) -> None:
    last, first = await replaying(to_json(sample_trace_two_rounds()), tmp_path, "2[")
    assert "round 1/1" in last
    assert "round 0/1" in first
    assert "redlock 选型" in first
    for panel in ("rank flow", "evidence", "04-rrf.md", "分布式锁"):
        assert panel in last


async def test_what_needs_the_engine_says_so_and_the_trace_stays(tmp_path: Path) -> None:
    for screen in await replaying(to_json(sample_trace()), tmp_path, "/renaDHew"):
        assert "a saved trace is replayed: there are no notes and no engine behind it" in screen
        assert "SUFFICIENT" in screen


async def test_a_hostile_trace_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    for screen in await replaying(to_json(sample_trace_hostile()), tmp_path, "12345"):
        assert "\x1b" not in screen
        assert "[/] [b" in screen


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{}", "Trace version None"),
        ("[" * 100_000, "not JSON"),
        ('{"version": 1, "rounds": []}', "not a Trace"),
        (to_json(sample_trace()).replace('"rank": 1,', '"rank": -1,', 1), "ranks begin at 1"),
        (to_json(sample_trace()).replace('"notes": 14', '"notes": "14"'), "'14' stands where a whole number belongs"),
        (to_json(sample_trace()).replace('"ms": 0.3', '"ms": 1e999'), "inf stands where a number belongs"),
        (to_json(sample_trace()).replace('"ms": 0.3', '"ms": NaN'), "nan stands where a number belongs"),
        (to_json(sample_trace()).replace('"query": "', '"query": 3, "q": "', 1), "3 stands where a text belongs"),
    ],
)
def test_what_is_no_trace_is_one_short_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(ReplayError) as error:
        read_trace(tmp_path / "t.json")
    assert said in str(error.value)
    assert str(tmp_path / "t.json") in str(error.value)
    assert len(str(error.value)) < 400


def test_files_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name in ("no.json", ".", "bytes.json", "nul\0.json"):
        with pytest.raises(ReplayError):
            read_trace(tmp_path / name)


async def test_a_trace_can_be_opened_in_the_running_app_and_typing_searches_again(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(to_json(sample_trace_two_rounds()))
    backend = ScriptedBackend()
    async with running(backend) as stage:
        await stage.press("escape", "colon", *"saved", "enter")
        stage.app.screen.query_one(Input).value = str(file)
        await stage.press("enter")
        assert stage.view.trace == sample_trace_two_rounds()
        assert "as it was saved" in stage.panel("notice")
        assert backend.asked == []
        await stage.press("slash")
        await stage.ask("rrf")
        assert backend.asked[-1] == ("rrf", False)
        await stage.press("escape", "colon", *"saved", "enter", *"nowhere", "enter")
        assert "cannot read nowhere: No such file or directory" in stage.panel("notice")


# -- notices, colours, language, keys ----------------------------------------------------------------------------------


async def test_i_shows_all_notices_in_full() -> None:
    async with running(ScriptedBackend(problems=("another process is indexing this folder",)), (80, 24)) as stage:
        await stage.ask("rrf", rounds=True)
        assert stage.panel("notice").endswith("(i)")
        await stage.press("i")
        whole = stage.panel("sheet")
        for sentence in ("another process is indexing", "half of the chunks have no vector", "not in the evidence"):
            assert sentence in whole
        await stage.press("q")
        assert isinstance(stage.app.screen, MainScreen)


def colours(stage: Stage) -> set[str]:
    strips = stage.app.screen._compositor.render_strips()
    styles = [s.style for strip in strips for s in strip if s.style is not None]
    return {c.name for style in styles for c in (style.color, style.bgcolor) if c is not None and not c.is_default}


async def test_a_theme_changes_every_colour_at_once_and_back() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        text, own = stage.screen(), colours(stage)
        await stage.press("escape", "colon", *"theme", "enter", *"dark", "enter")
        dark = colours(stage)
        assert dark
        assert all(name.startswith("#") for name in dark)
        await stage.press("colon", *"theme", "enter", *"mono", "enter")
        assert colours(stage) == set()
        await stage.press("colon", *"theme", "enter", *"terminal", "enter", "slash")
        assert (stage.screen(), colours(stage)) == (text, own)


async def test_without_colour_selection_tab_and_matches_still_show() -> None:
    async with running(ScriptedBackend(), (80, 24), view=View(notes="notes", theme="mono")) as stage:
        await stage.ask("rrf")
        strips = stage.app.screen._compositor.render_strips()
        marked = {s.text.strip() for strip in strips for s in strip if s.style is not None and s.style.reverse}
        assert "hits" in marked
        assert any("04-rrf.md" in text for text in marked)
        bold = {s.text.strip() for strip in strips for s in strip if s.style is not None and s.style.bold}
        assert "加权" in bold


async def test_L_switches_the_language_while_the_app_runs() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.press("escape", "L")
        assert (spoken(), stage.view.language) == ("zh", "zh")
        await stage.press("question_mark")
        assert isinstance(stage.app.screen, HelpScreen)
        assert any("\u4e00" <= c <= "\u9fff" for c in stage.screen())
        await stage.press("escape", "L")
        assert spoken() == "en"


def test_the_start_obeys_config_environment_and_locale(tmp_path: Path) -> None:
    start = partial(started, tmp_path, Settings(data=str(tmp_path)))
    file = parsed(tmp_path / "c", b'[ui]\nlanguage="zh"\ntheme="light"\nascii="yes"\nmouse=false\n[keys]\nhelp="f1"\n')
    found = start(file, {"LANG": "en_US.UTF-8"})
    assert (found.view.language, found.view.theme, found.view.ascii, found.mouse) == ("zh", "light", True, False)
    assert found.keys == {"help": "f1"}
    assert key_of("help") == "f1"
    none = parsed(tmp_path / "c", b"")
    assert start(none, {"LANG": "zh_CN.UTF-8", "NO_COLOR": "1"}).view.theme == "mono"
    assert start(none, {"LANG": "zh_CN.UTF-8"}).view.language == "zh"
    assert start(none, {"LANG": "C"}).view.ascii
    assert start(none, {"LANG": "C.UTF-8", "NO_COLOR": "1", "GLASSBOX_THEME": "16"}).view.theme == "16"
    with pytest.raises(SettingsError, match="GLASSBOX_THEME: 'pink' is not one of terminal, 16, mono, dark, light"):
        start(none, {"GLASSBOX_THEME": "pink"})


async def test_a_moved_key_acts_and_the_old_one_does_not() -> None:
    async with running(ScriptedBackend(), keys={"columns": "c,f3", "help": "f1"}) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "v")
        assert stage.view.columns == "rank"
        await stage.press("c")
        assert stage.view.columns == "score"
        await stage.press("f3")
        assert stage.view.columns == "both"
        await stage.press("f1")
        assert isinstance(stage.app.screen, HelpScreen)


async def test_json_of_a_session_holds_nothing_but_what_is_documented(at: Session) -> None:
    async with running(ScriptedBackend(), at=at) as stage:
        await stage.ask("rrf", rounds=True)
        async with asyncio.timeout(LIMIT):
            while at.state is None or not at.state.exists():
                await stage.pilot.pause()
    assert json.loads(at.state.read_text()).keys() == {"query", "panel", "columns", "sort", "only", "selected"}
