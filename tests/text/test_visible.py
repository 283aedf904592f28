"""What a person could see in a text, and that a note without any of it is not searched."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings
from glassbox_tui.text.visible import has_visible

INVISIBLE = ["\u3164", "\u200b", "\u00ad", "\u2800", "\u115f\u1160", "\uffa0", "\u2060\ufeff", "\ufe0f", " \t\n\u3000"]
NO_WORD = ["---", "***\n\n---", "...", "“”", "___", "…！？。"]


@pytest.mark.parametrize("text", [*INVISIBLE, *NO_WORD, "".join(INVISIBLE + NO_WORD) * 100, ""])
def test_nothing_is_seen(text: str) -> None:
    assert not has_visible(text)


@pytest.mark.parametrize("text", ["a", "\u4e2d", "7", "½", "+", "€", "🦫", "√", "é", "ก", "\u200b\u3164x", "--- 1 ---"])
def test_something_is_seen(text: str) -> None:
    assert has_visible(text)


@given(st.characters(categories=["Lu", "Ll", "Lo", "Nd", "No", "Sm", "Sc", "So"]))
def test_any_letter_digit_or_symbol_that_has_ink_is_seen(char: str) -> None:
    assert has_visible(char) or "FILLER" in unicodedata.name(char) or char == "\u2800"


@given(st.text(st.characters(categories=["Cf", "Mn", "Zs", "Cc", "Pd", "Po", "Ps", "Pe"])))
def test_no_control_mark_space_or_punctuation_is(text: str) -> None:
    assert not has_visible(text)


@pytest.mark.parametrize("suffix", ["md", "txt"])
@pytest.mark.parametrize("text", [*INVISIBLE, *NO_WORD])
def test_such_a_note_is_listed_and_neither_ranked_nor_embedded(tmp_path: Path, text: str, suffix: str) -> None:
    (tmp_path / f"none.{suffix}").write_text(text * 3, "utf-8")
    (tmp_path / "some.md").write_text("A marmot.\n\n---\n")
    settings = Settings(data=str(tmp_path.with_name(f"{tmp_path.name}-data")))
    with Engine.open(tmp_path, settings, embedder=HashingEmbedder()) as engine:
        assert engine.update().problems == ((f"none.{suffix}", "has no text"),)
        assert {hit.path for hit in engine.search("marmot").rounds[0].hits} == {"some.md"}
        assert engine.snapshot.dense.size == 1
    texts = Engine(HashingEmbedder(), settings=settings).build({"none": text, "some": "A marmot."})
    assert texts.snapshot.dense.size == 1
