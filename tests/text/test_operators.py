"""What is an operator and what is natural language: the whole kind, and its edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.operators import parse

MARKS = ('""', "＂＂", "“”", "「」", "『』", "«»", "„“")
NATURAL = (
    "--verbose",
    "what does --force do",
    "-5 degrees",
    "a - b",
    "- buy milk - call Bob",
    "state-of-the-art search",
    "e-mail",
    "-car",
    "- ",
    "-",
    "what - if",
    'a 5" pipe and a 6" bolt',
    '"an unclosed phrase',
    '""',
    '" "',
    "“复利”“利滚利”的约定合法吗？",
    '"航班"真实、"旅程"虚假',
    "「長安」是哪裡？",
    'the so-called"smart"watch',
    "it's Bob's",
    "",
    "   ",
)


@pytest.mark.parametrize("query", NATURAL)
def test_natural_language_has_no_operators_and_stays_as_it_is(query: str) -> None:
    assert parse(query).plain == query
    assert parse(query).conditions == ()


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("phrase", ["open source", "开源 许可证", "3.3.3", "C++"])
def test_a_phrase_that_stands_by_itself_is_a_condition_in_any_marks(marks: str, phrase: str) -> None:
    quoted = f"{marks[0]}{phrase}{marks[1]}"
    for query, plain in (
        (quoted, phrase),
        (f"licences {quoted}", f"licences {phrase}"),
        (f"{quoted} licences", f"{phrase} licences"),
        (f"what is {quoted}?", f"what is {phrase}?"),
        (f"许可证\u3000{quoted}，", f"许可证 {phrase}，"),
    ):
        typed = parse(query)
        assert [(c.kind, c.text) for c in typed.conditions] == [("phrase", phrase)]
        assert typed.plain == plain


@pytest.mark.parametrize(
    ("query", "plain", "excluded"),
    [
        ("jaguar -car", "jaguar", ["-car"]),
        ("-car jaguar", "jaguar", ["-car"]),
        ("jaguar -car -truck speed", "jaguar speed", ["-car", "-truck"]),
        ("jaguar -car, please", "jaguar please", ["-car"]),
        ("jaguar －汽车", "jaguar", ["-汽车"]),
        ('jaguar -"sports car"', "jaguar", ['-"sports car"']),
        ("jaguar -“sports car”.", "jaguar", ['-"sports car"']),
        ("jaguar -open-source", "jaguar", ["-open-source"]),
        ('"big cat" -zoo -zoo', "big cat", ['"big cat"', "-zoo"]),
    ],
)
def test_a_dash_before_a_word_excludes_it_and_it_is_not_asked_for(query: str, plain: str, excluded: list[str]) -> None:
    typed = parse(query)
    assert typed.plain == plain
    assert [c.typed for c in typed.conditions] == excluded


def test_a_word_that_is_said_to_be_literal_stays() -> None:
    assert parse("tar -xzf -car", lambda word: word == "xzf").plain == "tar -xzf"


PIECES = st.lists(
    st.sampled_from(["a", "中", "-", '"', "“", "”", "「", "」", " ", "\u3000", "\n", ",", "。", "5", "-x", "－"]),
    max_size=20,
)


@given(PIECES.map("".join))
def test_nothing_is_lost_but_what_a_condition_says(query: str) -> None:
    typed = parse(query)
    if not typed.conditions:
        assert typed.plain == query
        return
    left = [c for c in typed.plain if c.isalnum()]
    gone = [c for x in typed.conditions if x.kind == "exclude" for c in x.text if c.isalnum()]
    assert left
    assert set(left) | set(gone) == {c for c in query if c.isalnum()}
    assert all(c.text.strip() == c.text != "" for c in typed.conditions)


@given(st.text(alphabet=st.characters(exclude_characters='-－"＂“„「『«')))
def test_text_without_the_marks_is_never_touched(query: str) -> None:
    assert parse(query).plain == query


@pytest.mark.parametrize("piece", ['"', '" ', "“ ", ' -"', " -a", ' "a"', ' "a".....', "「」", " -" + "a" * 50])
def test_a_hostile_paste_is_read_in_one_pass(piece: str) -> None:
    short, long = piece * 2_000, piece * 40_000
    assert steps(long) < 60 * steps(short)  # 20 times the text; a square would be 400 times


def steps(query: str) -> int:
    """How many lines of the module run: a measure that a busy machine does not change."""
    import sys

    count = 0

    def tracer(frame, event, arg):  # type: ignore[no-untyped-def]
        nonlocal count
        count += event == "line"
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        parse(query)
    finally:
        sys.settrace(before)
    return count
