"""Chunks: the spans of a note that are indexed, embedded and shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from glassbox_tui.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How to cut. `chars` and `overlap` in characters; `token_limit` in tokens as `count_tokens` counts them."""

    chars: int = 700
    overlap: int = 180
    strategy: str = "sentences"
    token_limit: int | None = None
    count_tokens: Callable[[str], int] | None = None
    markdown: bool = True


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """One chunk: `text` is exactly source[start:end]; `index_text` is what is tokenized and embedded."""

    start: int
    end: int
    text: str
    index_text: str
    heading: tuple[str, ...]


def chunk(text: str, options: ChunkOptions, *, start: int = 0, title: str = "") -> tuple[ChunkSpan, ...]:
    """The chunks of text[start:], in order; offsets are relative to the whole of `text`."""
    spans: list[ChunkSpan] = []
    first = last = start
    for a, b in sentences(text[start:]):
        a, b = a + start, b + start
        while b - first > options.chars and last > first:
            _emit(spans, text, first, last, title)
            first = last
        while b - first > options.chars:
            _emit(spans, text, first, first + options.chars, title)
            first += options.chars
        last = b
    _emit(spans, text, first, len(text), title)
    return tuple(spans)


def _emit(spans: list[ChunkSpan], text: str, first: int, last: int, title: str) -> None:
    body = text[first:last].rstrip()
    first += len(body) - len(body.lstrip())
    body = body.lstrip()
    if body:
        index_text = f"{title}\n{body}" if title else body
        spans.append(ChunkSpan(first, first + len(body), body, index_text, (title,) if title else ()))
