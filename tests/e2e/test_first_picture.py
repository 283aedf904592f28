"""The picture before the toolkit is loaded: there at once, and whatever goes wrong then gives the terminal back."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from terminal import Terminal

ROOT = Path(__file__).parents[2]
# The program, with the toolkit out of reach: what it does then is all it does before.
WITHOUT = """
import builtins, sys, signal
real = builtins.__import__
def refuse(name, *rest, **more):
    if name.partition(".")[0] == "textual":
        {then}
    return real(name, *rest, **more)
builtins.__import__ = refuse
from glassbox_tui.cli import main
sys.exit(main([{notes!r}]))
"""
RAISE = 'raise KeyboardInterrupt("no toolkit")'
WAIT = "signal.pause()"


def start(tmp_path: Path, then: str, size: tuple[int, int] = (80, 24)) -> Terminal:
    notes = tmp_path / "my \x1b]0;notes\x07"
    notes.mkdir()
    env = {**os.environ, "GLASSBOX_DATA": str(tmp_path / "data"), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    code = WITHOUT.format(then=then, notes=str(notes))
    return Terminal([sys.executable, "-c", code], env, size=size, cwd=ROOT)


@pytest.mark.parametrize(("size", "row"), [((80, 24), 1), ((120, 40), 2)])
def test_the_program_and_the_folder_are_on_screen_before_the_toolkit(
    tmp_path: Path, size: tuple[int, int], row: int
) -> None:
    app = start(tmp_path, WAIT, size)
    try:
        app.until(r"^ glassbox  /")
        app.type("wor")  # the terminal itself echoes it where the query will be
        app.until(lambda: "wor" in app.text.split("\n")[row])
        assert b"\x1b]0;" not in app.sent
    finally:
        app.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_a_signal_then_gives_the_terminal_back(tmp_path: Path, number: signal.Signals) -> None:
    app = start(tmp_path, WAIT)
    app.until(r"^ glassbox  /")
    app.signal(number)
    assert app.ended() == 128 + number
    assert app.sent.endswith(b"\x1b[?1049l")
    assert app.modes() == app.modes_before


def test_so_does_whatever_ends_the_program_then(tmp_path: Path) -> None:
    app = start(tmp_path, RAISE)
    app.ended()
    assert app.sent.count(b"\x1b[?1049h") == app.sent.count(b"\x1b[?1049l") == 1
    assert "Traceback" not in app.text
