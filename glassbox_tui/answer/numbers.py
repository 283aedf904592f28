"""The numbers of a text by value: 七十亿, 7,000,000,000 and seven billion are one, 六成 and 60 % too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from glassbox_tui.text.tokens import content_terms

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_SCALES = {"万": 10_000, "亿": 100_000_000}
_WORDS = {
    **{word: n for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"])},
    **{word: n for n, word in enumerate(["nine", "ten", "eleven", "twelve"], start=9)},
    **{f"{stem}teen": n for n, stem in enumerate(["thir", "four", "fif", "six", "seven", "eigh", "nine"], start=13)},
    **{f"{stem}ty": 10 * n for n, stem in enumerate(["twen", "thir", "for", "fif", "six", "seven", "eigh"], start=2)},
    "ninety": 90,
}
_BIG_WORDS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
# Words that hold a number too, but are hardly ever what a sentence is about: a source may answer with them.
_ORDINALS = [
    *["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"],
    *["twelfth", *(f"{stem}teenth" for stem in ["thir", "four", "fif", "six", "seven", "eigh", "nine"]), "twentieth"],
]
_MONTHS = [
    *["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"],
    "december",
]
_OTHERS = {"once": 1, "twice": 2, "both": 2, "double": 2, "half": 2, "pair": 2, "quarter": 4, "dozen": 12}
_ASIDE = {
    **_OTHERS,
    **{word: n for n, word in enumerate(_ORDINALS, start=1)},
    **{word: n for n, word in enumerate(_MONTHS, start=1)},
}

_CJK_NUMERAL = "".join([*_DIGITS, *_UNITS, *_SCALES])
_ENGLISH = "|".join(sorted([*_WORDS, *_BIG_WORDS], key=len, reverse=True))
# One numeral alone is a number only before what is counted: 三个, and not 三角.
_COUNTED = (
    "个种年月日成倍点次位人名块份条项步天周小时分秒元字比核层级段句篇张页行列轮件台座只头岁届世期度米克吨里公亩架艘辆"
)
# 几百, 数十, 成千上万: no number in particular.
_VAGUE = "几数成上"

_numbers = re.compile(
    rf"(?P<below>[{_CJK_NUMERAL}\d]+)分之(?P<above>[{_CJK_NUMERAL}\d]+)"
    r"|(?P<digits>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*)"
    r"(?P<scale>[万亿千]{1,2}| ?(?:thousand|million|billion)(?![a-z])|)"
    rf"|(?P<cjk>[{_CJK_NUMERAL}]+)"
    rf"|(?<![a-z])(?P<words>(?:{_ENGLISH})(?:[ -](?:and )?(?:{_ENGLISH}))*)(?![a-z])"
)
_aside = re.compile(rf"(?<![a-z])(?:{'|'.join(_ASIDE)})(?![a-z])")
_percent = re.compile(r" ?(?:%|percent\b|per cent\b)")
_unit = re.compile(r"[ -]?(?:([a-z]+)|([\u3400-\u9fff]{2}))")


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a folded text, [start, end). `values`: ways to write it; `unit`: the word it counts, or ""."""

    values: tuple[str, ...]
    start: int
    end: int
    unit: str


def numbers(folded: str) -> Iterator[Number]:
    """Each number of a text as `text.normalize.fold` leaves it."""
    for match in _numbers.finditer(folded):
        start, end = match.span()
        values = _values(match, folded)
        unit = _unit.match(folded, end)
        yield Number(values, start, end, _unit_of(unit) if unit else "")


def held(folded: str) -> tuple[set[str], set[tuple[str, str]]]:
    """What a source answers for: the values it holds, and each with what it counts there."""
    found = list(numbers(folded))
    values = {value for number in found for value in number.values}
    values |= {str(_ASIDE[match.group()]) for match in _aside.finditer(folded)}
    return values, {(value, number.unit) for number in found if number.unit for value in number.values}


def counts(folded: str, number: Number) -> bool:
    """Is this number of a claim one that its source has to hold? One and 一 hardly ever are numbers."""
    text, after = folded[number.start : number.end], folded[number.end : number.end + 1]
    if text in ("one", "一") or text in _BIG_WORDS:
        return False
    if set(text) <= {*_UNITS, *_SCALES} and not text.startswith("十"):  # 百分点, 千万不要
        return False
    if text[0] in _UNITS or text[0] in _SCALES or text in _DIGITS:
        vague = number.start > 0 and folded[number.start - 1] in _VAGUE
        return not vague and (len(text) > 1 or (after != "" and after in _COUNTED) or after == "多")
    return True


def _values(match: re.Match[str], folded: str) -> tuple[str, ...]:
    """The number's value, and the same as a share of a hundred or of one."""
    if match["below"]:
        below, above = _integer(match["below"]), _integer(match["above"])
        if below == 100:
            return _shares(str(above))
        # "sixteen times smaller" is a sixteenth.
        return (f"{above}/{below}", str(below)) if above == 1 else (f"{above}/{below}",)
    if match["digits"]:
        value = _decimal(match["digits"], match["scale"].strip())
    elif match["cjk"]:
        value = str(_integer(match["cjk"]))
        if folded[match.end() : match.end() + 1] == "成":
            return (value, *_shares(value + "0"))
    else:
        value = str(_spelled(match["words"]))
    return _shares(value) if _percent.match(folded, match.end()) else (value,)


def _shares(percent: str) -> tuple[str, ...]:
    return (percent, _plain(Decimal(percent) / 100)) if percent.count(".") < 2 else (percent,)


def _unit_of(match: re.Match[str]) -> str:
    return match[2] or next(iter(content_terms(match[1])), "")


def _decimal(digits: str, scale: str) -> str:
    plain = digits.replace(",", "")
    if plain.count(".") > 1 or (plain.startswith("0") and plain.isdecimal()):  # a version, a mode, a code
        return plain
    value = Decimal(plain)
    for part in [scale] if scale in _BIG_WORDS else scale:
        value *= _BIG_WORDS.get(part) or _SCALES.get(part) or _UNITS[part]
    return _plain(value)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _integer(numeral: str) -> int:
    """A Chinese numeral (七十亿, 二〇〇九) or plain digits."""
    if numeral.isdecimal():
        return int(numeral)
    if not any(char in _UNITS or char in _SCALES for char in numeral):
        return int("".join(str(_DIGITS.get(char, char)) for char in numeral))
    total = section = digit = 0
    for char in numeral:
        if char in _SCALES:
            total = (total + section + digit or 1) * _SCALES[char]
            section = digit = 0
        elif char in _UNITS:
            section += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            digit = _DIGITS[char] if char in _DIGITS else int(char)
    return total + section + digit


def _spelled(words: str) -> int:
    """seven billion, twenty-one, three hundred and five."""
    total = section = 0
    for word in re.split(r"[ -](?:and )?", words):
        if word == "hundred":
            section = (section or 1) * 100
        elif word in _BIG_WORDS:
            total += (section or 1) * _BIG_WORDS[word]
            section = 0
        else:
            section += _WORDS[word]
    return total + section
