"""Terms: what must meet in a search meets, and what says nothing is no term."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glassbox_tui.text import tokens
from glassbox_tui.text.tokens import LONGEST_TERM, Token, content_terms, tokenize

SCRAPS = """
the of 检索 混合 目的 的 了吗 RRF DEC-0054 err_code_17 C++ C# @nasa 38.101 v3.14 camelCase HTTPServer src/app.py it's
O’Brien ｵｰﾀﾞｰ オーダー これは 한국어 café ﬁne １２３ x::y 1,000 👩‍💻 ？！ … -- ++ '' &
"""
words = st.sampled_from([*SCRAPS.split(), "\u0301", "\ud800", "\0"])
mixed = st.lists(words | st.text(max_size=5), max_size=12).flatmap(
    lambda parts: st.sampled_from(["", " ", "\n", "-"]).map(lambda glue: glue.join(parts))
)


def terms(text: str) -> list[str]:
    return [token.term for token in tokenize(text)]


@given(mixed, st.integers(1, 4))
def test_terms_alone_are_those_of_the_tokens(text: str, shortest: int) -> None:
    assert sorted(tokens.terms(text, shortest)) == sorted(token.term for token in tokenize(text, shortest))


@pytest.mark.parametrize(
    "query", ["the of and", "The OF and", "的了吗", "？！", "", " \n", "... -- !?", "的", "and/or"]
)
def test_b3_a_query_without_subject_has_no_terms(query: str) -> None:
    assert terms(query) == []
    assert content_terms(query) == []


@pytest.mark.parametrize("query", ["启", "nginx", "502", "重启", "NGINX", "ｎｇｉｎｘ"])
def test_u1_glued_and_single_characters_are_found(query: str) -> None:
    assert set(terms(query)) <= set(terms("重启nginx后502"))
    assert terms(query)


def test_u1_adjacent_pairs_share_more_terms_than_scattered_characters() -> None:
    query = set(terms("检索"))
    assert len(query & set(terms("检索的方法"))) > len(query & set(terms("索引与检查")))


@pytest.mark.parametrize(
    ("query", "note"), [("ETL", "ＥＴＬ"), ("オーダー", "ｵｰﾀﾞｰ"), ("file", "ﬁle"), ("cafe", "café")]
)
def test_u2_spellings_meet(query: str, note: str) -> None:
    assert set(terms(query)) <= set(terms(note))
    assert terms(query)


@pytest.mark.parametrize(
    ("literal", "whole", "parts"),
    [
        ("DEC-0054", "dec-0054", {"dec", "0054"}),
        ("err_code_17", "err_code_17", {"err", "code", "17"}),
        ("C++", "c++", {"c"}),
        ("C#", "c#", {"c"}),
        ("@nasa", "@nasa", {"nasa"}),
        ("38.101", "38.101", {"38", "101"}),
        ("v3.14", "v3.14", {"3.14"}),
        ("src/retrieval/app.py", "src/retrieval/app.py", {"src", "app", "py"}),
        ("os.path.join", "os.path.join", {"os", "path", "join"}),
        ("HTTPServer", "httpserver", {"http", "server"}),
        ("1,000", "1000", {"1", "000"}),
        ("R&D", "r&d", {"r", "d"}),
        (".gitignore", ".gitignore", {"gitignor"}),
        ("std::vector", "std::vector", {"std", "vector"}),
        ("O’Brien", "o'brien", {"brien"}),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "see {}.", "（{}）", "用{}写的", "{}, and more", "“{}”"])
def test_b4_identifiers_are_terms_whole_and_by_part(literal: str, whole: str, parts: set[str], frame: str) -> None:
    found = terms(frame.format(literal))
    assert whole in found
    assert parts <= set(found)


def test_english_inflections_meet_and_contractions_vanish() -> None:
    assert terms("retrieving retrieved retrieves") == terms("retrieve") * 3
    assert terms("It's the note's end, isn't it") == terms("note end")
    assert terms("IT") == ["it"]  # the department, not the pronoun


def test_content_terms_say_what_the_question_is_about() -> None:
    found = content_terms("为什么混合检索要用RRF而不是加权分数相加")
    assert {"混合", "合检", "检索", "rrf", "加权", "权分", "分数"} <= set(found)
    assert not {"什么", "为什", "而不", "不是", "要用", "索要", "是加"} & set(found)
    assert content_terms("项目的目的是什么？") == ["项目", "目的"]
    assert content_terms("What is the RRF formula, and what is RRF?") == ["rrf", "formula"]
    assert content_terms("向量检索和关键词检索有什么区别") == ["向量", "量检", "检索", "关键", "键词", "词检", "区别"]
    assert content_terms("启") == ["启"]


def test_min_token_len_bounds_words_not_characters() -> None:
    assert [t.term for t in tokenize("a1 b xyz 启", min_token_len=3)] == ["xyz", "启"]


@given(mixed)
@example("İstanbul ŉ ß")
@example("क्षत्रिय ไทย مَدرَسَة")
def test_spans_lie_in_the_text_and_are_never_empty(text: str) -> None:
    found = tokenize(text)
    for token in found:
        assert 0 <= token.start < token.end <= len(text)
        assert 0 < len(token.term) <= LONGEST_TERM
    assert [t.start for t in found] == sorted(t.start for t in found)
    content = content_terms(text)
    assert len(content) == len(set(content))
    assert set(content) <= {t.term for t in found}


@given(mixed)
def test_a_span_holds_its_term(text: str) -> None:
    for token in tokenize(text):
        cut = text[token.start : token.end]
        assert token.term in terms(cut) or token.term in terms(f"@{cut}"), (token, cut)


def test_spans_point_at_the_original_spelling() -> None:
    text = "前 ｵｰﾀﾞｰ、eﬃcient"
    by_term = {t.term: text[t.start : t.end] for t in tokenize(text)}
    assert by_term["オー"] == "ｵｰ"
    assert by_term["ーダ"] == "ｰﾀﾞ"
    assert by_term["effici"] == "eﬃcient"
    assert tokenize("启")[0] == Token("启", 0, 1)


def test_a_blob_of_base64_does_not_become_a_giant_term() -> None:
    assert all(len(term) <= LONGEST_TERM for term in terms("QUJD/+" * 5000))


def test_what_stems_and_stop_words_are_worth_can_be_measured() -> None:
    def without(text: str, **switches: bool) -> set[str]:
        return set(tokens.terms(text, **switches))

    assert without("the running dogs") == {"run", "dog"}
    assert without("the running dogs", stems=False) == {"running", "dogs"}
    assert without("the running dogs", stop_words=False) == {"the", "run", "dog"}
    assert without("the running dogs", stems=False, stop_words=False) == {"the", "running", "dogs"}
    assert without("我的猫") == {"猫", "的猫"}
    assert without("我的猫", stop_words=False) == {"我", "的", "猫", "我的", "的猫"}
