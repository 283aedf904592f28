"""A dialogue as a model's own template writes it, with what is the template's kept apart from what is text.

The template is rendered with a stand-in for each message's text. So whoever cuts the result into tokens knows which
parts may name control tokens (the template's) and which may not (the messages', and the notes quoted in them).
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from glassbox_tui.models.chat import Message
from glassbox_tui.models.errors import ModelError

# What the model sees of a dialogue where its file has no template; it is a base model then, and this is plain text.
_PLAIN_ROLES = {"system": "Instructions", "user": "User", "assistant": "Assistant"}
PLAIN_STOP = f"\n{_PLAIN_ROLES['user']}:"
_SECONDS = 0.5  # of CPU that a template may take; real ones take thousandths
_LONGEST = 100_000  # characters that a template may add to the texts
Render = Callable[[list[dict[str, str]]], str]


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the prompt. `template`: it comes from the template, so that names in it are control tokens."""

    text: str
    template: bool


class TemplateFault(Exception):
    """The template does not leave texts as they are, or does not take such a dialogue."""


def renderer(template: str, bos: str, eos: str) -> Render:
    """The template of a model file as a function; the file may come from anywhere, so it runs in jinja's sandbox.

    Models that can think before they answer are asked not to: it takes minutes here. Raises ModelError for a template
    that is none.
    """
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    try:
        with _in_time():
            formatter = Jinja2ChatFormatter(template, eos_token=eos, bos_token=bos)
    except Exception as error:  # jinja2.TemplateSyntaxError and what its extensions raise
        raise ModelError(
            f"the chat template of the model cannot be read ({_said(error)}): take another model"
        ) from None

    def render(messages: list[dict[str, str]]) -> str:
        try:
            given: Any = messages
            with _in_time():
                prompt = str(formatter(messages=given, enable_thinking=False).prompt)
        except Exception as error:  # whatever a template does or raises by itself
            raise TemplateFault(_said(error)) from None
        if len(prompt) > _LONGEST + 2 * sum(len(message["content"]) for message in messages):
            raise TemplateFault(f"it makes {len(prompt):,} characters of a short dialogue")
        return prompt

    return render


@contextmanager
def _in_time() -> Iterator[None]:
    """Raises TemplateFault at the next line of a template that takes too long: no other way leads out of its loops."""
    end, before = time.thread_time() + _SECONDS, sys.gettrace()

    def look(_frame: FrameType, _event: str, _argument: object) -> Any:
        if time.thread_time() > end:
            raise TemplateFault("it does not come to an end")
        return look

    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)


def _said(error: Exception) -> str:
    """What an error says, on one line: a template may raise any text."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def parts(render: Render, messages: Sequence[Message]) -> list[Part]:
    """The prompt in parts, each message's text one of them. A template that takes no system turn gets it with the
    first question. Raises TemplateFault if the template changes, drops or repeats texts, or refuses the dialogue.
    """
    try:
        return _parts(render, messages)
    except TemplateFault:
        merged = without_system(messages)
        if merged == list(messages):
            raise
        return _parts(render, merged)


def _parts(render: Render, messages: Sequence[Message]) -> list[Part]:
    marks = [f"GLASSBOX-TEXT-{number}-OF-{len(messages)}" for number in range(len(messages))]
    rendered = render([{"role": m.role, "content": mark} for m, mark in zip(messages, marks, strict=True)])
    pieces = re.split(f"({'|'.join(marks)})", rendered) if marks else [rendered]
    if sorted(pieces[1::2]) != sorted(marks):
        raise TemplateFault("it changes, drops or repeats the texts")
    text_of = {mark: m.text for m, mark in zip(messages, marks, strict=True)}
    return [Part(text_of.get(piece, piece), piece not in text_of) for piece in pieces if piece]


def plain_parts(messages: Sequence[Message]) -> list[Part]:
    """For a model without a template: turns with their roles in words. Nothing in it names a control token."""
    turns = [f"{_PLAIN_ROLES[m.role]}: {m.text}\n\n" for m in messages]
    return [Part("".join(turns) + f"{_PLAIN_ROLES['assistant']}:", False)]


def without_system(messages: Sequence[Message]) -> list[Message]:
    """The dialogue with its system turns put before the first question."""
    said = [m.text for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    first = next((n for n, m in enumerate(rest) if m.role == "user"), None)
    if not said or first is None:
        return list(messages)
    rest[first] = Message("user", "\n\n".join([*said, rest[first].text]))
    return rest
