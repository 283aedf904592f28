"""Chinese numerals, and the numbered things they are written on: 第十二条 is 第12条."""

from __future__ import annotations

import re
from collections.abc import Iterator

_DIGIT = {
    char: value
    for value, chars in enumerate(("〇零", "一", "二两", "三", "四", "五", "六", "七", "八", "九"))
    for char in chars
}
_UNIT = {"十": 10, "百": 100, "千": 1000}
_NUMERAL = "".join((*_DIGIT, *_UNIT))
# What people look up by number: clauses, chapters, pages, terms, issues.
_ordinal = re.compile(
    rf"第 ?(\d{{1,6}}|[{_NUMERAL}]{{1,9}}) ?([条條章节節款项項编編篇卷回集期届屆号號页頁版课課讲講册冊批轮輪季周週])"
)


def number_of(text: str) -> int | None:
    """The value of a short numeral, Arabic or Chinese (十六, 一百零三, 二〇二四); None if it is none."""
    if text.isdecimal():
        return int(text)
    if all(char in _DIGIT for char in text):
        return int("".join(str(_DIGIT[char]) for char in text))
    total, digit = 0, None
    below = 10_000
    for char in text:
        if char in _DIGIT:
            digit = _DIGIT[char] if not digit else None
            if digit is None:
                return None
        elif (unit := _UNIT.get(char, below)) < below:
            total += (1 if digit is None else digit) * unit
            digit, below = None, unit
        else:
            return None
    return total + (digit or 0)


def ordinals(text: str) -> Iterator[tuple[str, str, int, int]]:
    """("ordinal", "第12条", start, end) for each numbered thing of `text`, which has simplified characters."""
    for match in _ordinal.finditer(text):
        value = number_of(match[1])
        if value is not None:
            yield "ordinal", f"第{value}{match[2]}", *match.span()
