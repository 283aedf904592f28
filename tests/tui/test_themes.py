"""Themes: every colour that is drawn becomes one of the theme's, readable, and without colour nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest
from rich.color import Color, ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color as TextualColor

from glassbox_tui.config import THEMES
from glassbox_tui.tui.themes import NAMES, SIXTEEN, chosen, filters

PAPER = TextualColor.parse("black")


def drawn(name: str, style: Style | None) -> Style:
    line = [Segment("x", style)]
    for theme in filters(name):
        line = theme.apply(line, PAPER)
    return line[0].style or Style()


def luminance(color: Color) -> float:
    parts = [v / 255 for v in color.get_truecolor()]
    red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_themes_of_the_config_are_the_themes_there_are() -> None:
    assert NAMES == THEMES


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("ink", [None, *SIXTEEN[1:]])  # nothing is drawn in black
@pytest.mark.parametrize("dim", [None, True])
def test_every_ink_can_be_read_on_its_paper(name: str, ink: str | None, dim: bool | None) -> None:
    """WCAG AA: a contrast of 4.5 for text."""
    style = drawn(name, Style(color=ink, dim=dim))
    assert style.color is not None
    assert style.bgcolor is not None
    light, dark = sorted((luminance(style.color), luminance(style.bgcolor)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("ink", "paper", "bold"), list(product((None, "red"), (None, "blue"), (None, True))))
def test_what_does_not_depend_on_colour_stays(ink: str | None, paper: str | None, bold: bool | None, name: str) -> None:
    style = drawn(name, Style(color=ink, bgcolor=paper, bold=bold, reverse=True, underline=True))
    assert (style.bold, style.reverse, style.underline) == (bold, True, True)


def test_mono_has_no_colour_at_all() -> None:
    for ink, dim in product((None, "default", *SIXTEEN), (None, True)):
        style = drawn("mono", Style(color=ink, bgcolor=ink, dim=dim))
        assert (style.color, style.bgcolor, style.dim) == (None, None, dim)


def test_sixteen_is_safe_where_a_terminal_has_only_those() -> None:
    for ink, dim in product((None, "default", *SIXTEEN), (None, True)):
        style = drawn("16", Style(color=ink, dim=dim))
        assert style.color is not None
        assert style.bgcolor == Color.parse("black")
        assert style.color.type is ColorType.STANDARD
        assert style.color.name not in ("bright_black", "black")
        assert not style.dim


def test_the_terminals_own_colours_pass_untouched() -> None:
    assert filters("terminal") == []


def test_no_color_is_honoured_unless_a_theme_was_asked_for() -> None:
    assert chosen("terminal", no_color=True, given=False) == "mono"
    assert chosen("dark", no_color=True, given=True) == "dark"
    assert chosen("dark", no_color=False, given=False) == "dark"


def test_ambiguous_characters_take_two_cells_when_the_option_says_so() -> None:
    """In a process of its own: the measure is the process's. The expected widths are those of Unicode's UAX 11."""
    code = (
        "from glassbox_tui.views.widths import ambiguous_is_wide; ambiguous_is_wide()\n"
        "from rich.text import Text; from rich.cells import cell_len; from textual.strip import Strip\n"
        "from rich.segment import Segment\n"
        "print(*map(cell_len, ('α', '“”', '…', '─', '①', 'a', '中', 'ｱ', '⣿', 'e\\u0301', '한', 'é' * 600)))\n"
        "print(Text('α中a').cell_len, Strip([Segment('—x')]).cell_length)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["2", "4", "2", "2", "2", "1", "2", "1", "1", "1", "2", "1200", "5", "3"]
