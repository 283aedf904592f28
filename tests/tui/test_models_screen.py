"""The models screen: each key does what the help says, figures arrive live, and what the disk says is only shown."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import Gate, ScriptedBackend, Stage, running

from glassbox_tui.errors import GlassboxError
from glassbox_tui.models.entries import E5, HASHING, LATE_INTERACTION, QWEN, SMOLLM2
from glassbox_tui.models.rows import ModelRow
from glassbox_tui.models.speed import Speed
from glassbox_tui.tui.commands import MODELS
from glassbox_tui.tui.messages import Measured, ModelsListed, ModelUsed
from glassbox_tui.tui.modelscreen import ModelScreen
from glassbox_tui.tui.registry import COMMANDS
from glassbox_tui.tui.screens import HelpScreen, MainScreen
from glassbox_tui.tui.words import speak

ROWS = [
    ModelRow(E5, True, True, "in use: GLASSBOX_EMBED_MODEL names no other", "/data/models/e5"),
    ModelRow(HASHING, True, False, "here; GLASSBOX_EMBED_MODEL=hashing chooses it"),
    ModelRow(LATE_INTERACTION, True, True, "in use: it goes with the bundled embedder"),
    ModelRow(SMOLLM2, True, True, "in use: it is the only one here", "/wheel/smol.gguf"),
    ModelRow(replace(QWEN, name="other"), True, False, "here; GLASSBOX_LLM_PATH=/o.gguf chooses it", "/o.gguf"),
    ModelRow(QWEN, False, False, f"not here: `glassbox-tui models pull {QWEN.name}` fetches it"),
]
SPEED = Speed(query_ms=2.5, passage_ms=31.0, memory_mb=412.0, load_s=0.9, measured="2026-11-30T20:25+00:00")


def backend(**parts: object) -> ScriptedBackend:
    return ScriptedBackend(rows=list(ROWS), writers=("other",), speeds={HASHING.name: SPEED}, **parts)  # type: ignore[arg-type]


async def opened(stage: Stage) -> None:
    await stage.press("escape", "M")
    assert isinstance(stage.app.screen, ModelScreen)
    await stage.seen.heard(ModelsListed)
    await stage.pilot.pause()


def selected(stage: Stage) -> str:
    row = stage.view.models.row
    return "" if row is None else row.entry.name


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 50)])
async def test_it_lists_what_there_is_by_kind_with_what_is_in_use_and_why(size: tuple[int, int]) -> None:
    async with running(backend(), size) as stage:
        await opened(stage)
        lines = stage.panel("models-list").splitlines()
        at = {word: i for i, line in enumerate(lines) for word in line.split()}
        assert at["embedders"] < at[HASHING.name] < at["rerankers"] < at["generators"] < at[QWEN.name]
        of = {row.entry.name: next(line for line in lines if f" {row.entry.name}" in line) for row in ROWS}
        assert all(("in use" in of[row.entry.name]) == row.in_use for row in ROWS)
        assert "491 MB" in of[QWEN.name] and "apache-2.0" in of[QWEN.name]
        details = stage.panel("models-details")
        for told in (E5.purpose[:30], "GLASSBOX_EMBED_MODEL names no other", "licence MIT", "507 tokens"):
            assert told in " ".join(details.split())
        assert "m measures it" in " ".join(details.split())


async def test_keys_move_by_model_and_by_kind_and_lead_back() -> None:
    async with running(backend()) as stage:
        await opened(stage)
        for keys, name in (
            ("j", HASHING.name), ("tab", LATE_INTERACTION.name), ("tab", SMOLLM2.name), ("G", QWEN.name),
            ("k", "other"), ("shift+tab", LATE_INTERACTION.name), ("g", E5.name), ("up", E5.name),
        ):  # fmt: skip
            await stage.press(keys)
            assert selected(stage) == name, keys
            assert name in stage.panel("models-details")
        await stage.press("q")
        assert isinstance(stage.app.screen, MainScreen)


async def test_a_measurement_goes_on_beside_everything_and_its_figures_arrive() -> None:
    gate = Gate()
    async with running(backend(measure_gate=gate)) as stage:
        await opened(stage)
        await stage.press("j", "m")
        await stage.seen.until(lambda: stage.view.models.step is not None)
        await stage.pilot.pause()
        assert f"measuring {HASHING.name}" in stage.panel("models-heading")
        await stage.press("j", "m")
        assert "one at a time" in stage.panel("models-notice")
        await stage.press("escape", "slash")
        await stage.ask("rrf")  # a search does not wait for it
        gate.opened.set()
        await stage.seen.heard(Measured)
        await stage.pilot.pause()
        assert f"{HASHING.name} was measured" in stage.panel("notice")
        await opened(stage)
        await stage.press("g", "j")
        details = " ".join(stage.panel("models-details").split())
        assert "2.5 ms a query, 31 ms a passage" in details
        assert "memory 412 MB" in details
        assert "measured 2026-11-30 20:25" in details


async def test_a_measurement_can_be_stopped_and_another_begun() -> None:
    gate = Gate()
    async with running(backend(measure_gate=gate)) as stage:
        await opened(stage)
        await stage.press("j", "m")
        await stage.seen.until(gate.reached.is_set)
        await stage.press("S")
        gate.opened.set()
        await stage.seen.heard(Measured)
        await stage.pilot.pause()
        assert stage.view.models.measuring == ""
        assert stage.view.models.rows[1].speed is None
        await stage.press("m")
        await stage.seen.until(lambda: stage.view.models.rows[1].speed is not None)


async def test_what_cannot_be_measured_says_why() -> None:
    broken = backend()
    broken.speeds = {HASHING.name: GlassboxError("hashing could not be measured: it burnt down")}
    async with running(broken) as stage:
        await opened(stage)
        await stage.press("j", "m")
        await stage.seen.heard(Measured)
        await stage.pilot.pause()
        assert "it burnt down" in stage.panel("models-details")
        await stage.press("G", "m")
        assert f"models pull {QWEN.name}" in stage.panel("models-notice")


async def test_a_generator_is_used_at_once() -> None:
    scripted = backend()
    async with running(scripted) as stage:
        await opened(stage)
        await stage.press("G", "k", "enter")
        await stage.seen.until(lambda: stage.view.models.rows[4].in_use)
        await stage.pilot.pause()
        assert scripted.used == ["other"]
        assert "other writes from now on" in stage.panel("models-notice")
        await stage.press("k", "enter")
        await stage.seen.until(lambda: sum(isinstance(e, ModelUsed) for e in stage.seen.events) == 2)
        await stage.pilot.pause()
        assert f"{SMOLLM2.name} cannot write" in stage.panel("models-notice")


async def test_what_is_not_here_says_how_to_get_it_and_under_which_licence() -> None:
    async with running(backend()) as stage:
        await opened(stage)
        await stage.press("G", "enter")
        notice = stage.panel("models-notice")
        assert f"models pull {QWEN.name}" in notice and "licence apache-2.0" in notice


async def test_another_embedder_is_written_into_the_config_file_if_one_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("# mine\n[settings]\ntop_k = 12\n")
    monkeypatch.setenv("GLASSBOX_CONFIG", str(config))
    async with running(backend()) as stage:
        await opened(stage)
        await stage.press("j", "enter")
        assert "embedded anew" in stage.screen()
        await stage.press("escape")
        assert config.read_text() == "# mine\n[settings]\ntop_k = 12\n"
        await stage.press("enter", "enter")
        assert tomllib.loads(config.read_text())["settings"] == {"top_k": 12, "embed_model": "hashing"}
        assert "from the next start on" in " ".join(stage.panel("models-notice").split())


async def test_the_environment_decides_where_it_speaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("GLASSBOX_CONFIG", str(config))
    monkeypatch.setenv("GLASSBOX_EMBED_MODEL", "bundled")
    async with running(backend()) as stage:
        await opened(stage)
        await stage.press("j", "enter")
        assert "GLASSBOX_EMBED_MODEL is set in the environment" in stage.panel("models-notice")
    assert not config.exists()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_names_and_paths_cannot_draw_on_the_screen(size: tuple[int, int]) -> None:
    evil = "[/]\x1b[2J\u202e\x07evil"
    entry = replace(QWEN, name=evil, licence=evil, purpose=evil, source=evil)
    scripted = ScriptedBackend(rows=[ModelRow(entry, True, True, f"in use: {evil}", f"/{evil}")], models_notice=evil)
    async with running(scripted, size) as stage:
        await opened(stage)
        screen = stage.screen()
        assert not set(screen) & {"\x1b", "\x07", "\u202e"}
        assert "[/]" in screen


async def test_the_list_speaks_chinese() -> None:
    speak("zh")
    try:
        async with running(backend(), (80, 24)) as stage:
            await opened(stage)
            assert "嵌入模型" in stage.panel("models-list")
            assert "没有指定别的" in stage.panel("models-details")
    finally:
        speak("en")


async def test_help_and_hints_are_of_this_screen() -> None:
    async with running(backend(), (120, 40)) as stage:
        await opened(stage)
        assert "measure" in stage.panel("models-hints")
        await stage.press("question_mark")
        assert isinstance(stage.app.screen, HelpScreen)
        assert "measure its speed and memory here" in stage.screen()


def test_each_key_of_the_screen_is_of_one_command() -> None:
    keys = [key for c in COMMANDS if MODELS in c.where for key in c.keys.split(",")]
    assert len(keys) == len(set(keys))
