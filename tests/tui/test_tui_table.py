"""Promises of the keys that sort the table and thin out the rank flow, and of the colours between two searches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyte
import pytest
from samples import sample_trace
from scripted import ScriptedBackend, Stage, running
from textual._compositor import Compositor

from glassbox_tui.retrieval.trace import STAGES, Trace
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.session import Session, begun, ended
from glassbox_tui.tui.state import View, listed_hits, selected_hit
from glassbox_tui.tui.widgets import HitsTable


def header(stage: Stage) -> list[str]:
    return [column.label.plain.strip() for column in stage.app.screen.query_one(HitsTable).columns.values()]


def column(stage: Stage, key: str) -> list[str]:
    table = stage.app.screen.query_one(HitsTable)
    return [table.get_cell(str(row), key).plain.split("▴")[0].split("▾")[0].strip() for row in range(table.row_count)]


async def test_the_sort_keys_step_through_the_stages_and_the_selected_chunk_stays() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "j", "j")
        chosen = selected_hit(stage.view)
        assert header(stage)[-2] == "final*"
        assert column(stage, "rank") == list("12345678")
        for name in ("rerank", "fused", "dense", "bm25"):
            await stage.press(key_of("sort_before"))
            assert f"{name}*" in header(stage)
            ranks = [int(r) for r in column(stage, name) if r != "-"]
            assert ranks == sorted(ranks)
            assert column(stage, name)[len(ranks) :] == ["-"] * (8 - len(ranks))
            assert name in stage.panel("notice")
            table = stage.app.screen.query_one(HitsTable)
            assert selected_hit(stage.view) == chosen
            assert column(stage, "rank")[table.cursor_row] == "3"
        await stage.press(*[key_of("sort_next")] * 4)
        assert column(stage, "rank") == list("12345678")


async def test_the_selection_moves_along_the_rows_as_they_are_sorted() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape", *[key_of("sort_before")] * 4, "g")
        by_keywords = sorted(
            (h for h in sample_trace().hits if h.stages["bm25"]),
            key=lambda h: h.stages["bm25"].rank,  # type: ignore[union-attr]
        )
        for hit in by_keywords:
            assert selected_hit(stage.view) == hit
            assert hit.path in stage.panel("evidence").splitlines()[0]
            await stage.press("j")


async def test_the_order_and_the_thinned_picture_are_there_at_the_next_start(tmp_path: Path) -> None:
    at = Session(tmp_path / "state.json")
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape", key_of("sort_before"), "f")
        ended(stage.view, at)
    view = begun(View(), at)
    assert (view.sort, view.only, view.query) == ("rerank", True, "rrf")


async def test_leaving_the_box_and_coming_back_does_not_draw_the_whole_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn is sent: over a slow line the whole screen takes seconds."""
    whole: list[str] = []
    original = Compositor.render_full_update

    def noted(self: Compositor, *args: Any, **options: Any) -> Any:
        whole.append("drawn")
        return original(self, *args, **options)

    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        monkeypatch.setattr(Compositor, "render_full_update", noted)
        await stage.press("escape", "slash", "escape")
        assert stage.app.focused is None
        assert whole == []
        stage.app.screen.refresh()
        await stage.pilot.pause()
        assert whole  # it would have been noticed


async def test_f_leaves_the_selected_line_alone_in_the_rank_flow_and_brings_the_others_back() -> None:
    async with running(ScriptedBackend()) as stage:
        await stage.ask("rrf")
        await stage.press("escape", "j", "j")
        everyone = stage.panel("flow")
        await stage.press("f")
        alone = stage.panel("flow")
        assert "━" in alone
        assert "─" in everyone and "─" not in alone
        await stage.press("f")
        assert stage.panel("flow") == everyone


def reversed_top(trace: Trace) -> Trace:
    """The same chunks, the first eight the other way round: another letter was typed."""
    final = trace.last.stages[-1]
    turned = (*reversed(final.candidates[:8]), *final.candidates[8:])
    ranked = tuple(replace(c, rank=i) for i, c in enumerate(turned, 1))
    stages = (*trace.last.stages[:-1], replace(final, candidates=ranked))
    return replace(trace, rounds=(replace(trace.last, stages=stages, hits=tuple(reversed(trace.hits))),))


