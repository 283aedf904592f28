"""Dates in text, however they are spelled: 2024-01-16, 16.1.2024, January 16th, 2024, 2024年1月16日.

A date is written back as 2024-01-16, a day without its year as 01-16, a month as 2024-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from glassbox_tui.text.numerals import number_of
from glassbox_tui.text.patterns import LETTER

Found = tuple[str, str, int, int]  # kind, canonical form, span

_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_year_first = re.compile(r"(?<!\d)(?<!\d[-/._])([12]\d{3})([-/._])(\d{1,2})\2(\d{1,2})(?!\d|\2\d)")
_year_last = re.compile(r"(?<!\d)(?<!\d[-/.])(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)\d\d)(?!\d|\2\d)")
_short_year = re.compile(r"(?<!\d)(?<!\d[-/.])(\d\d)([/.])(\d\d)\2(\d\d)(?!\d|[-/.,]\d)")
_compact = re.compile(r"(?<![0-9.,])((?:19|20)\d\d)(\d\d)(\d\d)(?!\d|[.,]\d)")
_year_month = re.compile(r"(?<!\d)(?<!\d[-/.])((?:19|20)\d\d)[-/](\d\d)(?!\d|[-/.,:]\d)")

_NAMES = (
    "january jan januar janvier enero gennaio janeiro januari",
    "february feb februar février fevrier febrero febbraio fevereiro februari",
    "march mar märz marz mars marzo março marco maart",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août aout agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember décembre decembre diciembre dicembre dezembro",
)
_MONTH_OF = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
# As words of a text may have them: whether a month is named is asked of every text.
MONTH_WORDS = frozenset(form for name in _MONTH_OF for form in (name, name.capitalize(), name.upper()))
_month = f"({'|'.join(sorted(_MONTH_OF, key=lambda name: (-len(name), name)))})"
_year = r"(?:\.?,? (?:(?:of|de|del) )?|, ?|-)([12]\d{3})(?!\d|[.,:]\d)"
_named = re.compile(
    rf"(?<![\d.,:/])(\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?(?: ?(?:of|de|di)? |-){_month}(?!{LETTER})(?:{_year})?"
    rf"|(?<!{LETTER}){_month}\.?(?: |-)(\d{{1,2}})(?:st|nd|rd|th)?(?:{_year}|(?!\d|[.,:/-]\d|{LETTER}))"
    rf"|(?<!{LETTER}){_month}\.?,?(?: (?:of )?|-)([12]\d{{3}})(?!\d|[.,:/-]\d)",
    re.IGNORECASE,
)

_DIGITS = "〇零一二三四五六七八九"
_BEFORE_MONTH = f"0123456789{_DIGITS}十 "
_chinese = re.compile(
    rf"(?:(?<![\d{_DIGITS}])([12]\d{{3}}|[一二][{_DIGITS}]{{3}}) ?[年년] ?)?"
    rf"(?<![\d{_DIGITS}十第])(\d{{1,2}}|十[一二]?|[一二三四五六七八九]) ?[月월]"
    rf"(?: ?(\d{{1,2}}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九]) ?[日号일])?"
)


def word_dates(word: str) -> Iterator[Found]:
    """The dates that stand in one word (2024-01-16.md); each reading of 3/4/2024."""
    for match in _year_first.finditer(word):
        yield from _day(match, match[1], match[3], match[4])
    for match in _year_last.finditer(word):
        yield from _either_order(match, match[4])
    for match in _short_year.finditer(word):
        yield from _either_order(match, f"20{match[4]}")
    for match in _compact.finditer(word):
        yield from _day(match, match[1], match[2], match[3])
    for match in _year_month.finditer(word):
        yield from _day(match, match[1], match[2], None)
    if "-" in word and word[-1].isdigit() and not word.isdecimal():
        yield from named_dates(word, MONTH_WORDS.intersection(re.split("[^a-zA-Z]+", word)))  # 16-Jan-2024


def named_dates(text: str, names: Iterable[str]) -> Iterator[Found]:
    """Dates with the name of a month, in English and six other languages; `names`: those of MONTH_WORDS in `text`."""
    for match in _around(_named, text, names, 16, 48):
        day, month, year, month_2, day_2, year_2, month_3, year_3 = match.groups()
        named = _MONTH_OF.get((month or month_2 or month_3).lower(), 0)  # a dotless i matches too, but names none
        yield from _day(match, year or year_2 or year_3, str(named), day or day_2)


def chinese_dates(text: str) -> Iterator[Found]:
    """Dates with 月, in Arabic or Chinese numerals; Korean ones too. A month without year or day is none."""
    for match in _around(_chinese, text, ("月", "월"), 11, 11, _BEFORE_MONTH):
        year, month, day = match.groups()
        yield from _day(match, year, month, day)


def _around(
    pattern: re.Pattern[str], text: str, marks: Iterable[str], before: int, after: int, behind: str = ""
) -> Iterator[re.Match[str]]:
    """The matches of `pattern` within so many characters of the `marks`, one of which each match holds.

    The whole text need not be tried, which takes longer than all the rest of reading it. `behind`: characters, one of
    which must stand before a mark.
    """
    done = 0
    for at in sorted(at for mark in marks for at in _places(text, mark)):
        if behind and text[at - 1 : at] not in behind:
            continue
        for match in pattern.finditer(text, max(done, at - before), at + after):
            done = match.end()
            yield match


def _places(text: str, mark: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)


def _either_order(match: re.Match[str], year: str) -> Iterator[Found]:
    """Day and month as Europe and the United States write them; with full stops the day is always first."""
    first = list(_day(match, year, match[3], match[1]))
    yield from first
    if match[2] != "." and match[1] != match[3]:
        yield from _day(match, year, match[1], match[3])


def _day(match: re.Match[str], year: str | None, month: str, day: str | None) -> Iterator[Found]:
    m, d = number_of(month), number_of(day) if day else None
    if m is None or not 1 <= m <= 12 or (d is not None and not 1 <= d <= _DAYS[m - 1]):
        return
    y = number_of(year) if year else None
    if y is None and d is None:
        return
    if y is None:
        yield "day", f"{m:02}-{d:02}", *match.span()
    elif d is None:
        yield "month", f"{y:04}-{m:02}", *match.span()
    else:
        yield "date", f"{y:04}-{m:02}-{d:02}", *match.span()
