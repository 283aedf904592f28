"""A language model that answers messages with text: the one thing that answers, rewrites and judges ask of it.

A `ChatModel` is a GGUF file here (`llama`) or a server on this machine (`server`); a class of one's own fits by shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from glassbox_tui.progress import CancelledFn

Role = Literal["system", "user", "assistant"]
# (tokens of the prompt that are read, tokens of the prompt)
ReadingFn = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `text` is quoted material as far as the model is concerned: no token in it controls the dialogue."""

    role: Role
    text: str


@runtime_checkable
class ChatModel(Protocol):
    """Continues a dialogue. One call runs at a time; another waits for it (and may be cancelled while it waits)."""

    @property
    def name(self) -> str: ...

    @property
    def context(self) -> int:
        """Tokens that prompt and answer may have together."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages it writes, as `text.language` names them; empty: not known, so any."""
        ...

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt that these make, template included; an upper estimate where nobody can count."""
        ...

    def write(
        self,
        messages: Sequence[Message],
        limit: int,
        *,
        cancelled: CancelledFn = lambda: False,
        reading: ReadingFn = lambda done, total: None,
        temperature: float = 0.0,
    ) -> Iterator[str]:
        """The next turn in pieces of whole characters, at most `limit` tokens; temperature 0 takes the likeliest.

        Raises Cancelled within two seconds of `cancelled()`, also while the prompt is read; ModelError, one sentence,
        for a prompt that does not fit the context and for whatever goes wrong with the model.
        """
        ...


def notices_of(model: ChatModel) -> tuple[str, ...]:
    """What a model has to say of how it is asked, a sentence each: its `notices`, if it has any."""
    return tuple(getattr(model, "notices", ()))


def most_passages(model: ChatModel) -> int:
    """How many passages it answers best from (its `most_passages`); 0: as many as fit its context."""
    return int(getattr(model, "most_passages", 0))


def reached_limit(model: ChatModel) -> bool | None:
    """Whether the text that it wrote last ended at `limit`; None: it does not say (it has no `reached_limit`)."""
    return getattr(model, "reached_limit", None)


def complete(
    model: ChatModel,
    messages: Sequence[Message],
    limit: int,
    cancelled: CancelledFn = lambda: False,
    temperature: float = 0.0,
) -> str:
    """The whole next turn at once."""
    return "".join(model.write(messages, limit, cancelled=cancelled, temperature=temperature))
