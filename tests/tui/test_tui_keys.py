"""Each key does what the help says it does."""

from __future__ import annotations

import asyncio

import pytest
from scripted import LIMIT, ScriptedBackend, Stage, running
from textual.events import Key
from textual.widgets import DataTable

from glassbox_tui.tui import registry
from glassbox_tui.tui.choosing import ChooseScreen
from glassbox_tui.tui.keys import all_keys_of
from glassbox_tui.tui.screens import HelpScreen, MainScreen
from glassbox_tui.tui.state import selected_hit
from glassbox_tui.tui.widgets import HitsTable, Panel, QueryBox


def selected(stage: Stage) -> str:
    hit = selected_hit(stage.view)
    return "" if hit is None else hit.uid


MOVES = (
    ((), "04-rrf.md#1"),
    (("j",), "04-rrf.md#0"),
    (("down", "down"), "07-grade.md#2"),
    (("j", "j", "k"), "04-rrf.md#0"),
    (("j", "up"), "04-rrf.md#1"),
    (("G",), "13-glossary.md#7"),
    (("end", "j"), "13-glossary.md#7"),
    (("G", "g"), "04-rrf.md#1"),
    (("end", "home"), "04-rrf.md#1"),
)


async def test_moving_selects_a_hit_and_every_panel_follows() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape")
        hits = stage.view.trace.last.hits if stage.view.trace else ()
        for keys, uid in MOVES:
            await stage.press("g", *keys)
            assert selected(stage) == uid, keys
            assert uid.partition("#")[0] in stage.panel("evidence").splitlines()[0]
            assert stage.app.screen.query_one(HitsTable).cursor_row == [h.uid for h in hits].index(uid)


async def test_arrows_move_the_selection_without_leaving_the_query_box() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("down", "down", "up")
        assert selected(stage) == "04-rrf.md#0"
        assert stage.app.focused is stage.app.screen.query_one(QueryBox)


async def test_r_reads_the_folder_again_and_the_question_is_asked_anew() -> None:
    backend = ScriptedBackend()
    async with running(backend) as stage:
        await stage.ask("rrf")
        await stage.press("escape")
        asked = len(backend.asked)
        await stage.press("r")
        await stage.seen.until(lambda: backend.updates == 2 and len(backend.asked) > asked)
        assert backend.asked[-1] == ("rrf", False)


async def test_slash_in_the_empty_box_is_not_typed_but_later_it_is() -> None:
    """The app opens inside the box; who presses the advertised key first must not search for "/why"."""
    async with running(ScriptedBackend()) as stage:
        box = stage.app.screen.query_one(QueryBox)
        assert stage.app.focused is box
        await stage.press("slash", "slash", "a", "slash", "b")
        assert box.value == "a/b"


async def test_slash_goes_into_the_box_where_letters_type_and_escape_leaves_it() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.press("escape")
        assert stage.app.focused is None
        await stage.press("slash", *"q?v1")
        assert stage.app.screen.query_one(QueryBox).value == "q?v1"
        assert stage.view.columns == "rank"


async def test_enter_runs_the_rounds_answers_and_leaves_the_box() -> None:
    backend = ScriptedBackend()
    async with running(backend) as stage:
        await stage.ask("ab", rounds=True)
        assert backend.asked == [("a", False), ("ab", False), ("ab", True)]
        assert stage.app.focused is None
        assert len(stage.view.trace.rounds) == 2 if stage.view.trace else False
        assert "RRF 只看名次" in stage.panel("answer")
        assert "[1] 04-rrf.md:12-31" in stage.panel("answer")
        await stage.press("enter")
        assert backend.asked[-1] == ("ab", True)


async def test_brackets_step_through_the_rounds_and_all_panels_show_the_round() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rr", rounds=True)
        last = {name: stage.panel(name) for name in ("verdict", "flow", "scores", "loop")}
        assert "round 1/1" in last["verdict"]
        await stage.press("left_square_bracket")
        first = {name: stage.panel(name) for name in last}
        assert "round 0/1" in first["verdict"]
        assert "> 0 user" in first["loop"]
        assert all(first[name] != last[name] for name in last)
        await stage.press("left_square_bracket", "right_square_bracket", "right_square_bracket")
        assert {name: stage.panel(name) for name in last} == last


