"""Numbers and grouped digits in text: amounts, phone numbers, ISBNs, IBANs, versions, hashes.

Canonical forms: a number has a full stop before its decimals and no zeros that say nothing (1.000,20 is 1000.2);
grouped digits are run together, without the country code of a phone number and its national 0 (ITU-T E.164); an ISBN
has thirteen digits. No integer is computed from digits of a text, so that their number costs no more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from glassbox_tui.text.patterns import LETTER

Found = tuple[str, str, int, int]  # kind, canonical form, span

# 1,000.20 or 1.000,20 or 1'000.20; else a plain decimal. What stands before a unit or at a word's end, no part of a
# version or an address.
_number = re.compile(
    rf"(?<!{LETTER})(?<![.,'’])(?:([1-9]\d{{0,2}}(?:,\d{{3}})+)(?:\.(\d+))?|([1-9]\d{{0,2}}(?:\.\d{{3}})+)(?:,(\d+))?"
    r"|([1-9]\d{0,2}(?:['’]\d{3})+)(?:[.,](\d+))?|(\d+)[.,](\d+))(?!\d|[.,'’]\d|_)"
)
_address = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}")  # 192.168.100.200 is no number
_spaced = re.compile(
    rf"(?<!{LETTER})(?<![.,/:+-])(?<!\d )([1-9]\d{{0,2}}(?: \d{{3}})+)(?:[.,](\d+))?(?!{LETTER}|[.,/:-]\d| \d)"
)
_version = re.compile(r"(?<![A-Za-z0-9.])(?:[vV](\d+(?:\.\d+)+)|(\d+(?:\.\d+){2,}))(?!\.?\d)")
_hash = re.compile(r"(?<![0-9A-Za-z])(?=\d*[a-fA-F])([0-9a-fA-F]{7})[0-9a-fA-F]{0,57}(?![0-9A-Za-z])")

_bare = re.compile(r"\d{7,17}")
_hyphened = re.compile(r"\d{1,6}(?:-\d{1,8}){1,6}(?:-[\dXx])?")
_dotted = re.compile(r"\d{3}\.\d{3}\.\d{4}|0\d{1,5}/\d{3,10}(?:-\d{1,5})?")
_years = re.compile(r"(?:19|20)\d\d-(?:19|20)\d\d")
_isbn_10 = re.compile(r"\d{9}[\dXx]")

# A run of digit groups with a sign that it is more than one word: +49 711 234, (0711) 23-45, 138 0013 8000.
_cluster = re.compile(
    rf"(?<!{LETTER})(?<!\+)(?<!\d[-/.,: ])(?:\+ ?)?\(?\d+(?:(?: ?[-/.] ?| ?\) ?| ?\( ?| )\d+){{0,12}}(?![\d.,:]?\d)"
)
_loose = re.compile(r"[\d)] \(?\d|\+ ?\d|\(\d+\)")
_marked = re.compile(r"(?:\(|0\d)\d*\D+\d")
_unmarked = re.compile(r"\d{3} \d{4} \d{4}|\d{3} \d{3}[ -]\d{4}|\d{4} \d{4} \d{4} \d{4}|97[89] \d{10}")
_iban = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![A-Za-z0-9])")

# Country codes of one and of two digits; all others have three.
_SHORT_CODES = ("1", "7")
_CODES = re.compile("2[07]|3[0123469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]")
SHORTEST, LONGEST = 7, 15  # digits of a number that is dialled


def word_digits(word: str) -> Iterator[Found]:
    """The numbers, versions, hashes and grouped digits that stand in one word."""
    for match in _version.finditer(word):
        form = match[1] or match[2]
        yield "address" if _address.fullmatch(match[0]) else "version", form, *match.span()
    if not _address.fullmatch(word):
        for match in _number.finditer(word):
            yield from _numbers(match)
    for match in _hash.finditer(word):
        yield "hash", match[1].lower(), *match.span()
    start, end = word.rfind(":") + 1, len(word)  # tel:0711234567
    digits = word[start:]
    hyphened = _hyphened.fullmatch(digits) and not _years.fullmatch(digits)
    if hyphened or _bare.fullmatch(digits) or _dotted.fullmatch(digits):
        yield from _digits(digits, start, end)
    elif _isbn_10.fullmatch(digits):
        yield from _isbn(digits, start, end)
    elif _iban.fullmatch(digits):
        yield from _account(digits, start, end)


def may_be_loose(text: str) -> bool:
    """Whether `loose_digits` may find something: quickly told, and mostly not."""
    return _loose.search(text) is not None


def loose_digits(text: str) -> Iterator[Found]:
    """The numbers and grouped digits of `text` that are more than one word of it: with blanks, brackets or a plus."""
    for match in _spaced.finditer(text):
        yield "number", _decimal(match[1].replace(" ", ""), match[2] or ""), *match.span()
    for match in _iban.finditer(text):
        if " " in match[1]:
            yield from _account(match[1], *match.span())
    for match in _cluster.finditer(text):
        found = match[0]
        if not may_be_loose(found):  # one word, of which `word_digits` has said what there is to say
            continue
        if found[0] == "+" or _marked.match(found) or _unmarked.fullmatch(found):
            yield from _digits(found, *match.span())


def tail(digits: str) -> str:
    """The last seven of many digits: what meets however a number is dialled."""
    return digits[-SHORTEST:]


def _numbers(match: re.Match[str]) -> Iterator[Found]:
    by_comma, fraction_1, by_stop, fraction_2, by_mark, fraction_3, whole, fraction = match.groups()
    grouped = by_comma or by_stop or by_mark
    if grouped is None:
        yield "number", _decimal(whole, fraction), *match.span()
        return
    yield "number", _decimal(re.sub(r"\D", "", grouped), fraction_1 or fraction_2 or fraction_3 or ""), *match.span()
    if by_stop and not fraction_2 and by_stop.count(".") == 1:  # 1.250 is a decimal as well
        yield "number", _decimal(*by_stop.split(".")), *match.span()


def _decimal(whole: str, fraction: str) -> str:
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _digits(written: str, start: int, end: int) -> Iterator[Found]:
    digits = re.sub(r"[^\dXx]", "", written)
    books = list(_isbn(digits, start, end))
    yield from books
    if books and (len(digits) == 13 or written.count("-") == 3):
        return
    if not digits.isdecimal():
        return
    dialled = _dialled(written, digits)
    if SHORTEST <= len(digits) <= LONGEST + 2 + 2 and len(dialled) >= SHORTEST - 1:
        yield "digits", dialled, start, end


def _dialled(written: str, digits: str) -> str:
    """The digits of a phone number as dialled within its country; others as they are."""
    if written[0] == "+" or digits.startswith("00"):
        digits = digits.removeprefix("00")
        code = 1 if digits.startswith(_SHORT_CODES) else 2 if _CODES.match(digits) else 3
        digits = digits[code:]
    return digits.lstrip("0")


def _isbn(digits: str, start: int, end: int) -> Iterator[Found]:
    if len(digits) == 13 and digits.isdecimal() and digits.startswith(("978", "979")):
        if digits[-1] == _check_digit(digits[:12]):
            yield "isbn", digits, start, end
    elif len(digits) == 10 and digits[:9].isdecimal():
        values = [10 if char in "Xx" else int(char) for char in digits]
        if sum(weight * value for weight, value in zip(range(10, 0, -1), values, strict=True)) % 11 == 0:
            core = f"978{digits[:9]}"
            yield "isbn", core + _check_digit(core), start, end


def _check_digit(twelve: str) -> str:
    return str(-sum(int(char) * (3 if at % 2 else 1) for at, char in enumerate(twelve)) % 10)


def _account(written: str, start: int, end: int) -> Iterator[Found]:
    """An IBAN whose check digits are right (ISO 13616: mod 97 is 1)."""
    number = written.replace(" ", "")
    if 15 <= len(number) <= 34 and int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1:
        yield "iban", number, start, end
