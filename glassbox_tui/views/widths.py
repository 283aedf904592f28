"""How many cells a character takes: one measure for the whole process, put in place of the one of rich and Textual.

Rich gives the spacing marks of Indian scripts (category Mc) no cell, as some terminals do that draw whole clusters;
xterm, VTE, tmux and every other that asks the C library give them one, as UAX #11 does. We count what the widest
terminal takes: beside a narrower one a gap is left, and nothing is written over.

In terminals that draw characters of ambiguous East Asian width in two cells they can be counted so, too. Own symbols
whose width is ambiguous (lines, ellipses) are not drawn then: `views.look` has the look that goes with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from unicodedata import category, east_asian_width

from rich import cells

# Letters that are blank: rich gives them no cell, the C library those of their block.
_FILLERS = {0x3164: 2, 0xFFA0: 1}


def as_the_widest_terminal() -> None:
    """Measure spacing marks as a cell of their own from now on, everywhere in this process."""
    if cells.load_cell_table not in (_load, _load_wide):  # type: ignore[attr-defined]
        _install(_load)


def ambiguous_is_wide() -> None:
    """The same, and ambiguous characters as two cells."""
    cells._is_single_cell_widths = frozenset(map(chr, (*range(0x20, 0x7F), *range(0x2800, 0x2900)))).issuperset
    _install(_load_wide)


def _install(load: Callable[[str], cells.CellTable]) -> None:
    cells.load_cell_table = load  # type: ignore[assignment,attr-defined]
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()


_original = cells.load_cell_table  # type: ignore[attr-defined]


@cache
def _load(unicode_version: str = "auto") -> cells.CellTable:
    table: cells.CellTable = _original(unicode_version)
    return table._replace(widths=[span for listed in table.widths for span in _spaced(*listed)])


def _spaced(first: int, last: int, width: int) -> Iterator[tuple[int, int, int]]:
    """A range of the table, cut where a character in it takes more cells than the table gives it."""
    if width:
        yield first, last, width
        return
    start = first
    for code in range(first, last + 1):
        own = _FILLERS.get(code, 1 if category(chr(code)) == "Mc" else 0)
        if own:
            if start < code:
                yield start, code - 1, 0
            yield code, code, own
            start = code + 1
    if start <= last:
        yield start, last, 0


@cache
def _load_wide(unicode_version: str = "auto") -> cells.CellTable:
    table = _load(unicode_version)
    wide = [(code, code, 2) for code in _ambiguous() if not _listed(table, code)]
    return table._replace(widths=sorted([*table.widths, *wide]))


def _ambiguous() -> list[int]:
    # Private use is ambiguous, too: terminals draw it narrow.
    return [
        code
        for code in range(0xA0, 0x20000)
        if east_asian_width(chr(code)) == "A" and not 0xE000 <= code <= 0xF8FF and code <= sys.maxunicode
    ]


def _listed(table: cells.CellTable, code: int) -> bool:
    """Whether the table gives the character a width of its own (combining marks: 0)."""
    return any(start <= code <= end for start, end, _ in table.widths if start <= code)