async def test_v_shows_ranks_then_scores_then_both() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape")

        def first_bm25() -> str:
            return stage.app.screen.query_one(HitsTable).get_cell("0", "bm25").plain.strip()

        shown = [first_bm25()]
        for _ in range(3):
            await stage.press("v")
            shown.append(first_bm25())
        assert shown == ["1", "12.41", "1 12.41", "1"]


@pytest.mark.parametrize(
    ("key", "seen", "hidden"),
    [
        ("1", {"hits", "evidence"}, {"flow", "scores", "loop", "answer"}),
        ("2", {"flow"}, {"hits", "evidence", "scores", "loop", "answer"}),
        ("3", {"evidence", "scores"}, {"hits", "flow", "loop", "answer"}),
        ("4", {"loop"}, {"hits", "flow", "evidence", "scores", "answer"}),
        ("5", {"answer"}, {"hits", "flow", "evidence", "scores", "loop"}),
    ],
)
async def test_number_keys_choose_the_panel_of_a_narrow_screen(key: str, seen: set[str], hidden: set[str]) -> None:
    async with running(ScriptedBackend(), (80, 24)) as stage:
        await stage.ask("rrf")
        await stage.press("escape", key)

        def visible(name: str) -> bool:
            widget = stage.app.screen.query_one(f"#{name}")
            return widget.is_on_screen and widget.size.height > 0 and widget.size.width > 0

        assert {n for n in seen | hidden if visible(n)} == seen
        text = stage.screen()
        assert "SUFFICIENT" in text
        assert "rrf" in text.splitlines()[1]


async def test_page_keys_scroll_the_evidence_and_another_hit_starts_at_its_top() -> None:
    async with running(ScriptedBackend(), (60, 16)) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "3")
        assert "04-rrf.md:12-31" in stage.screen()
        panel = stage.app.screen.query_one("#evidence", Panel)
        assert len(panel.plain.splitlines()) > panel.size.height
        await stage.press("pagedown")
        assert "04-rrf.md:12-31" not in stage.screen()
        await stage.press("pageup")
        assert "04-rrf.md:12-31" in stage.screen()
        await stage.press("space", "j")
        assert "04-rrf.md:1-11" in stage.screen()


async def test_help_lists_every_command_with_its_keys_and_closes_with_the_focus_as_it_was() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.press("escape", "question_mark")
        assert isinstance(stage.app.screen, HelpScreen)
        told = " ".join(stage.app.screen.query_one(Panel).plain.split())
        for command in registry.COMMANDS:
            if command.keys:
                assert f"{all_keys_of(command.id)} {command.title}" in told, command.id
        await stage.press("escape")
        assert isinstance(stage.app.screen, MainScreen)
        assert stage.app.focused is None


def test_no_two_commands_share_an_id_or_a_key_and_each_has_one() -> None:
    assert [c.id for c in registry.COMMANDS if not c.keys] == []
    ids = [c.id for c in registry.COMMANDS]
    assert len(set(ids)) == len(ids)
    keys = [(where, key) for c in registry.COMMANDS for where in c.where for key in c.keys.split(",") if key]
    assert len(set(keys)) == len(keys)


async def test_the_palette_finds_a_command_by_a_word_and_runs_it() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "colon")
        assert isinstance(stage.app.screen, ChooseScreen)
        await stage.press(*"both", "enter")
        assert isinstance(stage.app.screen, MainScreen)
        assert stage.view.columns == "score"
        assert stage.view.query == "rrf"


@pytest.mark.parametrize("keys", [("escape",), (*"zzz", "enter")])
async def test_the_palette_left_or_without_a_match_does_nothing(keys: tuple[str, ...]) -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape")
        before = stage.view
        await stage.press("colon", *keys)
        assert stage.view == before
        assert isinstance(stage.app.screen, MainScreen)


async def test_escape_and_a_letter_in_one_packet_are_escape_and_the_letter() -> None:
    """A terminal sends alt+v as escape and v: over a slow line, escape then v look the same."""
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("alt+v")
        assert stage.app.focused is None
        assert stage.view.columns == "score"
        assert stage.view.query == "rrf"


