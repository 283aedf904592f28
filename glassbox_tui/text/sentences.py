"""Sentences of Chinese and English text."""

from __future__ import annotations

import re

_end = re.compile(r"[。！？；…!?]+[”’」』）)\]】》〉\"']*\s*|\.[\"')\]”’]*\s+(?=[A-Z\u4e00-\u9fff])|\n+\s*")


def sentences(text: str) -> list[tuple[int, int]]:
    """A partition of `text` into sentences: contiguous spans that cover all of it."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _end.finditer(text):
        if match.end() > start:
            spans.append((start, match.end()))
            start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans
