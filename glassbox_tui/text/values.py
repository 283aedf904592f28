"""One value, many spellings: dates, numbers, grouped digits, versions, hashes and numbered clauses of a text.

Each has one canonical form, which is an index term, so that 16.1.2024 finds 2024-01-16 and 1.000,20 finds 1000.20. A
value's term is written kind=form; "=" joins no word, so no word is taken for one. Where the form is a word that anybody
may type (1000 for 1,000; 2.0.1 for v2.0.1), that word itself is the term.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from glassbox_tui.text.dates import MONTH_WORDS, chinese_dates, named_dates, word_dates
from glassbox_tui.text.digits import LONGEST, SHORTEST, loose_digits, may_be_loose, tail, word_digits
from glassbox_tui.text.folding import readable
from glassbox_tui.text.normalize import source_span
from glassbox_tui.text.numerals import ordinals
from glassbox_tui.text.patterns import word as _word

KINDS = ("date", "day", "month", "number", "digits", "isbn", "iban", "version", "address", "hash", "ordinal")
# How a term is shown; those of a kind that is not here are words.
SHOWN = {
    "date": "date {}",
    "day": "day {}",
    "month": "month {}",
    "number": "number {}",
    "digits": "digits {}",
    "isbn": "ISBN {}",
    "iban": "IBAN {}",
    "hash": "hash {}…",
    "ordinal": "{}",
}
_digit = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it stands; `kind` is one of KINDS. Two readings (3/4/2024) are two values with one span."""

    kind: str
    canonical: str
    start: int
    end: int

    @property
    def term(self) -> str:
        """The index term of the value itself."""
        if self.kind in ("version", "address") or (self.kind == "number" and self.canonical.isdecimal()):
            return self.canonical
        return f"{self.kind}={self.canonical}"

    @property
    def terms(self) -> tuple[str, ...]:
        """The index terms: the value's own, then wider ones (a date's day of the year and its month)."""
        if self.kind == "date":
            return (self.term, f"day={self.canonical[5:]}", f"month={self.canonical[:7]}")
        if self.kind == "digits" and SHORTEST < len(self.canonical) <= LONGEST:
            return (self.term, f"digits={tail(self.canonical)}")
        return (self.term,)


def values(text: str) -> tuple[Value, ...]:
    """The values of `text`, by start; spans refer to it. Of overlapping ones the first counts, of those the longest."""
    normal, offsets = readable(text)
    return tuple(Value(v.kind, v.canonical, *source_span(offsets, v.start, v.end)) for v in normal_values(normal))


def normal_values(normal: str) -> list[Value]:
    """`values` of a text that `folding.readable` has read; spans refer to that."""
    matches = list(_word.finditer(normal))
    found = list(loose_values(normal, (match.group() for match in matches)))
    for match in matches:
        at = match.start()
        found += (Value(v.kind, v.canonical, at + v.start, at + v.end) for v in word_values(match.group()))
    kept: list[Value] = []
    for value in sorted(found, key=lambda v: (v.start, -v.end)):
        if not kept or value.start >= kept[-1].end or (value.start, value.end) == (kept[-1].start, kept[-1].end):
            kept.append(value)
    return kept


def word_values(word: str) -> Iterator[Value]:
    """The values inside one word (in compatible form, as `patterns.word` finds it); spans refer to the word."""
    if _digit.search(word):
        dates = list(word_dates(word))
        taken = {place for _, _, start, end in dates for place in range(start, end)}
        yield from (Value(*found) for found in dates)
        yield from (Value(*found) for found in word_digits(word) if found[2] not in taken)


def loose_values(normal: str, words: Iterable[str], outside: str | None = None) -> Iterator[Value]:
    """The values that are no single word of `normal` (as `folding.readable` gives it).

    `words` are its words; `outside`, if at hand, is what is not in its CJK runs, in which less has to be looked at.
    """
    if months := MONTH_WORDS.intersection(words):
        yield from (Value(*found) for found in named_dates(normal, months) if " " in normal[found[2] : found[3]])
    if may_be_loose(normal if outside is None else outside):
        yield from (Value(*found) for found in loose_digits(normal))
    if "月" in normal or "월" in normal:
        yield from (Value(*found) for found in chinese_dates(normal))
    if "第" in normal:
        yield from (Value(*found) for found in ordinals(normal))


def describe(term: str, say: Callable[[str, str], str] = str.format) -> str:
    """An index term as it is shown: "date 2024-01-16" for a value's, others as they are. `say` translates."""
    kind, equals, form = term.partition("=")
    return say(SHOWN[kind], form) if equals and kind in SHOWN else term
