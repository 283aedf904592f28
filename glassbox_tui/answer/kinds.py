"""What kind of answer a question wants, as a pattern that a sentence with such an answer matches.

Only where it is cheap and sure: numbers, dates, reasons. Names and places look like any other word in Chinese.
"""

from __future__ import annotations

import re

_NUMBER = r"[0-9０-９零〇一二两三四五六七八九十百千万亿][0-9０-９零〇一二两三四五六七八九十百千万亿.,]*"
_ENGLISH_NUMBERS = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|half)\b"
)
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"

_asks_date = re.compile(r"什么时候|何时|哪一?[年天日]|几[年月日号]|哪个?月|\bwhen\b|\bwhat (?:year|date|day)\b", re.I)
_asks_number = re.compile(
    r"(?:多少|第?几)(?P<unit>[^\W\d_a-zA-Z有是的]?)|多[大高长远久重深宽]"
    r"|\bhow (?:many|much|long|far|old|large|big|hot|fast|often)\b",
    re.I,
)
_asks_reason = re.compile(r"为什么|为何|为啥|什么原因|\bwhy\b", re.I)

# "When" may be answered by an event, too.
_date = re.compile(
    rf"{_NUMBER}\s*(?:[年月日号]|世纪|年代)|\b\d{{4}}\b|\d[-/]\d|\b(?:{_MONTHS})\b"
    r"|\b(?:after|before|until|when|once)\b|[以之]后|[以之]前|的?时候?[，,]",
    re.I,
)
_number = re.compile(rf"{_NUMBER}|{_ENGLISH_NUMBERS}", re.I)
_reason = re.compile(
    r"因为|由于|因此|所以|为了|原因|以免|否则|导致"
    r"|\b(?:because|since|therefore|thus|so that|due to|otherwise|reason)\b",
    re.I,
)


def expected(question: str) -> re.Pattern[str] | None:
    """The pattern of the wanted kind of answer; None where the question does not tell, or any text may be it."""
    if _asks_date.search(question):
        return _date
    if asked := _asks_number.search(question):
        unit = asked["unit"]
        return re.compile(rf"{_NUMBER}\s*[多余几]?\s*{re.escape(unit)}") if unit else _number
    return _reason if _asks_reason.search(question) else None
