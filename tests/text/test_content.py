"""The words of a question: whole, as a reader takes them, each held by the terms the index has for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.content import content_words
from glassbox_tui.text.tokens import terms

SCRAPS = [
    "the",
    "refund",
    "DEC-0054",
    "src/app.py",
    "检索",
    "的",
    "多久",
    "为什么",
    "v2.0.1",
    "café",
    "don't",
    "オーダー",
    "？",
    "a_b",
]
questions = st.lists(st.sampled_from(SCRAPS) | st.text(max_size=6), max_size=10).map(" ".join)


def said(question: str) -> list[str]:
    return [word.text for word in content_words(question)]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the deadline of project Cedar?", ["deadline", "project", "Cedar"]),
        ("the of and", []),
        ("为什么混合检索要用RRF而不是加权分数相加", ["混合检索", "RRF", "加权分数相加"]),
        ("Where is DEC-0054, and src/app.py?", ["DEC-0054", "src/app.py"]),
        ("refund refunds refunded", ["refund"]),
        ("ＥＴＬ", ["ＥＴＬ"]),
    ],
)
def test_words_are_whole(question: str, words: list[str]) -> None:
    assert said(question) == words


@given(questions)
def test_spans_lie_in_the_question_and_a_text_holds_its_own_words(question: str) -> None:
    held = set(terms(question))
    for word in content_words(question):
        assert word.text == question[word.start : word.end] != ""
        assert word.terms
        assert word.held(held) == 1.0
        assert word.held(set()) == 0.0


def test_an_identifier_is_held_whole_or_not_at_all() -> None:
    [word] = content_words("DEC-0054")
    assert word.held(set(terms("see DEC-0054."))) == 1
    assert word.held(set(terms("see DEC-0055."))) == 0


def test_a_compound_word_is_held_by_its_parts_too() -> None:
    [word] = content_words("write-ahead")
    assert word.held(set(terms("written ahead, write it"))) == 1
    assert word.held(set(terms("ahead"))) == 0.5


def test_a_chinese_run_is_held_by_the_share_of_its_pairs() -> None:
    [word] = content_words("密钥轮换")
    assert word.held(set(terms("密钥和轮换"))) == pytest.approx(2 / 3)
