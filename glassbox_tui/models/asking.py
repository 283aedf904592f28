"""Asking a language model for one short reply, whether it is a `ChatModel` or any callable from text to text."""

from __future__ import annotations

from collections.abc import Callable

from glassbox_tui.models.chat import ChatModel, Message, complete
from glassbox_tui.progress import Cancelled, CancelledFn

# (prompt) -> reply
CompleteFn = Callable[[str], str]
KEPT = 256  # replies
LEAST = 80  # characters of a passage, however little room there is


class Asker:
    """One model, its latest replies kept: the rounds of one search ask the same again."""

    def __init__(self, model: ChatModel | CompleteFn) -> None:
        self._model = model
        self._kept: dict[tuple[str, str, int], str] = {}

    @property
    def name(self) -> str:
        model = self._model
        return str(model.name if isinstance(model, ChatModel) else getattr(model, "__name__", "callable"))

    def ask(self, system: str, prompt: str, limit: int, cancelled: CancelledFn) -> str:
        """The reply to `prompt`, at most `limit` tokens (a callable minds its own length). Raises Cancelled,
        ModelError, and whatever a callable raises."""
        key = (system, prompt, limit)
        if key not in self._kept:
            if cancelled():
                raise Cancelled
            reply = self._ask(system, prompt, limit, cancelled)
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = reply
        return self._kept[key]

    def ask_about(
        self, system: str, prompt_of: Callable[[int], str], chars: int, limit: int, cancelled: CancelledFn
    ) -> str:
        """`ask` with `prompt_of(chars)`; with fewer characters a passage where that does not fit the context."""
        while chars > LEAST and not self._fits(system, prompt_of(chars), limit):
            chars = max(LEAST, chars // 2)
        return self.ask(system, prompt_of(chars), limit, cancelled)

    def _fits(self, system: str, prompt: str, limit: int) -> bool:
        model = self._model
        if not isinstance(model, ChatModel):
            return True
        return model.count((Message("system", system), Message("user", prompt))) + limit <= model.context

    def _ask(self, system: str, prompt: str, limit: int, cancelled: CancelledFn) -> str:
        if isinstance(self._model, ChatModel):
            return complete(self._model, (Message("system", system), Message("user", prompt)), limit, cancelled)
        return str(self._model(f"{system}\n\n{prompt}"))


def quoted(text: str, chars: int) -> str:
    """A passage for a prompt: on one line, cut at `chars`."""
    flat = " ".join(text.split())
    return flat if len(flat) <= chars else flat[: chars - 1] + "…"
