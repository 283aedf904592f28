"""Marks around a question are no part of it; marks of a literal are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glassbox_tui.text.strays import bare

QUESTIONS = ("how does a lease renew", "租约如何续期", "C++ templates", "lease 3.3.3", "what is C#")
BEFORE = ("/", "> ", ">", "* ", "# ", "- ", '"', "“", "'", "~", "  ", "... ", "•", "、", "|", "` ")
BEHIND = ("?", "？", ".", "。", "!", "...", " /", '"', "”", "'", " ?", "?!", "…", ";", "*", "  ", "~")
LITERALS = ("#103", "#tag", "@nasa", ".gitignore", "--verbose", "/etc/hosts", "$HOME", "~/notes", "-5", "+49", "_x")


@pytest.mark.parametrize("question", QUESTIONS)
def test_stray_marks_change_nothing(question: str) -> None:
    assert bare(question) == question
    for before in BEFORE:
        for behind in ("", *BEHIND):
            assert bare(before + question + behind) == question


@pytest.mark.parametrize("literal", LITERALS)
def test_the_mark_of_a_literal_stays(literal: str) -> None:
    for query in (literal, f"{literal} and more", f"more on {literal}"):
        assert bare(query) == query
        assert bare(f"> {query}?") == query


@pytest.mark.parametrize("ending", ["C++", "C#", "the U.S.", "e.g.", "50%", "__init__", "f(x)", "[[link]]"])
def test_the_mark_that_ends_a_literal_stays(ending: str) -> None:
    assert bare(f"about {ending}") == f"about {ending}"


@pytest.mark.parametrize("query", ["", " ", "?", "->", "😀", "：）", "/", "--"])
def test_a_query_of_marks_alone_is_left_as_it_is(query: str) -> None:
    assert bare(query) == query


@example("/5/:")
@given(st.text("ab中5 /.#@$-_+~?!\"“。😀:'", max_size=20))
def test_only_ends_are_cut_and_no_letter_goes(query: str) -> None:
    left = bare(query)
    assert left in query
    assert [c for c in left if c.isalnum()] == [c for c in query if c.isalnum()]
    assert bare(left) == left


@pytest.mark.parametrize("piece", ["/", "/a", "#", ".", "a.", "_", "~/", "-"])
def test_a_hostile_paste_ends(piece: str) -> None:
    assert isinstance(bare(piece * 100_000 + "x" + piece * 100_000), str)
