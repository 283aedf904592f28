"""A language model that says what a test has it say: for what does not depend on the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glassbox_tui.models.chat import Message, ReadingFn
from glassbox_tui.progress import Cancelled, CancelledFn


class Scripted:
    """Counts words; writes `says` in the pieces given, then raises `fails` if there is one."""

    def __init__(
        self,
        *says: str,
        context: int = 4096,
        languages: tuple[str, ...] = (),
        fails: Exception | None = None,
    ) -> None:
        self.name, self.context, self.languages = "scripted", context, languages
        self.says, self.fails = says, fails
        self.asked: list[tuple[Message, ...]] = []
        self.limits: list[int] = []
        self.closed = False
        self.notices: tuple[str, ...] = ()
        self.most_passages = 0
        self.reached_limit: bool | None = None  # does not say

    def count(self, messages: Sequence[Message]) -> int:
        return sum(4 + len(message.text.split()) for message in messages)

    def write(
        self,
        messages: Sequence[Message],
        limit: int,
        *,
        cancelled: CancelledFn = lambda: False,
        reading: ReadingFn = lambda done, total: None,
        temperature: float = 0.0,
    ) -> Iterator[str]:
        self.asked.append(tuple(messages))
        self.limits.append(limit)
        total = self.count(messages)
        reading(total // 2, total)
        reading(total, total)
        try:
            for piece in self.says:
                if cancelled():
                    raise Cancelled
                yield piece
            if self.fails:
                raise self.fails
        finally:
            self.closed = True
