"""Columns hold in terminals that do not measure as we do: the same bytes, drawn by several."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from wcwidth import wcwidth

from glassbox_tui.tui.anchors import anchored
from glassbox_tui.views.plain import pad, steady
from glassbox_tui.views.widths import as_the_widest_terminal

Measure = Callable[[str], int]
COLUMNS = 60


def by_the_library(char: str) -> int:
    return wcwidth(char)


def by_the_c_library(char: str) -> int:
    """As glibc, xterm and VTE: spacing marks take a cell."""
    return 1 if unicodedata.category(char) == "Mc" else wcwidth(char)


def years_old(char: str) -> int:
    """Knows no emoji of the last years, and draws their place as one cell."""
    return 1 if "\U0001f6d5" <= char <= "\U0001f6ff" or "\U0001fa70" <= char <= "\U0001faff" else by_the_c_library(char)


def drops_what_it_does_not_know(char: str) -> int:
    return 0 if years_old(char) != by_the_c_library(char) else by_the_c_library(char)


TERMINALS: dict[str, Measure] = {
    f.__name__: f for f in (by_the_library, by_the_c_library, years_old, drops_what_it_does_not_know)
}
HINDI = ["हिन्दी-की", "क्षि", "नोट में", "தமிழ் மொழி", "বাংলা", "ქართული", "ไทยคำ", "မြန်မာ", "ភាសាខ្មែរ"]
EMOJI = ["\U0001fae8face", "a\U0001fa77", "\U0001f6dc", "\U0001f600", "\U0001fac8x", "\u2630", "\u4dc0"]
OTHERS = [
    "渡轮时刻表",
    "Ünï-café",
    "e\u0301clair",
    "plain",
    "\u3164",
    "ｱｲ",
    "\u1112\u1161\u11ab",
    "Жук",
    "\u05d0\u05d1",
]
NAMES = [*HINDI, *EMOJI, *OTHERS]


def row(names: list[str], number: int) -> str:
    """A row of a table as the app draws it: a move, then cells padded to 12 with a bar behind each."""
    return f"\x1b[{number};1H" + "".join(f"\x1b[1m{pad(steady(name), 12)}\x1b[0m|" for name in names)


class Grid:
    """A terminal with a measure of its own: moves, text that does not wrap, nothing else moves its cursor.

    pyte is none for this: it drops what comes behind a mark without a cell.
    """

    def __init__(self, data: str, measure: Measure, lines: int = 8) -> None:
        self.rows = [[" "] * COLUMNS for _ in range(lines)]
        x = y = 0
        for move, other, text in re.findall(r"\x1b\[(\d+;\d+)H|(\x1b\[[^@-~]*[@-~]|\n)|([^\x1b\n])", data):
            if move:
                y, x = (int(n) - 1 for n in move.split(";"))
                x = min(x, COLUMNS - 1)
            elif other == "\n":
                y = min(y + 1, lines - 1)
            elif text:
                x = self._put(text, measure(text), x, y)

    def _put(self, char: str, cells: int, x: int, y: int) -> int:
        if cells <= 0:
            self.rows[y][max(0, x - 1)] += char
            return x
        x = min(x, COLUMNS - cells)
        self.rows[y][x : x + cells] = [char, *[""] * (cells - 1)]
        return x + cells

    def bars(self, line: int) -> list[int]:
        return [x for x, cell in enumerate(self.rows[line]) if cell.startswith("|")]


@pytest.fixture(scope="module", autouse=True)
def measure() -> None:
    as_the_widest_terminal()


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("name", NAMES)
def test_a_border_stands_where_it_belongs_beside_any_name(name: str, terminal: str) -> None:
    data = anchored(row([name, "plain", name], 1) + row(["a", name, "b"], 2))
    screen = Grid(data, TERMINALS[terminal])
    assert screen.bars(0) == screen.bars(1) == [12, 25, 38]
    assert screen.rows[0][13:18] == list("plain")


@pytest.mark.parametrize("terminal", TERMINALS)
def test_no_character_that_stood_there_before_is_left(terminal: str) -> None:
    for name in NAMES:
        before = row(["#" * 12] * 3, 1)
        screen = Grid(before + anchored(row([name] * 3, 1)), TERMINALS[terminal])
        assert "#" not in "".join(screen.rows[0]), name


@pytest.mark.parametrize("name", HINDI)
def test_no_letter_is_written_over_where_marks_take_a_cell(name: str) -> None:
    screen = Grid(anchored(f"\x1b[1;1H{name} end"), by_the_c_library)
    assert "".join(screen.rows[0]).rstrip() == f"{name} end"


@pytest.mark.parametrize("name", [*HINDI, *OTHERS])
def test_the_measure_is_the_widest_of_them(name: str) -> None:
    assert cell_len(steady(name)) == sum(max(0, by_the_c_library(char)) for char in name) or name == "\u3164"


def test_bytes_that_are_read_as_characters_shift_nothing_either() -> None:
    """A terminal under LC_ALL=C: every byte beyond ASCII is a character of its own."""
    for name in NAMES:
        data = anchored(row([name, "plain", name], 1), ascii_only=True).encode().decode("latin-1")
        screen = Grid(data.translate(dict.fromkeys(range(0x80, 0xA0), "?")), wcwidth)
        assert screen.bars(0) == [12, 25, 38]
        assert not screen.bars(1)


PIECES = st.sampled_from(
    [*NAMES, "ab ", "中", "│", "\x1b[1m", "\x1b[0m", "\x1b[3;7H", "\x1b[2;40H", "\x1b[K", "\n", "\x1b[A"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_terminal_that_measures_as_we_do_draws_the_same(data: str) -> None:
    assert Grid(anchored(data), cell_len).rows == Grid(data, cell_len).rows


@pytest.mark.parametrize("data", ["plain \x1b[1;1Hascii", "\x1b[2;3H渡轮时刻表 é ñ Ж │─ ⣿ ▴ “…”", "हि before any move"])
def test_what_every_terminal_measures_alike_costs_no_byte(data: str) -> None:
    assert anchored(data) == data
