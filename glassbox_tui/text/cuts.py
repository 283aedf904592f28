"""Where to cut what is too long: table rows, code lines, clauses, words, and never inside a character or a number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from glassbox_tui.text.markdown import Kind, Unit

_clause = re.compile(r"[，、：；。！？,;:.!?)）」』”](?=\s|[^\x00-\x7f])|(?<=[^\x00-\x7f])[，、：；]|\n")
_space = re.compile(r"\s+")
# Joins the character before it: combining marks, variation selectors, joiners, skin tones, jamo vowels and finals.
_joining = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f\uff9e\uff9f"
    "\udc00-\udfff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_flag = re.compile("[\U0001f1e6-\U0001f1ff]")
_word = re.compile(r"[A-Za-z0-9_]")


def cut(text: str, unit: Unit, limit: int) -> Iterator[Unit]:
    """`unit` in pieces of at most `limit` characters, cut at the best places; white space between them is left out.

    A table keeps its header with its first row; longer rows, lines and sentences are cut at clauses, spaces, words.
    """
    if unit.end - unit.start <= limit:
        yield unit
    elif unit.kind is Kind.TABLE and unit.header is not None:
        yield from _cut_lines(text, unit, limit, unit.header[1] if unit.header[0] == unit.start else unit.start)
    elif unit.kind is Kind.CODE:
        yield from _cut_lines(text, unit, limit, unit.start)
    else:
        yield from _cut_hard(text, unit, limit)


def _cut_lines(text: str, unit: Unit, limit: int, together: int) -> Iterator[Unit]:
    """One piece a line; the lines before `together` stay with the one after them if that fits."""
    start = unit.start
    if together > start:
        stop = text.find("\n", together + 1, unit.end)
        stop = unit.end if stop < 0 else stop
        if stop - start <= limit:
            yield Unit(start, stop, unit.kind, unit.header)
            start = stop + 1
    while start < unit.end:
        stop = text.find("\n", start, unit.end)
        stop = unit.end if stop < 0 else stop
        line = Unit(start, stop, unit.kind, unit.header)
        if stop - start > limit:
            yield from _cut_hard(text, line, limit)
        elif text[start:stop].strip():
            yield line
        start = stop + 1


def _cut_hard(text: str, unit: Unit, limit: int) -> Iterator[Unit]:
    start = unit.start
    while unit.end - start > limit:
        stop = best_cut(text, start, start + limit)
        yield from _stripped(text, unit, start, stop)
        start = stop
    yield from _stripped(text, unit, start, unit.end)


def _stripped(text: str, unit: Unit, start: int, stop: int) -> Iterator[Unit]:
    piece = text[start:stop]
    start += len(piece) - len(piece.lstrip())
    stop = start + len(piece.strip())
    if stop > start:
        yield Unit(start, stop, unit.kind, unit.header)


def best_cut(text: str, start: int, high: int) -> int:
    """Where to cut text[start:], at most at `high`: after a clause or a space in the latter half, else anywhere."""
    low = start + (high - start + 1) // 2
    for pattern in (_clause, _space):
        last = 0
        for match in pattern.finditer(text, low, high):
            last = match.end()
        if last > start and not _inseparable(text, last):
            return last
    at = high
    while at > low and (_inseparable(text, at) or (_word.match(text, at) and _word.match(text, at - 1))):
        at -= 1
    if at > low:
        return at
    # One long word: anywhere between characters, outside a number if it has an end.
    for blocked in (_inseparable, in_character):
        at = high
        while at > start + 1 and blocked(text, at):
            at -= 1
        if not blocked(text, at) and at > start:
            return at
    return high


def in_character(text: str, at: int) -> bool:
    """Would a cut at `at` go through one character as a reader sees it?"""
    if at >= len(text):
        return False
    if _joining.match(text, at) or text[at - 1] == "\u200d":
        return True
    return bool(_flag.match(text, at) and _flag.match(text, at - 1))


def _inseparable(text: str, at: int) -> bool:
    """Would a cut at `at` go through a character or a number?"""
    if in_character(text, at):
        return True
    before, after = text[at - 1 : at], text[at : at + 1]
    if before.isdecimal():
        return after.isdecimal() or (after in (".", ",", ":") and text[at + 1 : at + 2].isdecimal()) or after == "%"
    return before in (".", ",", ":") and after.isdecimal() and text[at - 2 : at - 1].isdecimal() and at >= 2
