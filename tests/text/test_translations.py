"""Which words of a question the dictionary is asked for, and what comes back. The dictionary is made up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.glosses import reversed_glosses
from glassbox_tui.text.language import CJK, OTHER
from glassbox_tui.text.translations import Gloss, question_language, translations

GLOSSES = {
    "防守": ("to defend", "defense"),
    "守卫": ("to guard",),
    "灯塔": ("lighthouse",),
    "灯": ("lamp",),
    "塔": ("tower",),
    "超级碗": ("Super Bowl",),
    "碗": ("bowl",),
    "的": ("of",),
    "怎么": ("how",),
}


class Small:
    def glosses(self, words: Collection[str]) -> Mapping[str, Sequence[str]]:
        return {word: GLOSSES[word] for word in words if word in GLOSSES}

    def words(self, keys: Collection[str]) -> Mapping[str, Sequence[tuple[str, float]]]:
        table = reversed_glosses(GLOSSES)
        return {key: table[key] for key in keys if key in table}


def read(text: str) -> dict[str, Gloss]:
    return {gloss.word: gloss for gloss in translations(text, Small())}


def meanings(gloss: Gloss) -> list[str]:
    return [alternative.text for alternative in gloss.alternatives]


def test_a_chinese_word_gives_the_index_terms_of_its_glosses() -> None:
    found = read("怎么防守灯塔？")
    assert set(found) == {"防守", "灯塔"}
    assert [(a.text, a.terms) for a in found["防守"].alternatives] == [
        ("to defend", ("defend",)),
        ("defense", ("defens",)),
    ]
    assert found["防守"].alternatives[0].weight > found["防守"].alternatives[1].weight


def test_overlapping_words_are_all_there() -> None:
    assert set(read("防守卫星")) >= {"防守", "守卫"}


def test_one_character_counts_where_no_longer_word_does() -> None:
    assert set(read("灯塔的碗")) == {"灯塔", "碗"}


def test_a_character_that_the_dictionary_lacks_is_an_unknown_word() -> None:
    assert read("鹮在灯塔")["鹮"].alternatives == ()


def test_an_english_word_gives_pairs_of_characters() -> None:
    found = read("Who defends the lighthouse?")
    assert meanings(found["defends"]) == ["defends", "防守"]
    assert found["lighthouse"].alternatives[1].terms == ("灯塔",)


def test_neighbouring_words_are_looked_up_together() -> None:
    found = read("When was the Super Bowl?")
    assert found["Super Bowl"].alternatives[0].terms == ("超级", "级碗")
    assert "碗" in meanings(found["Bowl"])


def test_what_is_written_alike_is_its_own_translation() -> None:
    assert meanings(read("DEC-0054的灯塔")["0054"]) == ["0054"]
    assert meanings(read("the lighthouse of DEC-0054")["0054"]) == ["0054"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("灯塔在哪里？", CJK),
        ("Energiprojekt AB公司位于何处?", CJK),
        ("Who is 张伟's manager?", OTHER),
        ("where is the lighthouse", OTHER),
        ("2015", OTHER),
        ("", OTHER),
    ],
)
def test_a_question_is_in_the_language_of_most_of_its_words(text: str, language: str) -> None:
    assert question_language(text) == language


@given(st.text(max_size=60) | st.text("防守卫灯塔碗的 a1,", max_size=40))
def test_spans_stand_in_the_text(text: str) -> None:
    for gloss in translations(text, Small()):
        assert 0 <= gloss.start < gloss.end <= len(text)
        assert gloss.word == text[gloss.start : gloss.end]
        assert all(a.terms and 0 < a.weight <= 1 for a in gloss.alternatives)


@given(st.text("防守灯塔", min_size=1, max_size=6), st.text("ab ", max_size=6))
def test_full_width_letters_and_half_width_letters_read_alike(chinese: str, latin: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if c != " " else "\u3000" for c in latin)
    narrow, broad = translations(chinese + latin, Small()), translations(chinese + wide, Small())
    assert [(g.start, [a.terms for a in g.alternatives]) for g in narrow] == [
        (g.start, [a.terms for a in g.alternatives]) for g in broad
    ]