async def test_enter_right_behind_the_letters_runs_all_of_them_once() -> None:
    """Letters and Enter that come in one packet: the box is ahead of the searches."""
    backend = ScriptedBackend()
    async with running(backend) as stage:
        box = stage.app.screen.query_one(QueryBox)
        box.value = "rrf"
        stage.app.action_do("run")
        await stage.seen.until(lambda: stage.view.reply is not None)
        assert backend.asked == [("rrf", True)]
        assert stage.app.focused is None


@pytest.mark.parametrize("keys", [("escape", "q"), ("ctrl+c",), ("q", "ctrl+c")])
async def test_q_quits_outside_the_box_and_ctrl_c_from_anywhere(keys: tuple[str, ...]) -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.press(*keys)
        assert not stage.app.is_running or stage.app._exit
        assert stage.app.return_code == 0


async def test_a_click_on_a_row_selects_it() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.pilot.click(DataTable, offset=(4, 3))
        async with asyncio.timeout(LIMIT):  # the click passes through the table's queue, then the app's
            while selected(stage) != "07-grade.md#2":
                await stage.pilot.pause()


async def test_keys_do_no_harm_before_there_is_a_result() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.press("escape")
        await stage.press("j", "k", "G", "g", "[", "]", "v", "1", "2", "3", "4", "5", "pagedown", "pageup", "enter")
        assert stage.view.trace is None
        assert stage.app.return_code is None


async def test_z_gives_the_panel_the_whole_screen_and_gives_it_back() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf", rounds=True)
        await stage.press("5", "z")
        shown = {p.id for p in stage.app.screen.query(Panel) if p.display and p.region.area and p.has_class("box")}
        assert shown == {"answer"}
        await stage.press("4")
        assert stage.app.screen.query_one("#loop", Panel).region.width == 120
        await stage.press("1")
        assert stage.app.screen.query_one(HitsTable).region.height > 20
        await stage.press("z")
        shown = {p.id for p in stage.app.screen.query(Panel) if p.region.area and p.has_class("box")}
        assert shown == {"flow", "evidence", "scores", "loop", "answer"}


CHARACTERS = {"slash": "/", "space": " "}


async def in_one_packet(stage: Stage, *keys: str) -> None:
    """All keys at once, as a slow line delivers them: nothing is done between them unless the app does it itself."""
    for key in keys:
        stage.app.post_message(Key(key, CHARACTERS.get(key, key if len(key) == 1 else None)))
    for _ in range(5):
        await stage.pilot.pause()


PACKETS = (
    (("escape", "v"), "rrf", "score", 0),
    (("escape", "j", "slash", "x", "y", "escape", "j", "v"), "rrfxy", "score", 2),
    (("x", "y", "enter", "v"), "rrfxy", "score", 0),
    (("enter", "slash", "a", "b"), "ab", "rank", 0),
    (("escape", "colon", *"both", "enter"), "rrf", "score", 0),
    (("ctrl+u", "x", "y"), "xy", "rank", 0),
    (("a", "b", "left", "x", "backspace", "backspace", "home", "y"), "yrrfb", "rank", 0),
    (("ctrl+w", *"one", "space", *"two", "ctrl+w", "x"), "one x", "rank", 0),
    (("escape", "colon", "ctrl+u", *"both", "escape", "v"), "rrf", "score", 0),
    (("escape", "colon", *"bo", "home", "end", *"th", "enter"), "rrf", "score", 0),
)


@pytest.mark.parametrize(("keys", "query", "columns", "row"), PACKETS)
async def test_keys_of_one_packet_do_what_they_do_one_by_one(
    keys: tuple[str, ...], query: str, columns: str, row: int
) -> None:
    for together in (True, False):
        async with running(ScriptedBackend()) as stage:
            await stage.ask("rrf")
            await (in_one_packet(stage, *keys) if together else stage.press(*keys))
            await stage.seen.until(lambda stage=stage: stage.view.shown == stage.view.run)
            await stage.pilot.pause()
            assert (stage.app.typed, stage.view.columns) == (query, columns), together
            assert stage.app.screen.query_one(HitsTable).cursor_row == row, together
