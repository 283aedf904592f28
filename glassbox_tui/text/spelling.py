"""Near words: what somebody may have meant who typed a word that no text holds.

The distance is the restricted Damerau-Levenshtein distance (optimal string alignment): insertions, deletions,
substitutions and swaps of neighbours count one each. rapidfuzz computes it over the words of nearly the same length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from glassbox_tui.text.normalize import fold
from glassbox_tui.text.words import ENGLISH_STOP_WORDS

SHORTEST = 4  # letters of a word that is looked for; of four letters only two swapped ones are made good
ONE_EDIT = 5  # letters from which one edit of any kind is allowed
TWO_EDITS = 9  # letters from which two are
LONGEST = 40  # letters; what is longer is no word

_CJK = "\u3005\u3007\u3040-\u30ff\u3105-\u318e\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
# A letter that is written in words with blanks between, and the marks that no composed form has.
_letters = re.compile(f"(?:(?![{_CJK}])[^\\W\\d_]|[\u0300-\u036f])+")
# A word as it is typed, with the marks that join its parts.
_written = re.compile(
    f"(?:(?![{_CJK}])[\\w\u0300-\u036f])(?:(?![{_CJK}])[\\w\u0300-\u036f]|[-./:#+&@'’](?=(?![{_CJK}])\\w))*"
)


class Near(NamedTuple):
    """A word that is near, and how many edits away."""

    word: str
    distance: int


@dataclass(frozen=True, slots=True)
class WordList:
    """Words that texts hold, folded: in how many texts each stands, and the words by their length."""

    counts: Mapping[str, int]
    by_length: Mapping[int, Sequence[str]]

    def __contains__(self, word: str) -> bool:
        return word in self.counts


class Written(NamedTuple):
    """A word of a question with its span. `code`: it has a digit or a mark inside, or is all capitals."""

    text: str
    start: int
    end: int
    code: bool


def word_list(counts: Mapping[str, int]) -> WordList:
    """`counts` with its words sorted by length."""
    by_length: dict[int, list[str]] = {}
    for word in sorted(counts):
        by_length.setdefault(len(word), []).append(word)
    return WordList(counts, by_length)


def words_in(text: str) -> set[str]:
    """The words of letters in `text`, folded, each once; no Chinese, no digits."""
    return {word for word in _letters.findall(fold(text)) if 1 < len(word) <= LONGEST}


def written(question: str) -> tuple[Written, ...]:
    """The words of a question as they are typed. `well-known` is two words, DEC-0054 and src/app.py are codes."""
    found: list[Written] = []
    for match in _written.finditer(question):
        word = match.group()
        if fold(word).replace("’", "'") in ENGLISH_STOP_WORDS:  # don't: neither `don` nor `t` is a word of the question
            continue
        marks = any(c.isdigit() or c in "_./:#+&@" for c in word)
        if marks or (len(word) > 1 and word.isupper()):
            found.append(Written(word, *match.span(), True))
            continue
        for part in _letters.finditer(word):
            at = match.start() + part.start()
            found.append(Written(part.group(), at, at + len(part.group()), False))
    return tuple(found)


def near_words(word: str, words: WordList) -> tuple[Near, ...]:
    """The words of the list that `word` may stand for, the nearest first.

    Two edits only where one does not do and the first letter is right.
    """
    sought = fold(word)
    if not SHORTEST <= len(sought) <= LONGEST or sought in ENGLISH_STOP_WORDS:
        return ()
    most = 2 if len(sought) >= TWO_EDITS else 1
    near = within(sought, most, words)
    if len(sought) < ONE_EDIT:
        near = tuple(n for n in near if sorted(n.word) == sorted(sought))
    near = tuple(n for n in near if n.word not in ENGLISH_STOP_WORDS and len(n.word) >= SHORTEST)
    one = tuple(n for n in near if n.distance == 1)
    return one or tuple(n for n in near if n.word[0] == sought[0])


def within(word: str, most: int, words: WordList) -> tuple[Near, ...]:
    """The words of the list at a distance of 1 to `most`, by distance, then alphabet."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found: list[Near] = []
    for length in range(len(word) - most, len(word) + most + 1):
        choices = words.by_length.get(length)
        if choices:
            hits = process.extract(word, choices, scorer=OSA.distance, score_cutoff=most, limit=None)
            found += [Near(choice, int(distance)) for choice, distance, _ in hits if distance]
    return tuple(sorted(found, key=lambda near: (near.distance, near.word)))


def splits(word: str, words: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The ways to read `word` as two words that are there, of two letters or more each."""
    sought = fold(word)
    pairs = ((sought[:at], sought[at:]) for at in range(2, len(sought) - 1))
    return tuple((first, second) for first, second in pairs if first in words and second in words)


def as_typed(replacement: str, word: str) -> str:
    """`replacement` with the capitals of `word`: Solbreg becomes Solberg."""
    return replacement[:1].upper() + replacement[1:] if word[:1].isupper() else replacement
