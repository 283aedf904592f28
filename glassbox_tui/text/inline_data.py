"""Pictures written into a note as data: URIs, taken out before the note is cut."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

# Shorter ones are left alone: they may be an example in prose. None holds white space, quotes or closing brackets.
_data_uri = re.compile(r"data:(\w{1,20}/[\w.+-]{1,60})(?:;[\w.=-]{1,40})*,[^\s()<>\[\]\"'`]{64,}", re.IGNORECASE)


def without_data(text: str, start: int) -> tuple[str, Callable[[int], int]]:
    """(text with `[image/png]` for each data: URI after `start`, a function from its offsets to those of `text`).

    An offset inside a placeholder becomes the end of the data, so that cuts never fall inside it.
    """
    pieces: list[str] = []
    short: list[int] = [0]  # where pieces begin in the new text
    long: list[int] = [0]  # and in the old one
    done = length = 0
    for match in _data_uri.finditer(text, start):
        begin, end = match.span()
        for piece, after in ((text[done:begin], begin), (f"[{match.group(1).lower()}]", end)):
            pieces.append(piece)
            length += len(piece)
            short.append(length)
            long.append(after)
        done = end
    if not pieces:
        return text, int
    pieces.append(text[done:])

    def source(at: int) -> int:
        piece = bisect_right(short, at) - 1
        if piece % 2 and at > short[piece]:  # odd pieces are placeholders
            return long[piece + 1]
        return long[piece] + at - short[piece]

    return "".join(pieces), source
