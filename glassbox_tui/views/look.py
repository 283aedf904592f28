"""What a terminal can draw, and how wide: the three looks, and the measure that goes with the second.

`unicode`: box lines and the rest, for terminals that draw characters of ambiguous East Asian width (UAX #11: "A", as
the box lines and the ellipsis) one cell wide. `wide`: for CJK terminals that draw those two cells wide; our own drawing
then uses none of them, and those in the notes are counted as two. `ascii`: our own drawing is ASCII.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from typing import Literal

import rich.cells
from rich._unicode_data import load as _usual_table
from rich.cells import CellTable

Look = Literal["unicode", "wide", "ascii"]
LOOKS: tuple[Look, ...] = ("unicode", "wide", "ascii")


def look_of(*, ascii: bool, ambiguous_wide: bool = False) -> Look:
    """The look for a terminal: ASCII where nothing else can be drawn."""
    return "ascii" if ascii else "wide" if ambiguous_wide else "unicode"


def ellipsis(look: Look) -> str:
    """The mark where text was cut, one cell wide."""
    return "…" if look == "unicode" else "~"


def arrows(look: Look) -> tuple[str, str]:
    """(rose, fell). The small triangles are of neutral width, unlike the large ones and the arrows."""
    return ("^", "v") if look == "ascii" else ("▴", "▾")


def levels(look: Look) -> tuple[str, str, str, str]:
    """Four bars from low to high, each one cell wide. Braille is of neutral width, block elements are not."""
    return ("_", "-", "=", "#") if look == "ascii" else ("⣀", "⣤", "⣶", "⣿")


@contextmanager
def measuring(look: Look) -> Iterator[None]:
    """Inside, rich and textual measure text as a terminal of this look draws it.

    They have no setting for ambiguous characters, so their table of widths is exchanged for one that has them at two
    cells, for the whole process: a process has one terminal.
    """
    if look != "wide":
        yield
        return
    names = vars(rich.cells)
    exchanged = {"load_cell_table": _wide_table, "_is_single_cell_widths": str.isascii}
    before = {name: names[name] for name in exchanged}
    names.update(exchanged)
    _forget()
    try:
        yield
    finally:
        names.update(before)
        _forget()


def _forget() -> None:
    rich.cells.get_character_cell_size.cache_clear()
    rich.cells.cached_cell_len.cache_clear()


# Where characters of ambiguous width are (UAX #11); the rest of Unicode is not searched, which would take long.
_PLANES = ((0xA0, 0x3400), (0xE000, 0x10000), (0x1F100, 0x1F200))


@lru_cache(maxsize=4)
def _wide_table(unicode_version: str = "auto") -> CellTable:
    usual = _usual_table(unicode_version)
    rows = list(usual.widths)
    known = {code for start, end, _ in rows for code in range(start, end + 1) if code < _PLANES[-1][1]}
    wide = [
        code
        for start, end in _PLANES
        for code in range(start, end)
        if unicodedata.east_asian_width(chr(code)) == "A" and code not in known
    ]
    for _, run in groupby(enumerate(wide), key=lambda p: p[1] - p[0]):
        codes = [code for _, code in run]
        rows.append((codes[0], codes[-1], 2))
    return CellTable(usual.unicode_version, sorted(rows), usual.narrow_to_wide)
