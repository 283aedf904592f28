"""What the index holds of a note, put together from its chunks, which overlap: no file is read."""

from __future__ import annotations

from collections.abc import Sequence

from glassbox_tui.index.rows import ChunkRow


def text_of(chunks: Sequence[ChunkRow]) -> str:
    """The text that a note's `chunks` (in order) cover, overlaps once; a break where something lies between."""
    pieces: list[str] = []
    end = 0
    for chunk in chunks:
        if pieces and chunk.start > end:
            pieces.append("\n" * min(2, chunk.start - end))
        pieces.append(chunk.text[max(0, end - chunk.start) :] if pieces else chunk.text)
        end = max(end, chunk.end)
    return "".join(pieces)


def around(chunks: Sequence[ChunkRow], ordinal: int, chars: int) -> tuple[str, str]:
    """At most `chars` characters before and after chunk number `ordinal` of a note, as far as its neighbours reach."""
    place = next((i for i, chunk in enumerate(chunks) if chunk.ordinal == ordinal), None)
    if place is None:
        return "", ""
    here = chunks[place]
    before = _between([c for c in chunks[:place] if c.start < here.start], here.start)
    after = chunks[place + 1 :]
    tail = text_of([here, *after])[len(here.text) :]
    return before[max(0, len(before) - chars) :], tail[:chars]


def _between(chunks: Sequence[ChunkRow], end: int) -> str:
    """The text that `chunks` cover, up to offset `end`."""
    text = text_of(chunks)
    reach = max((chunk.end for chunk in chunks), default=0)
    return text[: len(text) - max(0, reach - end)] + ("\n" * min(2, end - reach) if reach < end and text else "")
