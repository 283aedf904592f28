"""Chunks: the spans of a note that are indexed, embedded and shown.

The default strategy packs whole sentences up to `chars`; neighbours share whole sentences up to `overlap`. A heading
begins a new chunk, however short the last one was: a short chunk under its own heading path is found by what it says
and cited exactly, while two subjects in one vector are found by neither. Tables and code stay whole when they fit.
`text/strategies.py` has the other strategies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from glassbox_tui.settings import CHUNK_STRATEGIES
from glassbox_tui.text.inline_data import without_data
from glassbox_tui.text.markdown import plain_section, sections


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How to cut. `chars` and `overlap` in characters; `token_limit` in tokens as `count_tokens` counts them.

    `count_tokens` may give at most one token per UTF-8 byte of the NFKC form and one more per word, as unigram,
    WordPiece and byte-pair tokenizers do: short chunks are then not counted.
    """

    chars: int = 700
    overlap: int = 180
    strategy: str = "sentences"
    token_limit: int | None = None
    count_tokens: Callable[[str], int] | None = None
    markdown: bool = True


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """One chunk: `text` is exactly source[start:end]; `index_text` is what is tokenized and embedded.

    `index_text` is a line with the heading path (what of it is not in the chunk), the header of a table that began in
    an earlier chunk, then `text`; where it ends with `text`, spans map by that suffix. Only a chunk with an inline
    picture does not: there a placeholder stands for the data. `heading` is the path of markdown headings.
    """

    start: int
    end: int
    text: str
    index_text: str
    heading: tuple[str, ...]


def chunk(text: str, options: ChunkOptions, *, start: int = 0, title: str = "") -> tuple[ChunkSpan, ...]:
    """The chunks of text[start:], by rising start; offsets are relative to the whole of `text`.

    Every character that is not white space is in a chunk; those of `recursive` join to text[start:]. No chunk.text is
    longer than options.chars, but for the data of inline pictures; count_tokens(index_text) <= token_limit. Raises
    ValueError if `options` contradict each other.
    """
    from glassbox_tui.text.strategies import STRATEGIES

    _check(options)
    body, source = without_data(text, start)
    parts = sections(body, start) if options.markdown else [plain_section(body, start)]
    spans: list[ChunkSpan] = []
    for first, last, index_text, path in STRATEGIES[options.strategy](body, start, parts, options, title):
        a, b = source(first), source(last)
        # Cuts inside a picture are moved to its end: of two chunks that begin or end together the longer one stays.
        if a < b and (not spans or b > spans[-1].end):
            if spans and a == spans[-1].start:
                spans.pop()
            spans.append(ChunkSpan(a, b, text[a:b], index_text, path))
    return tuple(spans)


def _check(options: ChunkOptions) -> None:
    if options.strategy not in CHUNK_STRATEGIES:
        raise ValueError(f"chunk strategy {options.strategy!r} is unknown; there are: {', '.join(CHUNK_STRATEGIES)}")
    if options.chars < 1 or not 0 <= options.overlap < options.chars:
        raise ValueError(f"a chunk of {options.chars} characters cannot share {options.overlap} with the next")
    if (options.token_limit is None) != (options.count_tokens is None):
        raise ValueError("token_limit and count_tokens belong together: give both or neither")
    if options.token_limit is not None and options.token_limit < 1:
        raise ValueError(f"a chunk cannot have at most {options.token_limit} tokens")
