"""Fewer bytes, the same picture: both streams are drawn by a terminal emulator and compared cell by cell."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style
from rich.text import Text

from glassbox_tui.tui.lean import lean

COLOURS = ("38;5;39", "48;5;49", "38;2;39;49;1", "38;2;1;2;3;48;2;39;49;7")
RENDITIONS = st.sampled_from(("", "0", "1", "2", "7", "1;2", "39;49", "90;49", "1;7;36;49", "22", "49", *COLOURS)).map(
    lambda params: f"\x1b[{params}m"
)
MOVES = st.tuples(st.integers(1, 6), st.integers(1, 30)).map(lambda at: f"\x1b[{at[0]};{at[1]}H")
OTHERS = st.sampled_from(["\x1b[2J", "\x1b[K", "\x1b[?25l", "\r\n"])
TEXTS = st.text(alphabet="ab 中│m[0;", min_size=1, max_size=6)
RUNS = st.tuples(RENDITIONS, TEXTS).map(lambda run: f"{run[0]}{run[1]}\x1b[0m")


def drawn(data: str) -> list[list[object]]:
    screen = pyte.Screen(30, 6)
    pyte.Stream(screen).feed(data)
    return [[screen.buffer[y][x] for x in range(30)] for y in range(6)]


@given(st.lists(RENDITIONS | MOVES | OTHERS | TEXTS | RUNS, max_size=30).map("".join))
def test_it_draws_what_it_drew_and_leaves_the_terminal_reset(data: str) -> None:
    after = "\x1b[6;1Hx"
    assert drawn(lean(data) + after) == drawn(data + "\x1b[0m" + after)


@given(st.lists(RENDITIONS | MOVES | OTHERS | TEXTS | RUNS, max_size=30).map("".join))
def test_it_is_never_longer_than_a_reset_more(data: str) -> None:
    assert len(lean(data)) <= len(data) + len("\x1b[0m")
    assert lean(lean(data)) == lean(data)


def test_runs_of_one_look_are_told_once() -> None:
    line = Text().append("one ", "bold").append("two ", "bold").append("three", "cyan")
    console = Console(force_terminal=True, color_system="standard", legacy_windows=False)
    with console.capture() as capture:
        for segment in line.render(console):
            console.print(Text(segment.text, segment.style or Style.null()), end="")
    assert lean(capture.get()) == "\x1b[1mone two \x1b[0;36mthree\x1b[0m"


def test_control_strings_pass_as_they_are() -> None:
    clip = "\x1b]52;c;MzE=\x07\x1bPtmux;\x1b\x1b]52;c;MzE=\x07\x1b\\"
    assert lean(clip) == clip
