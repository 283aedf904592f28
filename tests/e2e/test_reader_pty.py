"""Reading on in a real terminal: an editor at the line and back, the clipboard, a huge note, a note that went away."""

from __future__ import annotations

import base64
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminal import Terminal
from test_app_pty import CTRL_C, ESCAPE, ROOT, command, environment, sound

from glassbox_tui.models.e5 import E5Embedder

# Says what it was given and whether it has the terminal, then does what the key that it reads says.
_EDITOR = """
import os, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
print(f"FAKE EDITOR {[os.isatty(fd) for fd in (0, 1, 2)]} {sys.argv[1:]}", flush=True)
key = os.read(0, 1)
termios.tcsetattr(0, termios.TCSADRAIN, before)
if key == b"w":
    with open(sys.argv[-1], "a") as note:
        note.write("\\nwritten by the editor\\n")
sys.exit(3 if key == b"x" else 0)
"""
BODY = "".join(f"line {i} of the note\n\n" for i in range(1, 40)) + "the zymurgy of storms is written here\n"
NAME = "odd; name $(touch owned) '[red]'.md"

Open = Callable[..., Terminal]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / NAME).write_text(BODY)
    return folder


@pytest.fixture
def editor(tmp_path: Path) -> str:
    program = tmp_path / "fake editor" / "vim"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{_EDITOR}")
    program.chmod(0o755)
    return f"{shlex.quote(str(program))} -x 'two words'"


@pytest.fixture
def open_notes(notes: Path, editor: str, data_dir: Path, e5: E5Embedder) -> Iterator[Open]:
    """Opens the app on the notes with the editor, asks for the one passage, and leaves the query box."""
    opened: list[Terminal] = []

    def start(**more: str) -> Terminal:
        env = environment(data_dir) | {"EDITOR": editor, "VISUAL": "", "TMUX": ""} | more
        app = Terminal(command(str(notes)), env, cwd=ROOT)
        opened.append(app)
        app.until("what is found and how shows while you type")
        app.type("zymurgy")
        app.until(r"^│ 1/\d+  odd; name")
        app.type(ESCAPE)
        app.until_quiet(0.3)  # a letter right behind it would be read as alt and the letter
        return app

    yield start
    for terminal in opened:
        terminal.close()


def test_o_gives_the_terminal_to_the_editor_at_the_line_and_takes_it_back(open_notes: Open, notes: Path) -> None:
    app = open_notes()
    app.type("o")
    app.until("FAKE EDITOR")
    text = " ".join(app.text.split())
    assert "[True, True, True]" in text  # the real terminal, all three
    assert "'-x', 'two words', '+51'" in text  # arguments as they are quoted; the chunk's first line
    assert "".join(f"{str(notes / NAME)!r}]".split()) in "".join(text.split())  # the name, as one word
    app.type("q")  # the editor's key, not the app's
    app.until(r"^│ 1/\d+  odd; name", "the app again, all of it")
    app.until("line 26 of the note")
    assert app.process.poll() is None
    assert sorted(p.name for p in notes.iterdir()) == [NAME]  # nothing in the name was run
    app.type("j")  # keys are the app's again
    app.type(CTRL_C)
    assert app.ended() == 0
    sound(app)


def test_what_the_editor_wrote_is_read_again_in_the_reader(open_notes: Open) -> None:
    app = open_notes()
    app.type("R")
    app.until(r"⣿ the zymurgy of storms is written here")
    app.type("o")
    app.until("FAKE EDITOR")
    app.type("w")
    app.until("this note has changed meanwhile")
    app.type("G")
    app.until(r"written by the editor", "the new text in the reader")
    app.type("q")
    app.until(r"^│ 1/\d+  odd; name")


def test_an_editor_that_fails_is_said_and_ctrl_c_in_it_is_not_ours(open_notes: Open) -> None:
    app = open_notes()
    app.type("o")
    app.until("FAKE EDITOR")
    app.signal(signal.SIGINT)  # what a terminal sends to both when the editor leaves ctrl+c to it
    app.signal(signal.SIGQUIT)  # and ctrl+\\
    app.type("x")
    app.until(r"vim ended with status 3")
    app.until(r"^│ 1/\d+  odd; name")
    assert app.process.poll() is None


@pytest.mark.parametrize("way", ["SIGTERM", "the window closed"])
def test_ending_the_app_while_the_editor_is_open_ends_both(open_notes: Open, way: str) -> None:
    app = open_notes()
    app.type("o")
    app.until("FAKE EDITOR")
    if way == "SIGTERM":
        app.signal(signal.SIGTERM)
        assert app.ended() == 128 + signal.SIGTERM
        sound(app)
    else:
        app.hang_up()
        assert app.ended() == 128 + signal.SIGHUP


def test_the_clipboard_gets_the_chunk_and_no_control_sequence_of_a_note(open_notes: Open, notes: Path) -> None:
    hostile = "zymurgy \x1b]52;c;aGFja2Vk\x07 and \x1b[31mred"
    (notes / NAME).write_text(hostile)
    app = open_notes()
    app.type("y")
    app.until("the chunk's text")
    app.type("c")
    app.until(r"copied the chunk's text; also in \S+copied\.txt")
    sent = re.findall(rb"\x1b\]52;c;([^\x07]*)\x07", app.sent)
    assert [base64.b64decode(s).decode() for s in sent] == [hostile]


def test_a_huge_note_opens_at_once_and_a_note_that_is_gone_says_so(
    open_notes: Open, notes: Path, data_dir: Path, e5: E5Embedder
) -> None:
    app = open_notes()
    (notes / NAME).write_text(BODY + "a log of nothing, 一行日志\n" * 200_000)  # 6 MB
    began = time.monotonic()
    app.type("R")
    app.until(r"⣿ the zymurgy of storms")
    assert time.monotonic() - began < 15.0  # a fraction of a second where nothing else runs
    app.until("this file changed since it was indexed; lines may be off")
    app.type("G")
    app.until(r"^200079 +a log of nothing")
    app.type("q")
    app.until(r"^│ 1/\d+  odd; name")
    (notes / NAME).unlink()
    app.type("R")
    app.until("is gone from")
    app.until(r"this\s+is\s+what\s+was\s+indexed\s+of\s+it")
    app.until(r"⣿ the zymurgy of storms")
    app.type("q")
    app.until(r"^│ 1/\d+  odd; name")
    app.type("o")
    app.until(r"odd; name .* is gone from")
