"""Colour themes. Everything is drawn in the terminal's sixteen colours; a theme says what becomes of them at the end.

One filter over finished lines, so no widget and no draw function knows of themes. Meaning never hangs on a colour
alone: words, signs, bold, reverse and underline carry it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

NAMES = ("terminal", "16", "mono", "dark", "light")
_WORDS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
SIXTEEN = (*_WORDS, *(f"bright_{word}" for word in _WORDS))  # by their numbers

# Restrained: one ink, one paper, and accents of about the same weight. Every ink has a contrast of 4.5 to its paper.
_DARK = {
    "paper": "#1c1e22", "ink": "#d4d4cf", "faint": "#8f949c",
    "black": "#1c1e22", "red": "#e2777a", "green": "#9dbd7b", "yellow": "#dcb36a",
    "blue": "#82a5d1", "magenta": "#bf97c9", "cyan": "#76b5b2", "white": "#d4d4cf",
    "bright_black": "#8f949c", "bright_red": "#f0908f", "bright_green": "#b3d191", "bright_yellow": "#ebc784",
    "bright_blue": "#9dbbe2", "bright_magenta": "#d3afdc", "bright_cyan": "#91cbc8", "bright_white": "#f4f4ef",
}  # fmt: skip
_LIGHT = {
    "paper": "#fbfaf6", "ink": "#2d2f33", "faint": "#6b6f76",
    "black": "#2d2f33", "red": "#b3312f", "green": "#44711f", "yellow": "#8a5d00",
    "blue": "#2d5fa5", "magenta": "#874496", "cyan": "#1a6f6d", "white": "#5c6067",
    "bright_black": "#6b6f76", "bright_red": "#c02f2c", "bright_green": "#437623", "bright_yellow": "#8f6100",
    "bright_blue": "#2f67b5", "bright_magenta": "#8f4aa0", "bright_cyan": "#1b7371", "bright_white": "#1a1b1e",
}  # fmt: skip


_StyleMap = Callable[[Style], Style]


class ThemeFilter(LineFilter):
    """`style` maps each style of a finished line to the theme's."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._style = _MAPS[name]

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.control else Segment(segment.text, self._style(segment.style or _PLAIN) or None)
            for segment in segments
        ]


def filters(name: str) -> list[LineFilter]:
    """What to apply to every finished line under this theme: nothing for the terminal's own colours."""
    return [] if name == "terminal" else [ThemeFilter(name)]


def chosen(name: str, *, no_color: bool, given: bool) -> str:
    """The theme in force. NO_COLOR asks for no colour at all, unless a theme was chosen expressly (`given`)."""
    return "mono" if no_color and not given else name


_PLAIN = Style()


@lru_cache(1024)
def _mono(style: Style) -> Style:
    return Style(
        bold=style.bold or None,
        dim=style.dim or None,
        italic=style.italic or None,
        underline=style.underline or None,
        reverse=style.reverse or None,
        strike=style.strike or None,
    )


@lru_cache(1024)
def _sixteen(style: Style) -> Style:
    """White on black, said outright; nothing dim or bright black, which many sixteen-colour terminals cannot show."""
    ink = _named(style.color)
    ink = "white" if ink in (None, "bright_black", "black") else ink
    return _with(style, ink, _named(style.bgcolor) or "black")


def _truecolour(palette: Mapping[str, str]) -> _StyleMap:
    @lru_cache(1024)
    def mapped(style: Style) -> Style:
        ink, paper = _named(style.color), _named(style.bgcolor)
        # Reversed, the ink is what one reads on: it stays strong.
        fore = palette["faint" if style.dim and not style.reverse else ink or "ink"]
        return _with(style, fore, palette[paper or "paper"])

    return mapped


def _with(style: Style, ink: str | None, paper: str) -> Style:
    return _mono(style) + Style(color=ink, bgcolor=paper, dim=False)


def _named(color: RichColor | None) -> str | None:
    """The name of one of the sixteen; None for the default, and for what is none of them (nothing of ours is)."""
    if color is None or color.type is ColorType.DEFAULT or color.number is None or color.number > 15:
        return None
    return SIXTEEN[color.number]


_MAPS: Mapping[str, _StyleMap] = {
    "16": _sixteen,
    "mono": _mono,
    "dark": _truecolour(_DARK),
    "light": _truecolour(_LIGHT),
}
