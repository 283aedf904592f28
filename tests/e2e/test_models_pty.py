"""The models screen in a real terminal with the real engine: look, measure, leave."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
ESCAPE, ENTER, TAB, CTRL_C = "\x1b", "\r", "\t", "\x03"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """The app on one note, at 80x24 under TERM=xterm."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n\nA kettle for tea.\n", "utf-8")
    ours = ("GLASSBOX_", "LC_", "LANG", "COLUMNS", "LINES", "TERM")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env |= {
        "GLASSBOX_CONFIG": str(tmp_path / "config.toml"),
        "GLASSBOX_RESTORE": "0",
        "GLASSBOX_DATA": str(tmp_path / "data"),
        "GLASSBOX_DISABLE_RERANK": "1",
        "LANG": "C.UTF-8",
        "TERM": "xterm",
    }
    (tmp_path / "config.toml").write_text('[settings]\nembed_model = "hashing"\n', "utf-8")
    started = Terminal([sys.executable, "-m", "glassbox_tui", str(notes)], env, size=(80, 24), cwd=ROOT)
    started.until("1 note")
    yield started
    started.close()


def test_look_measure_and_leave(terminal: Terminal) -> None:
    terminal.type(ESCAPE)
    terminal.until_quiet(0.2)
    terminal.type("M")
    terminal.until(r"\* hashing .* in use")
    terminal.until("GLASSBOX_EMBED_MODEL names it")
    terminal.until("not measured here yet: m measures it")
    terminal.type("m")
    terminal.until(r"ms a query, .* ms a passage")
    terminal.until(r"hashing .* ms/query")
    terminal.until_quiet(0.2)
    terminal.type(TAB)
    terminal.until("rerankers")
    terminal.until_quiet(0.2)
    terminal.type("q")
    terminal.until("query|question")
    terminal.until_quiet(0.2)
    terminal.type("/kettle")  # the search is there as before
    terminal.until("tea.md")
    terminal.type(CTRL_C)
    assert terminal.ended() == 0
