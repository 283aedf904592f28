"""A ChatModel that says what a test has written down, in place of a real one where the model is beside the point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from glassbox_tui.models.chat import Message
from glassbox_tui.progress import Cancelled, CancelledFn


class Scripted:
    """Replies one after another, the last one again and again; or what a function makes of the last message.

    `asked` are the prompts so far. An exception among the replies is raised.
    """

    name = "scripted"
    context = 4096

    def __init__(
        self, replies: Iterable[str | Exception] | Callable[[str], str], languages: tuple[str, ...] = ()
    ) -> None:
        self._replies = replies if callable(replies) else list(replies)
        self.languages = languages
        self.asked: list[tuple[Message, ...]] = []

    def count(self, messages: Sequence[Message]) -> int:
        return sum(len(m.text.split()) + 4 for m in messages)

    def write(
        self,
        messages: Sequence[Message],
        limit: int,
        *,
        cancelled: CancelledFn = lambda: False,
        reading: Callable[[int, int], None] = lambda done, total: None,
        temperature: float = 0.0,
    ) -> Iterator[str]:
        self.asked.append(tuple(messages))
        if callable(self._replies):
            reply: str | Exception = self._replies(messages[-1].text)
        else:
            reply = self._replies[min(len(self.asked), len(self._replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        for piece in reply.splitlines(keepends=True):
            if cancelled():
                raise Cancelled
            yield piece
