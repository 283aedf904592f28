"""Folding meets what a reader takes for the same; showing never lets a terminal obey."""

from __future__ import annotations

import json
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glassbox_tui.text.normalize import fold, fold_spans, json_escaped, source_span, visible

anything = st.text(alphabet=st.characters(), max_size=60)  # lone surrogates and unassigned code points included
tricky = st.text(
    alphabet="aAßŉİǰﬁ…ｵｰﾀﾞﾊﾟガか\u3099ＥＴ\u200d\u200b\ufe0f\u0301\u0345각ㄱᄀ\u1161\u11a8ᾳΣς①㍿中。\u00ad", max_size=30
)


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("ＥＴＬ", "etl"),
        ("ｵｰﾀﾞｰ", "オーダー"),
        ("ﾊﾟｲﾌﾟ", "パイプ"),
        ("eﬃcient ﬁle", "efficient file"),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "CAFÉ"),
        ("re\u00adtrieval", "retrieval"),
        ("zero\u200bwidth", "zerowidth"),
        ("\ufeffnote", "note"),
        ("２０２４年", "2024年"),
        ("한글", unicodedata.normalize("NFD", "한글")),
    ],
)
def test_u2_two_spellings_of_one_word_fold_alike(written: str, typed: str) -> None:
    assert fold(written) == fold(typed)


@given(anything | tricky)
@example("ǰ")
@example("a\u200d\u0301")
def test_folding_is_unicodes_nfkc_casefold(text: str) -> None:
    kept = "".join(char for char in text if not _is_ignorable(char))
    expected = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", kept).casefold())
    assert fold(text) == expected


@given(anything | tricky)
def test_every_folded_character_knows_where_it_comes_from(text: str) -> None:
    folded, offsets = fold_spans(text)
    assert len(offsets) == len(folded) + 1
    assert offsets[-1] == len(text)
    assert all(0 <= a <= b for a, b in pairwise(offsets))
    for i in range(len(folded)):
        start, end = source_span(offsets, i, i + 1)
        assert 0 <= start < end <= len(text)
        assert folded[i] in fold(text[start:end])


def test_offsets_survive_contraction_and_expansion() -> None:
    text = "ﬁxｵｰﾀﾞｰ end"
    folded, offsets = fold_spans(text)
    assert folded == "fixオーダー end"
    for word, original in (("オーダー", "ｵｰﾀﾞｰ"), ("ダ", "ﾀﾞ"), ("end", "end"), ("f", "ﬁ")):
        at = folded.index(word)
        start, end = source_span(offsets, at, at + len(word))
        assert text[start:end] == original


@given(anything)
@example("\x1b[31mred\x1b]0;title\x07\x9b2J\u202eevil\u2066\ud800\0\r\t\u2028")
def test_nothing_that_is_shown_can_steer_a_terminal(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)  # spans computed on the text still hold
    assert visible(shown) == shown
    for char in shown:
        assert unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") or char == "\n"
        assert unicodedata.bidirectional(char) not in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    assert "\n" not in visible(text, keep_newlines=False)
    shown.encode("utf-8")


@given(anything)
@example("\x1b[31mred\x7f\x9b2J\u202eevil\u2066\ud800\U000e0041\u2028\\\x9b")
def test_json_that_is_printed_says_the_same_and_can_steer_no_terminal(text: str) -> None:
    printed = json_escaped(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(printed) == {text: [text]}
    assert visible(printed) == printed.replace("\xad", "-")  # a soft hyphen steers nothing


def test_t1_markup_is_left_as_it_stands() -> None:
    for text in ("[/]", "[b + ", "[type=x, v={'a[0]'}]", "中文 👩‍💻 café"):
        assert visible(text) == text
    assert visible("a\x1b[1mb") == "a␛[1mb"
    assert visible("two\nlines", keep_newlines=False) == "two lines"


def _is_ignorable(char: str) -> bool:
    ranges = (
        "\u00ad\u00ad\u034f\u034f\u061c\u061c\u180b\u180f\u200b\u200f\u202a\u202e\u2060\u206f\ufe00\ufe0f\ufeff\ufeff"
        "\U000e0000\U000e0fff"
    )
    return any(low <= char <= high for low, high in zip(ranges[::2], ranges[1::2], strict=True))
