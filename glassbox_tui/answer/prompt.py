"""What a language model is asked: the numbered passages as quoted material, and the question."""

from __future__ import annotations

from collections.abc import Sequence

from glassbox_tui.models.chat import Message
from glassbox_tui.retrieval.trace import Hit

RULES = "Answer from the numbered passages only. After each sentence write the number of its passage, as [1]."


def messages(question: str, hits: Sequence[Hit]) -> tuple[Message, ...]:
    """The dialogue so far: rules, then passages 1 to len(hits) and the question."""
    passages = "\n\n".join(f"[{number}] {hit.text}" for number, hit in enumerate(hits, start=1))
    return Message("system", RULES), Message("user", f"{passages}\n\nQuestion: {question}")
