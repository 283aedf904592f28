"""What somebody leaves out or writes otherwise when typing a word still finds it; what is shown is the note's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.text.folding import simplified, without_accents
from glassbox_tui.text.tokens import content_terms, terms, tokenize

# (as the note has it, as it is typed)
TYPED = [
    *[("Łukasz", "lukasz"), ("đặt lịch", "dat lich"), ("Tromsø", "tromso"), ("façade", "facade"), ("Ærø", "aero")],
    *[("Þingvellir", "thingvellir"), ("ısı", "isi"), ("œuvre", "oeuvre"), ("Ħal", "hal"), ("crêpes", "crepes")],
    *[("Straße", "strasse"), ("STRASSE", "straße"), ("ёлка", "елка"), ("елка", "ёлка"), ("Αθήνα", "αθηνα")],
    *[("résumés", "resumes"), ("naïvely", "naively"), ("São Paulo", "sao paulo"), ("déjà-vu", "deja-vu")],
    *[("مَدْرَسَة", "مدرسة"), ("كِتَاب", "كتاب"), ("שָׁלוֹם", "שלום"), ("مـدرسة", "مدرسة")],
    *[("檢索系統", "检索系统"), ("检索系统", "檢索系統"), ("瞭解", "了解"), ("臺灣", "台湾"), ("資料庫", "资料库")],
]  # fmt: skip
UNSPACED = [
    *[("ฉันชอบอาหารไทยมาก", "อาหารไทย"), ("ຂ້ອຍຮຽນພາສາລາວ", "ພາສາ"),
      ("ខ្ញុំរៀនភាសាខ្មែរ", "ភាសា"), ("ကျွန်တော် မြန်မာစာ", "မြန်မာ")],
]  # fmt: skip


@pytest.mark.parametrize(("written", "typed"), TYPED)
@pytest.mark.parametrize("frame", ["{}", "the {} of", "（{}）"])
def test_a8_a9_a18_what_is_typed_plainly_meets_what_is_written(written: str, typed: str, frame: str) -> None:
    plain = without_accents(typed.lower())
    assert content_terms(plain)
    assert set(content_terms(plain)) <= set(terms(frame.format(written)))
    assert set(content_terms(typed)) & set(terms(frame.format(written)))


@pytest.mark.parametrize(("written", "typed"), UNSPACED)
def test_a23_a_word_is_found_in_a_sentence_without_blanks(written: str, typed: str) -> None:
    assert content_terms(typed)
    assert set(content_terms(typed)) <= set(terms(written))


@pytest.mark.parametrize("word", ["café", "Łukasz", "đặt", "Ærø", "naïve", "ёлка"])
def test_the_accented_word_meets_itself(word: str) -> None:
    assert set(terms(word)) == set(terms(word.upper())) == set(terms(word.lower()))


def test_the_stem_comes_after_the_folding() -> None:
    assert set(terms("crepes")) <= set(terms("crêpes"))
    assert set(terms("facades")) <= set(terms("façade"))


def test_a_letter_that_is_another_letter_stays() -> None:
    assert not set(terms("мой")) & set(terms("мои"))


@given(st.text())
def test_simplifying_keeps_every_offset(text: str) -> None:
    assert len(simplified(text)) == len(text)
    assert simplified(simplified(text)) == simplified(text)


@pytest.mark.parametrize("text", ["為什麼", "什麼", "怎麼樣", "我們與他們", "還是", "沒有", "這個", "哪裡"])
def test_traditional_function_words_say_nothing_either(text: str) -> None:
    assert content_terms(text) == []


def test_what_is_shown_of_a_folded_word_is_the_notes_own() -> None:
    text = "檢索 đặt مَدْرَسَة"
    spans = {token.term: text[token.start : token.end] for token in tokenize(text)}
    assert spans["检索"] == "檢索"
    assert spans["dat"] == "đặt"
    assert spans["مدرسة"] == "مَدْرَسَة"


@pytest.mark.parametrize(
    ("query", "note"),
    [("🎉", "Party 🎉!"), ("👍", "ok 👍🏽"), ("❤", "with ❤️"), ("❤️", "with ❤"), ("👩‍💻", "a 👩‍💻 at work"),
        ("🇩🇪", "🇩🇪🇫🇷"), ("✅", "✅完成")],
)  # fmt: skip
def test_a22_an_emoji_is_a_term(query: str, note: str) -> None:
    assert terms(query)
    assert set(terms(query)) <= set(terms(note))
    assert content_terms(query)
    assert content_terms(f"refund {query}") == ["refund"]


def test_a22_another_emoji_is_another_term() -> None:
    assert not set(terms("🎉")) & set(terms("🎊"))
    assert not set(terms("🇩🇪")) & set(terms("🇫🇷"))


@pytest.mark.parametrize("gap", ["\n", "\n  ", " \n\t", "\r\n", "\n> ", "\n　"])
def test_a17_a_chinese_word_goes_on_in_the_next_line(gap: str) -> None:
    text = f"合同需要经过审{gap}批流程之后生效"
    assert "审批" in terms(text)
    [token] = [token for token in tokenize(text) if token.term == "审批"]
    assert text[token.start : token.end] == f"审{gap}批"


@pytest.mark.parametrize(
    "text",
    [
        "经过审\n\n批流程", "经过审\n- 批流程", "# 经过审\n批流程",
        "经过审\n# 批流程", "审。\n批", "| 审\n批", "经过审\n1. 批", "심\n사", "审\n一、批"],
)  # fmt: skip
def test_a17_not_across_what_ends_a_line_on_purpose(text: str) -> None:
    assert not {"审批", "심사", "审一"} & set(terms(text))


@given(st.text(alphabet="审批的在\n \t#>-|。a1\r", max_size=30))
def test_a17_terms_alone_are_those_of_the_tokens(text: str) -> None:
    assert sorted(terms(text)) == sorted(token.term for token in tokenize(text))
    assert all(0 <= token.start < token.end <= len(text) for token in tokenize(text))
