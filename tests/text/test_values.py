"""One value, many spellings: each spelling gives the value's term, and what is no value gives none."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glassbox_tui.text.content import content_words
from glassbox_tui.text.tokens import content_terms, terms, tokenize
from glassbox_tui.text.values import KINDS, SHOWN, describe, values

FRAMES = ["{}", "on {}.", "（{}）", "我在{}做了什么", "{}: notes", "see {}, then more", "“{}”"]
framed = st.sampled_from(FRAMES)
CHINESE = "〇一二三四五六七八九"
SCRAPS = """
2024-01-16 16.1.2024 3/4/2024 January 16th, 2024年1月16日 1月16日 第十二条 1.000,20 1,000.20 000 20 +49 (0711) 234567 89
978-3-16-148410-0 DE89 3704 0044 0532 0130 00 v2.0.1 deadbee1 #103 DEC-0001 192.168.0.1 １２ ٣ May 5 的
"""
scrap_texts = st.lists(st.sampled_from(SCRAPS.split()) | st.text(max_size=4), max_size=10).flatmap(
    lambda parts: st.sampled_from(["", " ", "\n", "-", "."]).map(lambda glue: glue.join(parts))
)


def chinese(number: int) -> str:
    """A number below 100 as it is said."""
    tens, ones = divmod(number, 10)
    said = "十" if tens == 1 else f"{CHINESE[tens]}十" if tens else ""
    return said + (CHINESE[ones] if ones or not tens else "")


DATES: list[Callable[[datetime.date], str]] = [
    lambda d: d.isoformat(),
    lambda d: f"{d.year}/{d.month}/{d.day}",
    lambda d: f"{d:%Y%m%d}",
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d.day}/{d.month}/{d.year}",
    lambda d: f"{d.month}/{d.day}/{d.year}",
    lambda d: f"{d:%B} {d.day}, {d.year}",
    lambda d: f"{d:%B} {d.day}th, {d.year}",
    lambda d: f"{d.day} {d:%B} {d.year}",
    lambda d: f"the {d.day}th of {d:%B} {d.year}",
    lambda d: f"{d:%b} {d.day} {d.year}",
    lambda d: f"{d:%b}. {d.day}, {d.year}".lower(),
    lambda d: f"{d.day}-{d:%b}-{d.year}",
    lambda d: f"{d.year}年{d.month}月{d.day}日",
    lambda d: f"{d.year} 年 {d.month} 月 {d.day} 號",
    lambda d: f"{''.join(CHINESE[int(c)] for c in str(d.year))}年{chinese(d.month)}月{chinese(d.day)}日",
    lambda d: d.isoformat().translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789-"}),
    lambda d: f"notes/{d.isoformat()}.md",
]


@given(st.dates(datetime.date(1950, 1, 1), datetime.date(2099, 12, 31)), st.sampled_from(DATES), framed)
@example(datetime.date(2024, 2, 29), DATES[15], "{}")
def test_a3_a_day_is_one_term_in_any_spelling(
    day: datetime.date, spell: Callable[[datetime.date], str], frame: str
) -> None:
    text = frame.format(spell(day))
    assert f"date={day.isoformat()}" in terms(text)
    assert {f"day={day:%m-%d}", f"month={day:%Y-%m}"} <= set(terms(text))


@pytest.mark.parametrize(
    "bare", ["January 16", "16 January", "jan 16th", "1月16日", "一月十六日", "16. Januar", "16 de enero"]
)
def test_a_bare_day_meets_that_day_of_any_year(bare: str) -> None:
    assert "day=01-16" in terms(f"what happened on {bare}?")
    assert "day=01-16" in terms("# 2024-01-16")


@pytest.mark.parametrize("month", ["January 2024", "jan. 2024", "2024年1月", "2024-01", "2024/01", "二〇二四年一月"])
def test_a_month_meets_its_days(month: str) -> None:
    assert "month=2024-01" in terms(month)
    assert "month=2024-01" in terms("# 16.1.2024")


@pytest.mark.parametrize("text", ["2024-13-01", "2024-02-30", "31.4.2024", "20241301", "2024年13月1日", "32 January"])
def test_a_day_that_no_calendar_has_is_none(text: str) -> None:
    assert not [term for term in terms(text) if term.startswith("date=")]


def amounts(value: Decimal) -> list[str]:
    """An amount with two decimals as it is written here and there."""
    plain = f"{value:.2f}"
    english = f"{value:,.2f}"
    swapped = english.translate(str.maketrans(",.", ".,"))
    spaced = [english.replace(",", blank).replace(".", point) for blank in " \xa0\u2009\u202f" for point in ".,"]
    return [plain, plain.replace(".", ","), english, swapped, english.replace(",", "'"), *spaced]


@given(st.integers(100, 10**9), framed)
def test_a4_an_amount_is_one_term_in_any_spelling(cents: int, frame: str) -> None:
    value = Decimal(cents) / 100
    canonical = f"{value:f}".rstrip("0").rstrip(".") if "." in f"{value:f}" else f"{value:f}"
    wanted = canonical if canonical.isdecimal() else f"number={canonical}"
    for spelled in amounts(value):
        for money in ("{}", "EUR {}", "€{}", "{} €", "¥{}元"):
            assert wanted in terms(frame.format(money.format(spelled))), spelled


@given(st.integers(1000, 10**9))
def test_an_integer_is_one_word_however_it_is_grouped(number: int) -> None:
    for spelled in (f"{number:,}", f"{number:,}".replace(",", "."), f"{number:,}".replace(",", "\u2009")):
        assert str(number) in terms(f"about {spelled} people")


PHONES: list[Callable[[str, str], str]] = [
    lambda area, own: f"0{area}{own}",
    lambda area, own: f"0{area} {own}",
    lambda area, own: f"0{area}/{own}",
    lambda area, own: f"0{area}-{own}",
    lambda area, own: f"(0{area}) {own[:3]} {own[3:]}",
    lambda area, own: f"+49{area}{own}",
    lambda area, own: f"+49 {area} {own[:2]} {own[2:]}",
    lambda area, own: f"+49 (0){area} {own}",
    lambda area, own: f"+49-{area}-{own}",
    lambda area, own: f"0049 {area} {own}",
    lambda area, own: f"0049{area}{own}",
    lambda area, own: f"tel:+49{area}{own}",
]


@given(st.from_regex("[1-9][0-9]{1,4}", fullmatch=True), st.from_regex("[0-9]{5,8}", fullmatch=True), framed)
def test_a5_a_phone_number_is_one_term_however_it_is_dialled(area: str, own: str, frame: str) -> None:
    for spell in PHONES:
        text = frame.format(spell(area, own))
        assert f"digits={area}{own}" in terms(text), text


@pytest.mark.parametrize(
    ("spellings", "term"),
    [
        (["978-3-16-148410-0", "9783161484100", "3-16-148410-X", "316148410X"], "isbn=9783161484100"),
        (["0-306-40615-2", "978-0-306-40615-7", "9780306406157", "0306406152"], "isbn=9780306406157"),
        (["DE89 3704 0044 0532 0130 00", "DE89370400440532013000"], "iban=DE89370400440532013000"),
        (["4111 1111 1111 1111", "4111-1111-1111-1111"], "digits=4111111111111111"),
        (["138 0013 8000", "138-0013-8000", "13800138000", "+86 138 0013 8000"], "digits=13800138000"),
        (["(212) 555-1234", "212-555-1234", "212.555.1234", "212 555 1234", "+1 212 555 1234"], "digits=2125551234"),
        (["v2.0.1", "2.0.1", "V2.0.1", "release-2.0.1", "app-2.0.1.tar.gz", "ｖ２.０.１"], "2.0.1"),
        (["第十二条", "第12条", "第 12 條", "第１２条", "第一十二条"], "ordinal=第12条"),
        (["第一百零三条", "第103条", "第一〇三条"], "ordinal=第103条"),
        (["deadbee", "deadbee1", "deadbee1f00d", "DEADBEE1" + "0" * 32], "hash=deadbee"),
        (["#103", "PR #103", "（#103）"], "#103"),
        (["DEC-0001", "ＤＥＣ－０００１", "dec-0001"], "dec-0001"),
        (["192.168.100.200", "http://192.168.100.200:8080/x"], "192.168.100.200"),
        (["٤٢", "۴۲", "४२", "42"], "42"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", FRAMES)
def test_grouped_digits_versions_clauses_and_hashes_meet(spellings: list[str], term: str, frame: str) -> None:
    for spelled in spellings:
        assert term in terms(frame.format(spelled)), spelled


@pytest.mark.parametrize(
    "text",
    [
        "12:30",
        "16:9",
        "1990-1995",
        "in 2024",
        "42",
        "3月",
        "3个月",
        "第三方",
        "第一",
        "a decade",
        "192.168.100.200",
        "2 3 4 5 6",
    ],
)
def test_what_is_no_value_has_no_value_term(text: str) -> None:
    assert not [term for term in terms(text) if "=" in term]


@given(scrap_texts)
@example("0002024-01-16+49")
def test_spans_hold_their_values_and_every_value_is_a_term(text: str) -> None:
    found = values(text)
    held = set(terms(text))
    for value in found:
        assert 0 <= value.start < value.end <= len(text)
        assert value.kind in KINDS
        again = {(v.kind, v.canonical) for v in values(text[value.start : value.end])}
        assert (value.kind, value.canonical) in again
        assert set(value.terms) <= held
    spans = sorted({(v.start, v.end) for v in found})
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@given(scrap_texts)
def test_terms_with_values_are_those_of_the_tokens(text: str) -> None:
    assert sorted(terms(text)) == sorted(token.term for token in tokenize(text))


@pytest.mark.parametrize("spell", DATES[:-1])
def test_a_value_is_one_content_word_and_one_term_of_coverage(spell: Callable[[datetime.date], str]) -> None:
    day = datetime.date(2024, 1, 16)
    text = f"what about {spell(day)} then"
    [word] = content_words(text)
    assert word.held(set(terms(f"# {day.isoformat()}"))) == 1
    assert word.held(set(terms("# 2024-01-17, 2023-01-16"))) == 0
    assert len(content_terms(text)) == 1


def test_no_word_is_taken_for_a_value() -> None:
    assert "date=2024-01-16" not in terms("date=2024-01-17 date:2024-01-17")
    assert describe("date=2024-01-16") == "date 2024-01-16"
    assert describe("ordinal=第12条") == "第12条"
    assert describe("dec-0001") == "dec-0001"
    assert describe("x=y") == "x=y"
    assert set(SHOWN) <= set(KINDS)


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1 ",
        "123 ",
        "1,000,",
        "1.",
        "12-",
        "+1",
        "(1",
        "DE89 ",
        "January ",
        "16 January ",
        "1月",
        "月",
        "第十",
        "审\n",
        "dead1",
        "😀",
    ],
)
def test_hostile_repetition_is_read_in_linear_time(piece: str) -> None:
    """A quadratic pattern needs minutes for what takes a second here."""
    text = piece * (150_000 // len(piece))
    began = time.process_time()
    tokenize(text)
    values(text)
    content_words(text)
    assert time.process_time() - began < 30
