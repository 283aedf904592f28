"""What is chosen by key lasts, and never against what the config file or the environment says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from scripted import ScriptedBackend, running

from glassbox_tui.config import Config
from glassbox_tui.settings import Settings
from glassbox_tui.tui.start import started
from glassbox_tui.tui.words import speak


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """The language is the process's."""
    yield
    speak("en")


def look(data: Path, notes: str = "notes", env: Mapping[str, str] = {}, **ui: object) -> tuple[str, str]:
    view = started(data / notes, Settings(data=str(data)), Config(Path(), ui=ui), env).view
    return view.theme, view.language


async def choose_dark_and_chinese(data: Path, **env: str) -> None:
    start = started(data / "notes", Settings(data=str(data)), Config(Path()), env)
    async with running(ScriptedBackend(), view=start.view, at=start.session) as stage:
        await stage.press("escape", "C", *"truecolour, dark", "enter", "L")
        assert (stage.view.theme, stage.view.language) == ("dark", "zh")


async def test_theme_and_language_last_for_every_folder(tmp_path: Path) -> None:
    assert look(tmp_path) == ("terminal", "en")
    await choose_dark_and_chinese(tmp_path)
    assert look(tmp_path) == look(tmp_path, "other") == ("dark", "zh")


async def test_config_file_environment_and_no_color_have_the_last_word(tmp_path: Path) -> None:
    await choose_dark_and_chinese(tmp_path)
    assert look(tmp_path, theme="light", language="en") == ("light", "en")
    assert look(tmp_path, env={"GLASSBOX_THEME": "16", "GLASSBOX_LANG": "en"}) == ("16", "en")
    assert look(tmp_path, env={"NO_COLOR": "1"}) == ("mono", "zh")
    assert look(tmp_path, env={"LANG": "en_US.UTF-8"}) == ("dark", "zh")  # a locale is no choice of the app's language


async def test_who_starts_afresh_keeps_nothing(tmp_path: Path) -> None:
    await choose_dark_and_chinese(tmp_path, GLASSBOX_RESTORE="0")
    assert look(tmp_path) == ("terminal", "en")


@pytest.mark.parametrize("raw", ['{"theme": "pink", "language": 3}', "[" * 100_000, '{"theme"'])
def test_a_file_of_another_making_chooses_nothing(tmp_path: Path, raw: str) -> None:
    (tmp_path / "look.json").write_text(raw)
    assert look(tmp_path) == ("terminal", "en")
