"""What stands on the screen: hostile text literally, sizes from 20x5 to 120x40, and two pictures."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from samples import HOSTILE, sample_trace, sample_trace_empty, sample_trace_hostile, sample_trace_two_rounds
from scripted import ScriptedBackend, Seen, running, settled
from textual.pilot import Pilot

from glassbox_tui.tui.app import GlassboxApp, make_app
from glassbox_tui.tui.backend import Reply, Source
from glassbox_tui.tui.state import View

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_hostile_text_is_shown_literally_everywhere(size: tuple[int, int]) -> None:
    backend = ScriptedBackend(
        trace_for=lambda query, rounds: sample_trace_hostile(),
        reply=Reply("extract", HOSTILE, (Source(1, HOSTILE),)),
        problems=(HOSTILE,),
    )
    async with running(backend, size) as stage:
        await stage.ask("[/] [b", rounds=True)
        for key in ("1", "2", "3", "4", "5", "v", "question_mark"):
            await stage.press(key)
            text = stage.screen()
            assert not _OBEYED.search(text.replace("\n", "")), key
        await stage.press("escape")
        for name in ("notice", "evidence", "loop", "answer"):
            assert not size[0] > 100 or "[/] [b + [type=x, v={'a[0]'}] [red]red[/red]" in stage.panel(name)
        assert "[/] [b" in stage.screen()


async def test_resized_to_almost_nothing_and_back_it_is_what_it_was() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("down")
        before = stage.screen()
        for width, height in ((59, 24), (80, 15), (20, 5), (1, 1)):
            await stage.pilot.resize_terminal(width, height)
            await stage.pilot.pause()
            assert stage.screen().startswith("glassbox: too small"[: width - 1])
            assert "SUFFICIENT" not in stage.screen()
        await stage.pilot.resize_terminal(80, 24)
        await stage.pilot.pause()
        assert "SUFFICIENT" in stage.screen()
        await stage.pilot.resize_terminal(120, 40)
        await stage.pilot.pause()
        assert stage.screen() == before
        await stage.press("x")
        assert stage.view.query == "rrfx"


async def test_a_too_small_window_says_what_it_needs_and_can_be_quit() -> None:
    async with running(ScriptedBackend(), (40, 10)) as stage:
        assert "40x10, needs 60x16" in stage.screen()
        await stage.press("ctrl+c")
        assert stage.app.return_code == 0


async def test_nothing_found_has_its_own_words() -> None:
    empty = sample_trace_empty()
    async with running(ScriptedBackend(trace_for=lambda query, rounds: empty, holds=empty.index)) as stage:
        await stage.ask("?")
        assert "the index is empty" in stage.panel("notice")
        assert "no keyword terms" in stage.panel("notice")
        assert "There is no note with text in notes" in stage.panel("evidence")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_nothing_of_ambiguous_width_is_drawn_in_the_look_for_terminals_that_draw_it_wide(
    size: tuple[int, int],
) -> None:
    """Of our own drawing: frames, lines, marks. What the notes hold is shown as it is."""
    async with running(ScriptedBackend(), size, wide=True) as stage:
        await stage.ask("rr", rounds=True)
        told = {c for trace in (sample_trace(), sample_trace_two_rounds()) for h in trace.hits for c in h.text}
        for key in ("1", "2", "f", "3", "4", "5", "v", "<", "question_mark", "escape", "colon"):
            await stage.press(key)
            drawn = set(stage.screen()) - told
            assert {c for c in drawn if unicodedata.east_asian_width(c) == "A"} == set(), key


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_ascii_look_draws_with_ascii_alone(size: tuple[int, int]) -> None:
    async with running(ScriptedBackend(), size, ascii=True) as stage:
        await stage.ask("rr", rounds=True)
        for key in "12345":
            await stage.press(key)
            drawn = {c for c in stage.screen() if not c.isascii()}
            assert {c for c in drawn if not ("\u2e80" <= c <= "\uffef")} == set()


@pytest.mark.parametrize("term", ["xterm", "xterm-256color"])
async def test_only_the_terminals_own_sixteen_colours_are_used(term: str) -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rr", rounds=True)
        strips = stage.app.screen._compositor.render_strips()
        for segment in (s for strip in strips for s in strip if s.style is not None):
            for colour in (segment.style.color, segment.style.bgcolor):
                assert colour is None or colour.is_default or (colour.number is not None and colour.number < 16)


async def _ask(pilot: Pilot[None], seen: Seen, query: str, rounds: bool) -> None:
    app = pilot.app
    assert isinstance(app, GlassboxApp)
    await pilot.press(*query)
    if rounds:
        await pilot.press("enter")
    await settled(app, seen, rounds)
    await pilot.pause()


@pytest.mark.parametrize("theme", ["terminal", "16", "dark"])
@pytest.mark.parametrize(("name", "size", "rounds"), [("wide", (120, 40), True), ("narrow", (80, 24), False)])
def test_picture(snap_compare: Any, name: str, size: tuple[int, int], rounds: bool, theme: str) -> None:
    backend, seen = ScriptedBackend(), Seen()
    app = make_app(lambda progress: backend, view=View(notes="notes", theme=theme), observer=seen)

    async def ask(pilot: Pilot[None]) -> None:
        await _ask(pilot, seen, "rrf", rounds)
        await pilot.press("j") if rounds else await pilot.press("down")

    assert snap_compare(app, terminal_size=size, run_before=ask)
    assert app.crew.stop()
