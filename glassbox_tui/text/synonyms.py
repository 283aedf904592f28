"""A person's own synonyms: what their file says, and which words of a question it speaks of. Pure.

    car, automobile, 汽车
    k8s => kubernetes, container orchestration
    # a comment

Words between commas mean the same; behind an arrow stands what the words before it also mean, and not the other way.
An entry may be a phrase. Case, width and English endings do not matter. The file is text: nothing in it is obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from glassbox_tui.text.normalize import fold, fold_spans, source_span
from glassbox_tui.text.tokens import terms

LARGEST = 200_000  # characters that are read: some seconds' work at most, and more than anybody writes by hand
LONGEST_LINE = 2_000  # characters
LONGEST_ENTRY = 80  # characters
TOLD = 3  # bad lines that are told one by one

_comma = re.compile(r"[,，、;；]")
_quotes = "\"'“”„「」『』«»＂ "
_marks = f"-－–—{_quotes}"
_arrow = re.compile(r"=>|->|→")
_unit = re.compile(
    "[\u3005\u3007\u3040-\u30ff\u3105-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
    "|(?:(?![\u3005\u3007\u3040-\u30ff\u3105-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff])\\w)+"
)

_Key = tuple[str, ...]


class Known(NamedTuple):
    """A word or phrase of a question that the file speaks of, with its span, and what it also means."""

    word: str
    start: int
    end: int
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synonyms:
    """What a file says: entry (as a tuple of units, see `_units`) -> what it also means; and its bad lines."""

    entries: Mapping[_Key, tuple[str, ...]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def longest(self) -> int:
        return max(map(len, self.entries), default=0)


NONE = Synonyms()


def parse_synonyms(text: str) -> Synonyms:
    """The synonyms in `text`. A line that cannot be used is left out and told in `faults`, with its number."""
    entries: dict[_Key, dict[str, None]] = {}
    faults: list[str] = []
    for number, line in enumerate(text[:LARGEST].splitlines(), start=1):
        said = line.strip().lstrip("\ufeff")
        if not said or said.startswith("#"):
            continue
        why = _read(said, entries)
        if why:
            faults.append(f"line {number} {why}")
    if len(text) > LARGEST:
        faults.append(f"what stands behind the first {LARGEST:,} characters is not read")
    if len(faults) > TOLD:
        faults = [*faults[:TOLD], f"{len(faults) - TOLD} more lines cannot be used"]
    return Synonyms({key: tuple(others) for key, others in entries.items()}, tuple(faults))


def spoken_of(question: str, synonyms: Synonyms) -> tuple[Known, ...]:
    """The words and phrases of `question` that the file speaks of, the longest at each place, from the left."""
    if not synonyms.entries:
        return ()
    units, found, at, longest = list(_units(question)), list[Known](), 0, synonyms.longest
    while at < len(units):
        for size in range(min(longest, len(units) - at), 0, -1):
            others = synonyms.entries.get(tuple(key for key, _, _ in units[at : at + size]))
            if others:
                start, end = units[at][1], units[at + size - 1][2]
                found.append(Known(question[start:end], start, end, others))
                at += size - 1
                break
        at += 1
    return tuple(found)


def _read(line: str, entries: dict[_Key, dict[str, None]]) -> str:
    """Take a line in; why that cannot be done, "" if it can."""
    if len(line) > LONGEST_LINE:
        return f"has more than {LONGEST_LINE} characters"
    sides = _arrow.split(line)
    if len(sides) > 2:
        return "has more than one arrow"
    # A dash or a quotation mark before a word would make a condition of it where it is searched for.
    words = [[" ".join(word.split()).lstrip(_marks).rstrip(_quotes) for word in _comma.split(side)] for side in sides]
    words = [[word for word in side if word] for side in words]
    if any(len(word) > LONGEST_ENTRY for side in words for word in side):
        return f"has an entry of more than {LONGEST_ENTRY} characters"
    if len(words) == 2 and not (words[0] and words[1]):
        return "has nothing on one side of the arrow"
    if len(words) == 1 and len(words[0]) < 2:
        return "names one word and no other"
    keys = {word: _key(word) for side in words for word in side}
    for word in words[0]:
        key = keys[word]
        if not key:
            return f"has an entry without a letter or digit, {word!r}"
        others = words[-1]
        entries.setdefault(key, {}).update((other, None) for other in others if keys[other] not in ((), key))
    return ""


def _key(word: str) -> _Key:
    return tuple(key for key, _, _ in _units(word))


def _units(text: str) -> Iterator[tuple[str, int, int]]:
    """Words by their stems, Chinese characters one by one, each with its span."""
    folded, offsets = fold_spans(text)
    for match in _unit.finditer(folded):
        word = match.group()
        stem = next(iter(terms(word)), word) if len(word) > 1 and word.isascii() and word.isalpha() else word
        yield fold(stem), *source_span(offsets, *match.span())
