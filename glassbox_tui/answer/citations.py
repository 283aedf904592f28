"""Citations in a written answer: read, held against the sources there are, and put into one notation."""

from __future__ import annotations

import re
from dataclasses import dataclass

# [3], [1, 2], [1-3], [^3] and their full-width twins. Four digits are a year.
_LIST = r"\^?\d{1,3}(?:\s*[-–—~～,，、;；]\s*\^?\d{1,3})*"
_cited = re.compile(
    rf"(?P<space>[ \t]?)(?:\[\s*(?P<plain>{_LIST})\s*\]|［\s*(?P<wide>{_LIST})\s*］|【\s*(?P<black>{_LIST})\s*】)"
)
_range = re.compile(r"(\d+)\s*[-–—~～]\s*\^?(\d+)")
_number = re.compile(r"\d+")
# [1-400] means the passages there are; a longer list is not spelled out.
_LONGEST = 50


@dataclass(frozen=True, slots=True)
class Checked:
    """`text` with the citations that stand for a source, each as [n]; `numbers` are those, in order, each once.

    `removed` are the numbers that stand for none and were taken out of the text.
    """

    text: str
    numbers: tuple[int, ...]
    removed: tuple[int, ...]


def checked(text: str, sources: int) -> Checked:
    """Hold the citations in `text` against sources 1 to `sources`. Nothing else in the text changes."""
    removed: dict[int, None] = {}
    while True:
        kept: dict[int, None] = {}

        def rewrite(match: re.Match[str], kept: dict[int, None] = kept) -> str:
            numbers = cited_numbers(match)
            good = [n for n in numbers if 1 <= n <= sources]
            kept.update(dict.fromkeys(good))
            removed.update(dict.fromkeys(n for n in numbers if n not in good))
            return match["space"] + "".join(f"[{n}]" for n in good) if good else ""

        clean = _cited.sub(rewrite, text)
        if clean == text:
            return Checked(clean, tuple(kept), tuple(n for n in removed if n not in kept))
        text = clean  # what was around a removed number may now read as one: "[[9]1]"


def cited_numbers(match: re.Match[str]) -> list[int]:
    """The numbers of one bracket in order, each once; a range counts as all it spans."""
    listed = match["plain"] or match["wide"] or match["black"]
    spelled = _range.sub(_spelled, listed)
    return list(dict.fromkeys(int(n) for n in _number.findall(spelled)))


def _spelled(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    if first <= last < first + _LONGEST:
        return ",".join(map(str, range(first, last + 1)))
    return f"{first},{last}"


def citations_in(text: str) -> list[tuple[int, int, list[int]]]:
    """Each bracket's [start, end) in `text`, the space before it included, and its numbers."""
    return [(*match.span(), cited_numbers(match)) for match in _cited.finditer(text)]
