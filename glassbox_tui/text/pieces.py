"""What of a text carries its subject: words, values, emoji, and CJK between function words, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import islice

from glassbox_tui.text import patterns
from glassbox_tui.text.patterns import CJK, HAN, HANGUL, PICTURE, RUN
from glassbox_tui.text.values import normal_values
from glassbox_tui.text.word_terms import word_terms
from glassbox_tui.text.words import CONTENT_WORDS, FUNCTION_WORDS

_alone = re.compile(f"[{HAN}{HANGUL}]")  # scripts in which one character is a word
_single = re.compile(f"[{HAN}{HANGUL}]|(?<![{CJK}])[{CJK}](?![{CJK}])")

_breaks = re.compile(
    "|".join(
        f"({word})" if word in FUNCTION_WORDS else word
        for word in sorted(FUNCTION_WORDS | CONTENT_WORDS, key=lambda word: (-len(word), word))
    ).replace(")|(", "|")
)


class PieceKind(Enum):
    """What a piece is."""

    WORD = auto()
    RUN = auto()
    VALUE = auto()
    EMOJI = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """normal[start:end] and the index terms that say it, by what they are in it.

    `wholes` are alternatives (a stem; the readings of a date); `parts` hold the piece together (the pairs of a run, the
    words in src/app.py).
    """

    kind: PieceKind
    start: int
    end: int
    wholes: tuple[str, ...]
    parts: tuple[str, ...] = ()


def pieces(normal: str, min_token_len: int = 1) -> list[Piece]:
    """The pieces of a text as `folding.readable` gives it, by start. Stop words and function words are none.

    A value stands for all that its span covers: its words, the CJK characters of a date.
    """
    readings: dict[tuple[int, int], list[str]] = {}
    for value in normal_values(normal):
        if value.end - value.start >= min_token_len:
            readings.setdefault((value.start, value.end), []).append(value.term)
    found = [Piece(PieceKind.VALUE, *span, tuple(dict.fromkeys(terms))) for span, terms in readings.items()]
    spans, done = list(readings), 0
    for match in patterns.token.finditer(normal):
        begin, end = match.span()
        while done < len(spans) and spans[done][1] <= begin:
            done += 1
        taken: list[tuple[int, int]] = []
        for span in islice(spans, done, None):
            if span[0] >= end:
                break
            taken.append(span)
        if match.lastindex == RUN:
            found += _runs(normal, begin, end, taken)
        elif match.lastindex == PICTURE:
            found.append(Piece(PieceKind.EMOJI, begin, end, (match.group(),)))
        else:
            found += _words(match.group(), begin, taken, min_token_len)
    return sorted(found, key=lambda piece: piece.start)


def content_runs(run: str) -> Iterator[str]:
    """What a CJK run holds between function words."""
    for start, stop in _between(run):
        yield run[start:stop]


def _runs(normal: str, begin: int, end: int, taken: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """What is left of a CJK run between values and function words; no lone kana, which is no term."""
    at = begin
    for start, after in [*taken, (end, end)]:
        for a, b in _between(normal[at : max(at, start)]):
            run = normal[at + a : at + b]
            if len(run) > 1 or _single.match(normal, at + a):
                pairs = tuple(dict.fromkeys(run[i : i + 2] for i in range(len(run) - 1)))
                yield Piece(PieceKind.RUN, at + a, at + b, () if pairs else (run,), pairs)
        at = min(max(at, after), end)


def _words(word: str, begin: int, taken: Sequence[tuple[int, int]], min_token_len: int) -> Iterator[Piece]:
    """A word, whole and by its parts; of a word that holds a value, the parts beside it."""
    parts = [(term, begin + a, begin + b) for term, a, b in word_terms(word) if b - a >= min_token_len]
    beside = [part for part in parts if not any(part[1] < after and start < part[2] for start, after in taken)]
    if not beside:
        return
    start, end = min(part[1] for part in beside), max(part[2] for part in beside)
    wholes = [term for term, a, b in beside if (a, b) == (start, end)]
    rest = [term for term, a, b in beside if (a, b) != (start, end)]
    yield Piece(PieceKind.WORD, start, end, tuple(dict.fromkeys(wholes)), tuple(dict.fromkeys(rest)))


@lru_cache(maxsize=32768)
def is_word(char: str) -> bool:
    """Is one character of this script a word by itself?"""
    return _alone.match(char) is not None


def _between(run: str) -> Iterator[tuple[int, int]]:
    done = 0
    for match in _breaks.finditer(run):
        if match.lastindex:
            if match.start() > done:
                yield done, match.start()
            done = match.end()
    if done < len(run):
        yield done, len(run)
