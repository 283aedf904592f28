"""What is quoted, and what is said when nothing can be."""

from __future__ import annotations

import pytest

from glassbox_tui import Engine
from glassbox_tui.answer.answers import answer
from glassbox_tui.answer.quoting import QUOTE_CHARS
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings


def built(notes: dict[str, str], embedder: E5Embedder | None = None) -> Engine:
    return Engine(embedder or HashingEmbedder(), settings=Settings(answers="extract")).build(notes)


def asked(engine: Engine, question: str):  # type: ignore[no-untyped-def]
    return answer(engine.search(question), engine)


NOTES = {
    "tea.md": "# Tea\n\nGreen tea is steeped at eighty degrees. Black tea takes boiling water.\n\nMilk is optional.",
    "lock.md": "# 锁\n\n租约到期以后锁自动释放。持有者要在到期前续租。时钟漂移会让租约提前失效。",
}


@pytest.mark.parametrize("bundled", [True, False])
def test_quotes_stand_in_the_note_and_lead_to_their_lines(bundled: bool, e5: E5Embedder) -> None:
    for question, path, words in (
        ("how hot is the water for green tea", "tea.md", "eighty degrees"),
        ("锁什么时候释放", "lock.md", "租约到期以后锁自动释放"),
    ):
        found = asked(built(NOTES, e5 if bundled else None), question)
        assert found.mode == "extract" and words in found.text and "[1]" in found.text
        for citation in found.citations:
            assert f"[{citation.number}]" in found.text
            first, last = citation.lines
            shown = "\n".join(NOTES[citation.path].split("\n")[first - 1 : last])
            for quote in citation.text.split(" … "):
                assert quote in " ".join(shown.split())
        assert path in {citation.path for citation in found.citations}


def test_a_row_of_a_table_is_quotable(e5: E5Embedder) -> None:
    """Case C1: the row that holds the answer may come after the header's chunk."""
    rows = "\n".join(f"| City{i} | {i * 37 % 101} | plain | note {i} |" for i in range(80))
    found = asked(built({"t.md": f"| city | fruit | kind | remark |\n|---|---|---|---|\n{rows}\n"}, e5), "City70 fruit")
    assert "City70" in found.text and "---" not in found.text


def test_a_page_without_a_full_stop_is_quoted_in_clauses() -> None:
    found = asked(built({"a.txt": "混合检索与稠密向量，" * 120}), "稠密向量")
    assert found.citations
    for citation in found.citations:
        assert all(len(quote) <= QUOTE_CHARS for quote in citation.text.split(" … "))


def test_a_copied_paragraph_is_quoted_once() -> None:
    twin = "One and the same paragraph about leases. It says little else."
    found = asked(built({"a.txt": twin, "b.txt": twin}), "leases paragraph")
    assert found.text.count("leases") == 1


def test_nothing_found_nothing_there_and_doubt_have_their_own_words() -> None:
    assert "index is empty" in asked(built({}), "tea").notice
    engine = built(NOTES)
    assert "No chunk was found" in answer(engine.search("xyzzy", mode="bm25"), engine).notice
    doubtful = asked(engine, "quantum chromodynamics of tea")
    assert doubtful.mode == "extract" and "insufficient" in doubtful.notice
    bare = asked(built({"a.md": "# Only\n\n## Headings\n"}), "headings about quantum chromodynamics")
    assert bare.mode == "none" and "no sentence" in bare.notice and "insufficient" in bare.notice
