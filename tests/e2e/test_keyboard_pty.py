"""The app on keyboards that send what no keyboard should, and with keyword search alone; in a pseudo-terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminal import Terminal
from test_app_pty import ROOT, command, environment, sound

Open = Callable[..., Terminal]
FOCUS_OUT, FOCUS_IN, ESCAPE = b"\x1b[O", b"\x1b[I", b"\x1b"


@pytest.fixture
def open_app(tmp_path: Path) -> Iterator[Open]:
    """The app without a model, so that it is there at once: on one note, as often as asked."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kettle.md").write_text("# Kettle\n\nThe kettle boils at 100 degrees.\n")
    opened: list[Terminal] = []

    def start(*before: str) -> Terminal:
        env = environment(tmp_path / "data") | {"GLASSBOX_DISABLE_DENSE": "1"}
        opened.append(Terminal([*before, *command(str(notes))], env, size=(120, 40), cwd=ROOT))
        opened[-1].until("what is found and how shows while you type")
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


@pytest.mark.parametrize(
    "bytes_",
    [b"\xff", b"\x80\x81\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b[M \x80%", b"\x1b[M\xc3\xa0\xe8"],
    ids=["stray", "several", "half", "surrogate", "mouse past column 95", "mouse that spells a letter"],
)
def test_bytes_that_are_no_utf8_end_nothing_and_the_query_stays(open_app: Open, bytes_: bytes) -> None:
    app = open_app()
    app.type("kettle")
    app.until(r"^│ kettle +│")
    app.send(bytes_)
    if bytes_ == b"\xff":
        app.until("the terminal sent bytes that are no UTF-8: they were left out")
    app.until_quiet(0.3)
    app.type(" boils")
    app.until(r"^│ kettle boils +│", "the query, whole, and what was typed after")
    app.until(r"1/1  kettle\.md:\d")
    app.type("\x03")
    assert app.ended() == 0
    sound(app)


def test_keyword_search_alone_opens_twice_and_answers(open_app: Open) -> None:
    for _ in range(2):
        app = open_app()
        app.type("kettle boils")
        app.until(r"1/1  kettle\.md:\d")
        app.type("\r")
        app.until(r"\[1\]", "the extract")
        app.type("\x03")
        assert app.ended() == 0


# -- focus, and a terminal that is gone --------------------------------------------------------------------------------


def busy(app: Terminal, seconds: float) -> float:
    """The share of one processor that the app takes."""

    def ticks() -> int:
        fields = Path(f"/proc/{app.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return int(fields[11]) + int(fields[12])

    before = ticks()
    app.bytes_within(seconds)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to read the time a process took from")
@pytest.mark.parametrize("key", [ESCAPE, b"\r", b"k", b"\x1b[200~kettle\x1b[201~"], ids=["esc", "enter", "k", "paste"])
def test_a_key_without_focus_in_is_a_key_all_the_same(open_app: Open, key: bytes) -> None:
    """Not every terminal says that it has the focus again: who types is there."""
    app = open_app()
    app.send(ESCAPE)
    app.until_quiet(0.5)
    app.type(":")
    app.until(r"─ commands ─")
    app.send(FOCUS_OUT)
    app.until_quiet(0.3)
    app.send(key)
    app.until_quiet(1.5)  # as long as a key is held for a box that opens, and more
    assert busy(app, 1.0) < 0.5
    if key == ESCAPE:
        assert not app.shows(r"─ commands ─")
    app.type("\x03")
    assert app.ended() == 0
    sound(app)


@pytest.mark.parametrize("before", [(), ("/usr/bin/env", "setsid", "--wait")], ids=["told", "not told"])
@pytest.mark.parametrize("state", [b"", ESCAPE + b":", ESCAPE + b":" + FOCUS_OUT, ESCAPE + b":" + FOCUS_OUT + b"\r"])
def test_a_process_whose_terminal_is_gone_ends(open_app: Open, state: bytes, before: tuple[str, ...]) -> None:
    """`setsid`: it has no controlling terminal, so the kernel tells it nothing when the window closes."""
    if before and shutil.which("setsid") is None:
        pytest.skip("no setsid here")
    app = open_app(*before)
    app.send(state[:1])
    app.until_quiet(0.5)
    app.send(state[1:])
    app.until_quiet(0.5)
    app.hang_up()
    assert app.process.wait(15) != 0
