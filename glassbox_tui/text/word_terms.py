"""The terms of one word that is no CJK run: its stem, or, when it is made of parts, itself whole and each part.

A word with accents is a term as it is and, stemmed, as it is typed without them; a value in it (`values.py`) is one in
its canonical form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from glassbox_tui.text import patterns
from glassbox_tui.text.folding import fold_word, without_accents
from glassbox_tui.text.patterns import LETTER, MARK
from glassbox_tui.text.values import word_values
from glassbox_tui.text.words import ACRONYMS, CLITICS, ENGLISH_STOP_WORDS

LONGEST_TERM = 128  # characters; a longer term is cut there, in notes and queries alike
LONGEST_CACHED = 48  # longer words hardly ever come twice

Parts = tuple[tuple[str, int, int], ...]  # term and its span within the word

_ascii_piece = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_other_piece = re.compile(f"(?:(?!_){LETTER}|{MARK})+")
# camelCase, HTTPServer, python3: where a word has seams without a mark
_seam = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{2}\d|\d[A-Za-z]{2}|_|[+#'’]")
_all_hex = re.compile(r"[a-f]{7,64}")
_thousands = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])")


def word_terms(word: str) -> Parts:
    """The terms of one word with their spans in it: the whole first, then its parts; none for a stop word."""
    return _cached(word) if len(word) <= LONGEST_CACHED else split(word)


def split(word: str, stems: bool = True, stop_words: bool = True) -> Parts:
    """`word_terms`, without stems or with all words where that is asked for."""
    if word.islower() and word.isalpha() and word.isascii():
        term = _term(word, stems, stop_words)
        plain = ((term, 0, len(word)),) if term else ()
        # No digit in it: it may be a word, or the beginning of a hash.
        return (*plain, (f"hash={word[:7]}", 0, len(word))) if _all_hex.fullmatch(word) else plain
    found: dict[tuple[str, int, int], None] = {}
    atoms = [(match.group(), *match.span()) for match in patterns.atom.finditer(word)]
    for atom, start, end in atoms:
        _add(found, atom, start, end, stems, stop_words)
        if _seam.search(atom) and not _is_contraction(atom):
            for piece in (_ascii_piece if atom.isascii() else _other_piece).finditer(atom):
                _add(found, piece.group(), start + piece.start(), start + piece.end(), stems, stop_words)
    if found and (len(atoms) > 1 or atoms[0][0] != word):
        found = {(_whole(word), 0, len(word)): None, **found}
    parts = (*found, *_value_parts(word, {term for term, _, _ in found}))
    return tuple(sorted(parts, key=lambda part: (part[1], -part[2])))


_cached = lru_cache(maxsize=65536)(split)


@lru_cache(maxsize=65536)
def cached_terms(word: str) -> tuple[str, ...]:
    """The terms alone of a word of at most LONGEST_CACHED characters: what indexing asks for, over and over."""
    return tuple(term for term, _, _ in split(word))


def _value_parts(word: str, have: Collection[str]) -> Parts:
    """The terms of the values in `word`, unless they are terms of it already."""
    found = ((term, value.start, value.end) for value in word_values(word) for term in value.terms)
    return tuple(dict.fromkeys((term[:LONGEST_TERM], a, b) for term, a, b in found if term not in have))


def _add(
    found: dict[tuple[str, int, int], None], word: str, start: int, end: int, stems: bool, stop_words: bool
) -> None:
    exact = fold_word(word)
    term = _term(word, stems, stop_words)
    if not term:
        return
    found[term, start, end] = None
    if not term.isascii() and (plain := without_accents(exact)) != exact and plain not in ENGLISH_STOP_WORDS:
        found[_stemmed(plain, stems), start, end] = None


def _is_contraction(atom: str) -> bool:
    head, mark, tail = atom.replace("’", "'").rpartition("'")
    return bool(mark) and tail.lower() in CLITICS and head.isalpha()


def _whole(word: str) -> str:
    """The term of a word of several parts: folded, without accents, not stemmed; 1,000 is 1000."""
    low = fold_word(word)
    if "," in low:
        low = _thousands.sub(lambda number: number[0].replace(",", ""), low)
    return (low if low.isascii() else without_accents(low))[:LONGEST_TERM]


def _term(word: str, stems: bool, stop_words: bool) -> str:
    """The term of a word without parts: folded and stemmed; empty for a stop word."""
    low = fold_word(word)
    if stop_words and low in ENGLISH_STOP_WORDS and word not in ACRONYMS:
        return ""
    return _stemmed(low, stems)


def _stemmed(low: str, stems: bool) -> str:
    if stems and low.isascii() and low.replace("'", "").isalpha():
        low = _stemmer()(low)
    return low[:LONGEST_TERM]


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from py_rust_stemmers import SnowballStemmer

    stem: Callable[[str], str] = SnowballStemmer("english").stem_word
    return stem
