"""The notes browser and another folder, in a real terminal with the real engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
ESCAPE, ENTER, TAB, CTRL_C = "\x1b", "\r", "\t", "\x03"
HOSTILE = "evil\x1b]0;owned\x07\x1b[2J\nname.md"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """The app on a small folder, at 80x24 under TERM=xterm."""
    notes, other = tmp_path / "notes", tmp_path / "other"
    (notes / "drinks").mkdir(parents=True)
    other.mkdir()
    (notes / "drinks" / "tea.md").write_text("# Tea\n\nA kettle for tea.\n\n## Water\n\nWater at eighty.\n", "utf-8")
    (notes / "pots.md").write_text("# Pots\n\nA kettle is a pot.\n", "utf-8")
    (notes / HOSTILE).write_text("A kettle, too.\n", "utf-8")
    (notes / ".secret.md").write_text("hidden", "utf-8")
    (other / "dodo.md").write_text("# Dodo\n\nNo kettle here.\n", "utf-8")
    ours = ("GLASSBOX_", "LC_", "LANG", "COLUMNS", "LINES", "TERM")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env |= {
        "GLASSBOX_CONFIG": os.devnull,
        "GLASSBOX_RESTORE": "0",
        "GLASSBOX_DATA": str(tmp_path / "data"),
        "GLASSBOX_EMBED_MODEL": "hashing",
        "GLASSBOX_ANSWERS": "extract",
        "LANG": "C.UTF-8",
        "TERM": "xterm",
    }
    command = [sys.executable, "-m", "glassbox_tui", str(notes)]
    started = Terminal(command, env, size=(80, 24), cwd=ROOT)
    started.until("3 notes")
    yield started
    started.close()


def press(terminal: Terminal, *keys: str) -> None:
    """One key after another, each when the one before has been drawn."""
    for key in keys:
        terminal.until_quiet(0.2)
        terminal.type(key)


def test_browse_narrow_read_search_only_there_and_open_another_folder(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type("kettle")
    terminal.until("pots.md")
    press(terminal, ESCAPE, "n")
    terminal.until("narrow the list")
    terminal.until("hidden file")
    terminal.until("evil\u241b]0;owned")
    press(terminal, "/", *"tea")
    terminal.until("1 note ")
    press(terminal, ENTER, "g", "s")
    terminal.until("searching only in drinks")
    press(terminal, ESCAPE, "q")
    terminal.until("in drinks /")
    terminal.until("tea.md")
    assert "pots.md" not in terminal.text
    terminal.type("N")
    terminal.until("pots.md")
    press(terminal, "D")
    terminal.until("another folder")
    terminal.type(f"{tmp_path}/oth")
    terminal.until("other/")
    press(terminal, TAB, ENTER)
    terminal.until("dodo.md")
    assert "pots.md" not in terminal.text
    terminal.type("D")
    terminal.until("/notes")  # the folder before is among the recent ones
    press(terminal, ESCAPE, CTRL_C)
    assert terminal.ended() == 0
