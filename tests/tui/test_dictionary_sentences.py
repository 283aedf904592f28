"""What is said where the dictionary lacks exists in Chinese, as it comes out of a search."""

from __future__ import annotations

from pathlib import Path

import pytest

from glassbox_tui.models import lexicon
from glassbox_tui.models.errors import ModelError
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.words import speak


def _fault(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    source = tmp_path / "source.gz"
    if case != "missing":
        source.write_bytes(b"\x1f\x8b no dictionary")
        monkeypatch.setattr(lexicon, "find", lambda: source)
    else:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    if case == "gone":
        source.unlink()
    if case == "no place":
        (tmp_path / "models").write_text("in the way", encoding="utf-8")
    with pytest.raises(ModelError) as raised:
        lexicon.open_lexicon(tmp_path / "models")
    return f"{raised.value}: keywords find only notes in the question's own language"


@pytest.mark.parametrize("case", ["missing", "damaged", "gone", "no place"])
def test_the_notice_is_said_in_chinese(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = _fault(case, tmp_path, monkeypatch)
    assert told(sentence) == sentence
    speak("zh")
    try:
        said = told(sentence)
    finally:
        speak("en")
    assert said.startswith("词典") and said.endswith("关键词只能找到与问题同一种语言的笔记")
    assert "dictionary" not in said
