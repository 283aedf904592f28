"""Two readings of a text: folded, for matching, and visible, for a screen. The original is never changed.

Folding is Unicode's NFKC_Casefold (The Unicode Standard, section 3.13, definition R5) written as
NFKC(casefold(NFKC(text without default-ignorable characters))): full-width meets half-width, ｵｰﾀﾞｰ meets オーダー, and
the ligature ﬁ meets fi.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence

# Characters that carry no text: soft hyphen, zero-width and bidi controls, variation selectors, tags, byte order mark.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
)
_ignorable = re.compile(f"[{_IGNORABLE}]+")

# Full-width ASCII and the ideographic space have a one-to-one half-width twin; a table spares them the slow path.
_HALF_WIDTH = {chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)} | {"\u3000": " "}
_full_width = re.compile("[\uff01-\uff5e\u3000]")

# Everything outside these ranges may change its length when folded, or join the character before it. Inside them
# (after _HALF_WIDTH) NFKC changes nothing and casefold maps one character to one.
_PLAIN = (
    "\x00-\x7f\xa1-\xa7\xa9\xab\xac\xae\xb0\xb1\xb6\xb7\xbb\xbf-\xde\xe0-\xff"  # ASCII, Latin-1
    "\u0391-\u03a1\u03a3-\u03a9\u03b1-\u03c9\u0410-\u044f\u2010\u2013\u2014\u2018-\u201e\u2022"  # Greek, Cyrillic
    "\u2190-\u21ff\u2500-\u25ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
)
# The character before an unplain run is taken along: a combining mark may compose with it.
_unplain_run = re.compile(f"[\\s\\S]?[^{_PLAIN}]+")


def fold(text: str) -> str:
    """`text` as it is matched: compatibility forms, case and invisible characters folded away."""
    return fold_spans(text)[0]


def fold_spans(text: str) -> tuple[str, Sequence[int]]:
    """(folded, offsets): folded character i comes from text[offsets[i]]; offsets[len(folded)] is len(text).

    Offsets never fall. One character may fold to several (ﬁ) and several to one (ﾀﾞ); `source_span` turns a span
    of the folded text into the smallest span of `text` that holds it.
    """
    return _spans(text, str.casefold)


def compatible_spans(text: str) -> tuple[str, Sequence[int]]:
    """As `fold_spans`, but case is kept: what the tokenizer reads, for which camelCase is two words."""
    return _spans(text, str)


def source_span(offsets: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The span of the original that folded[start:end] (not empty) comes from; never empty."""
    if isinstance(offsets, range):
        return start, end
    last = offsets[end - 1]
    after = offsets[end]
    if after == last:  # the span ends inside an expansion
        after = offsets[bisect_right(offsets, last, lo=end)]
    return offsets[start], after


def _spans(text: str, case: Callable[[str], str]) -> tuple[str, Sequence[int]]:
    if text.isascii():
        return case(text), range(len(text) + 1)
    plain = _full_width.sub(_half_width, text)
    pieces: list[str] = []
    offsets: array[int] = array("q")
    done = 0
    for run in _unplain_run.finditer(plain):
        start, end = run.span()
        pieces.append(case(plain[done:start]))
        offsets.extend(range(done, start))
        for at, segment in _segments(plain, start, end):
            folded = unicodedata.normalize("NFKC", _ignorable.sub("", segment))
            folded = unicodedata.normalize("NFKC", case(folded))
            pieces.append(folded)
            offsets.extend([at] * len(folded))
        done = end
    if not pieces:
        return case(plain), range(len(text) + 1)
    pieces.append(case(plain[done:]))
    offsets.extend(range(done, len(text) + 1))
    return "".join(pieces), offsets


def _half_width(char: re.Match[str]) -> str:
    return _HALF_WIDTH[char[0]]


def _segments(text: str, start: int, end: int) -> list[tuple[int, str]]:
    """text[start:end] cut before every character that cannot join the one before it."""
    cuts = [start]
    cuts.extend(at for at in range(start + 1, end) if not _joins(text[at]))
    return [(a, text[a:b]) for a, b in zip(cuts, [*cuts[1:], end], strict=True)]


def _joins(char: str) -> bool:
    """May `char` compose with what stands before it? Marks, Hangul vowels and finals may; ignorables go along."""
    if _ignorable.match(char):
        return True
    first = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


# One character becomes one character, so spans computed on the text still hold on what is shown.
_HIDDEN = (
    *range(0x80, 0xA0),  # C1: a terminal may read these as escapes
    *(0x061C, 0x200B, 0x200E, 0x200F, 0xFEFF),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFFF9, 0xFFFC),
    *(0xFFFE, 0xFFFF),
)
_VISIBLE: dict[int, int | str] = (
    {code: 0x2400 + code for code in range(0x20)}
    | dict.fromkeys(_HIDDEN, "\ufffd")
    | {0x7F: 0x2421, 0x09: " ", 0x0A: "\n", 0xAD: "-", 0x2028: "\n", 0x2029: "\n"}
)
_ONE_LINE = _VISIBLE | {0x0A: " ", 0x2028: " ", 0x2029: " "}
_unprintable = re.compile("[\ud800-\udfff\U000e0000-\U000e0fff]")
_steering = re.compile(f"[{''.join(map(chr, _HIDDEN))}\x7f\u2028\u2029\ud800-\udfff\U000e0000-\U000e0fff]")


def visible(text: str, *, keep_newlines: bool = True) -> str:
    """`text` made harmless for any terminal, as long as before: offsets into `text` still hold.

    Control characters become their pictures (ESC is ␛), a tab a space; bidi and invisible controls, C1 codes,
    lone surrogates and tag characters become U+FFFD. Joiners that emoji and scripts need (U+200C, U+200D) stay.
    Without `keep_newlines` a line break becomes a space.
    """
    return _unprintable.sub("\ufffd", text.translate(_VISIBLE if keep_newlines else _ONE_LINE))


def json_escaped(document: str) -> str:
    """JSON that says the same, with every character that `visible` would replace written as \\uXXXX.

    `json.dumps` escapes ASCII's control characters only. C1 codes and bidi controls stand nowhere but inside strings.
    """
    return _steering.sub(lambda found: json.dumps(found[0])[1:-1], document)
