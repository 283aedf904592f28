"""A language model as judge: does this evidence suffice to answer the question, yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from glassbox_tui.models.asking import Asker, CompleteFn, quoted
from glassbox_tui.models.chat import ChatModel
from glassbox_tui.models.errors import ModelError
from glassbox_tui.progress import CancelledFn
from glassbox_tui.text import replies

PASSAGES = 4  # of the evidence; more would not fit a small model
TOGETHER = 3_200  # characters of them
QUESTION_CHARS, REPLY_CHARS = 600, 60
SYSTEM = "You judge whether passages from notes answer a question. Reply with yes or no and nothing else."


class UnclearError(ModelError):
    """The reply says neither yes nor no."""


def _never() -> bool:
    return False


class LLMJudge:
    """A Judge made of any model that completes text."""

    def __init__(self, complete: ChatModel | CompleteFn) -> None:
        self._asker = Asker(complete)

    @property
    def name(self) -> str:
        return self._asker.name

    def judge(self, query: str, evidence: Sequence[str], cancelled: CancelledFn = _never) -> bool:
        """Whether the first PASSAGES of the evidence suffice. No evidence never does.

        Raises Cancelled; UnclearError for a reply that says neither; ModelError for what goes wrong with the model.
        """
        shown = evidence[:PASSAGES]
        if not shown:
            return False
        prompt = partial(_prompt, quoted(query, QUESTION_CHARS), shown)
        reply = self._asker.ask_about(SYSTEM, prompt, TOGETHER // len(shown), 12, cancelled)
        verdict = replies.yes_or_no(reply)
        if verdict is None:
            said = quoted(replies.said(reply), REPLY_CHARS) or "nothing"
            raise UnclearError(f"it says neither yes nor no, but {said!r}")
        return verdict


def _prompt(question: str, passages: Sequence[str], chars: int) -> str:
    listed = "\n".join(f"[{i}] {quoted(text, chars)}" for i, text in enumerate(passages, start=1))
    return f"Question: {question}\n\n{listed}\n\nIs the answer to the question in these passages? Reply with yes or no."
