"""What can be quoted from a text: whole sentences, none too short to say something, none too long to read."""

from __future__ import annotations

from glassbox_tui.text.cuts import best_cut
from glassbox_tui.text.sentences import sentences

# A longer sentence (Chinese prose may hold nothing but commas for a page) is quoted by its clauses.
QUOTE_CHARS = 160
# A shorter one leans on the next: "Dissolves." alone answers nothing.
SHORT_CHARS = 12
_BLOCKS = ("#", "|", "```", "~~~")


def quotes(text: str) -> list[tuple[int, int]]:
    """The spans of `text` that can be quoted, in order, without the white space around them.

    Sentences, except that what ends in a semicolon, or is very short, goes on into the next one of its paragraph while
    both fit. Headings, rules and the frames of tables and code are not statements; rows of a table are.
    """
    joined: list[tuple[int, int]] = []
    for start, end in sentences(text):
        if joined and _goes_on(text, *joined[-1]) and len(text[joined[-1][0] : end].strip()) <= QUOTE_CHARS:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [span for start, end in joined for span in _pieces(text, start, end)]


def _goes_on(text: str, start: int, end: int) -> bool:
    """Does the sentence lean on the one after it, in the same paragraph?"""
    piece = text[start:end]
    body = piece.strip()
    if not body or "\n" in piece[len(piece.rstrip()) :] or body.startswith(_BLOCKS):
        return False
    return body[-1] in "；;" or len(body) < SHORT_CHARS


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    piece = text[start:end]
    start, end = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    if not any(c.isalnum() for c in text[start:end]) or text.startswith(("#", "```", "~~~"), start):
        return []
    spans = []
    while end - start > QUOTE_CHARS:
        stop = best_cut(text, start, start + QUOTE_CHARS)
        spans.append(_trimmed(text, start, stop))
        start = stop
    return [*spans, _trimmed(text, start, end)]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
