"""Whether a text shows anything: a letter, a digit or a symbol that a person could see."""

from __future__ import annotations

import re
import unicodedata

# By their category letters or symbols, and drawn as nothing: Hangul fillers, and the Braille pattern without a dot.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_WORD = re.compile(r"[^\W_]")


def has_visible(text: str) -> bool:
    """False for white space, punctuation, joiners, soft hyphens, marks and fillers alone. Linear in the text."""
    if any(found[0] not in _BLANK for found in _WORD.finditer(text)):
        return True
    return any(unicodedata.category(char).startswith("S") for char in set(text) - _BLANK)
