"""How many cells a character takes, in terminals that draw those of ambiguous East Asian width in two.

Rich and Textual measure by one table; this puts another in its place for the whole process. Own symbols whose width is
ambiguous (lines, ellipses) are not drawn then: `views.look` has the look that goes with it.
"""

from __future__ import annotations

import sys
from functools import cache
from unicodedata import east_asian_width

from rich import cells


def ambiguous_is_wide() -> None:
    """Measure ambiguous characters as two cells from now on, everywhere in this process."""
    cells.load_cell_table = _load  # type: ignore[attr-defined]
    cells._is_single_cell_widths = frozenset(map(chr, (*range(0x20, 0x7F), *range(0x2800, 0x2900)))).issuperset
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()


_original = cells.load_cell_table  # type: ignore[attr-defined]


@cache
def _load(unicode_version: str = "auto") -> cells.CellTable:
    table: cells.CellTable = _original(unicode_version)
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