def number_colours(stage: Stage) -> dict[str, str]:
    """uid -> colour of its number in the table."""
    table = stage.app.screen.query_one(HitsTable)
    hits = listed_hits(stage.view)
    return {hit.uid: str(table.get_cell(str(row), "rank").style) for row, hit in enumerate(hits)}


async def test_another_letter_typed_recolours_no_chunk_that_stays() -> None:
    def trace_for(query: str, rounds: bool) -> Trace:
        return sample_trace() if query == "rr" else reversed_top(sample_trace())

    async with running(ScriptedBackend(trace_for=trace_for)) as stage:
        await stage.ask("r")
        before = stage.view.colours.by_uid
        assert len(set(before.values())) == len(before) == 10
        numbers = number_colours(stage)
        assert len(set(numbers.values())) == 8
        await stage.press("down", "down")
        await stage.ask("r")
        assert number_colours(stage) == numbers
        assert stage.view.trace == sample_trace()
        assert stage.view.colours.by_uid == before


async def test_a_stage_that_did_not_run_is_not_in_the_header() -> None:
    trace = sample_trace()
    stages = tuple(s for s in trace.last.stages if s.name != "rerank")
    hits = tuple(replace(h, stages=dict(h.stages) | {"rerank": None}) for h in trace.hits)
    keywords = replace(trace, rounds=(replace(trace.last, stages=stages, hits=hits),))
    async with running(ScriptedBackend(trace_for=lambda query, rounds: keywords)) as stage:
        await stage.ask("r")
        assert [name.rstrip("*") for name in header(stage) if name.rstrip("*") in STAGES] == [
            "bm25", "dense", "fused", "final",
        ]  # fmt: skip
        assert stage.panel("flow").split("\n")[0].split() == ["bm25", "dens", "fuse", "final"]


STRANGE = "👨‍👩‍👧 ❤️ 🇨🇳 1️⃣ 👍🏽 e\u0301 שלום 12 مرحبا 中文 한글 ｱ ☃︎"


def strange_trace() -> Trace:
    """The sample, its names, headings and text full of what terminals measure differently or reorder."""
    trace = sample_trace()
    words = STRANGE.split()
    names = {h.uid: f"{words[i]}{words[-1 - i]} {i}.md#{i}" for i, h in enumerate(trace.hits)}
    stages = tuple(
        replace(s, candidates=tuple(replace(c, uid=names.get(c.uid, c.uid)) for c in s.candidates))
        for s in trace.last.stages
    )
    hits = tuple(
        replace(h, uid=names[h.uid], path=names[h.uid][:-2], heading=(STRANGE,), text=f"{STRANGE}\n{STRANGE[::-1]}")
        for h in trace.hits
    )
    grade = replace(trace.last.grade, missing=(STRANGE,), sufficient=False)
    return replace(trace, rounds=(replace(trace.last, stages=stages, hits=hits, grade=grade, query=STRANGE),))


async def test_frames_and_columns_hold_in_a_terminal_whatever_the_notes_are_called() -> None:
    """As pyte draws it, which gives each character its own cells and joins no emoji."""
    async with running(ScriptedBackend(trace_for=lambda query, rounds: strange_trace())) as stage:
        await stage.ask("r")
        await stage.press("escape")
        for keys in ((), ("j",), ("f",), ("v",), ("less_than_sign",)):
            await stage.press(*keys)
            drawn = pyte.Screen(120, 40)
            pyte.Stream(drawn).feed(stage.screen().replace("\n", "\r\n"))
            grid = [[drawn.buffer[y][x].data for x in range(120)] for y in range(40)]
            boxes = [y for y, row in enumerate(grid) if row[0] == "╭"]
            assert len(boxes) == 4
            for top, bottom in zip(boxes, [*boxes[1:], 39], strict=True):
                edges = [x for x, char in enumerate(grid[top]) if char in "╭╮"]
                inside = [row for row in grid[top + 1 : bottom] if row[0] == "│"]
                assert inside
                wrong = ["".join(row) for row in inside if any(row[x] != "│" for x in edges)]
                assert wrong == []
