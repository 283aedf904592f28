"""Near words: every one-letter error of a word leads back to it, and nothing that is no word is touched."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.spelling import as_typed, near_words, splits, within, word_list, words_in, written

WORDS = ("reciprocal", "fusion", "database", "lease", "heron", "naïve", "tromsø")
LIST = word_list(dict.fromkeys(WORDS, 1))
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def edits(word: str) -> set[str]:
    """All words at one edit: the textbook's enumeration, which shares nothing with the distance that is used."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    deleted = {a + b[1:] for a, b in cuts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    replaced = {a + c + b[1:] for a, b in cuts if b for c in LETTERS}
    inserted = {a + c + b for a, b in cuts for c in LETTERS}
    return (deleted | swapped | replaced | inserted) - {word}


@given(st.sampled_from([w for w in WORDS if len(w) > 5]), st.data())
def test_every_one_letter_error_leads_back(word: str, data: st.DataObject) -> None:
    typo = data.draw(st.sampled_from(sorted(edits(word))))
    assert (word, 1) in near_words(typo, LIST)


@given(st.text(alphabet="abcde", min_size=5, max_size=7))
def test_what_is_near_is_what_one_edit_makes(word: str) -> None:
    made = ["".join(Random(i).choices("abcde", k=5 + i % 3)) for i in range(60)]
    found = {n.word for n in within(word, 1, word_list(dict.fromkeys(made, 1)))}
    assert found == edits(word) & set(made)


@pytest.mark.parametrize(
    ("typo", "word"),
    [
        ("recipocal", "reciprocal"),
        ("RECIPOCAL", "reciprocal"),
        ("Reciprcoal", "reciprocal"),
        ("resiprokal", "reciprocal"),  # two, in a long word
        ("leaes", "lease"),
        ("fusoin", "fusion"),
        ("naive", "naïve"),
    ],
)
def test_near(typo: str, word: str) -> None:
    assert near_words(typo, LIST)[0].word == word


@pytest.mark.parametrize("typo", ["fu", "teh", "lose", "the", "their", "fvsxon", "", "x" * 10_000, "数据库"])
def test_far(typo: str) -> None:
    """Short words, stop words, two edits in a short word, what is no word."""
    assert near_words(typo, LIST) == ()


def test_words_of_a_question_and_codes() -> None:
    text = "Don't re-index DEC-0054 or src/app.py at 10.0.0.1, HTTP v2.1 für die 数据库 and camelCase"
    found = [(w.text, w.code) for w in written(text)]
    assert [w for w, code in found if code] == ["DEC-0054", "src/app.py", "10.0.0.1", "HTTP", "v2.1"]
    assert {"re", "index", "für", "camelCase"} <= {w for w, code in found if not code}
    assert "Don" not in dict(found) and "t" not in dict(found)
    assert all(text[w.start : w.end] == w.text for w in written(text))


@given(st.text(max_size=60))
def test_spans_hold_for_any_text(text: str) -> None:
    assert all(text[w.start : w.end] == w.text and w.text for w in written(text))
    assert all(len(word) > 1 for word in words_in(text))


def test_hostile_text_is_read_in_linear_time() -> None:
    started = time.perf_counter()
    for piece in ("a-", "a.", "'", "ab'", "\u0301", "_", "a1"):
        written(piece * 50_000)
        words_in(piece * 50_000)
    assert time.perf_counter() - started < 10


def test_one_word_as_two_and_capitals() -> None:
    assert splits("Database", {"data", "base", "dat", "abase"}) == (("dat", "abase"), ("data", "base"))
    assert (as_typed("solberg", "Solbreg"), as_typed("solberg", "solbreg")) == ("Solberg", "solberg")


def test_a_hundred_thousand_words_take_milliseconds() -> None:
    chance = Random(3)
    many = word_list({"".join(chance.choices(LETTERS, k=chance.randint(3, 14))): 1 for _ in range(100_000)})
    near_words("recipocal", many)  # imports
    started = time.process_time()
    for _ in range(10):
        near_words("recipocal", many)
    assert (time.process_time() - started) / 10 < 0.05  # about 5 ms here; 10 are promised of an idle machine
