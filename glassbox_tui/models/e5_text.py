"""The model's own reading of a text: its normaliser table applied with the way back to the original kept.

The table (from the model file) maps single code points: compatibility forms to plain ones, any white space and
invisible format character to a space, control characters to nothing. A token's span in the normalised text thus always
leads back to a span of the original.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Neither can reach the tokenizer: UTF-8 has no lone surrogates; NUL is a control character that the table leaves out.
_EXTRA = {0: ""} | dict.fromkeys(range(0xD800, 0xE000), " ")


@dataclass(frozen=True, slots=True)
class Normaliser:
    """`table` is for str.translate; `uneven` finds the characters that do not become exactly one."""

    table: Mapping[int, str]
    uneven: re.Pattern[str]


def make_normaliser(table: Mapping[int, str]) -> Normaliser:
    full = _EXTRA | dict(table)
    uneven = "".join(re.escape(chr(point)) for point, out in sorted(full.items()) if len(out) != 1)
    return Normaliser(full, re.compile(f"[{uneven}]"))


def normalise(text: str, normaliser: Normaliser) -> tuple[str, Sequence[int]]:
    """(normalised, origins): normalised character i comes from text[origins[i]]."""
    normalised = text.translate(normaliser.table)
    if len(normalised) == len(text) and not normaliser.uneven.search(text):
        return normalised, range(len(text))
    origins: list[int] = []
    done = 0
    for match in normaliser.uneven.finditer(text):
        at = match.start()
        origins.extend(range(done, at))
        origins.extend([at] * len(normaliser.table[ord(match[0])]))
        done = at + 1
    origins.extend(range(done, len(text)))
    return normalised, origins


def original_span(span: tuple[int, int], origins: Sequence[int]) -> tuple[int, int]:
    """[start, end) in the normalised text -> [start, end) in the original; an empty span stays empty."""
    start, end = span
    if start >= end:
        at = origins[start] if start < len(origins) else (origins[-1] + 1 if origins else 0)
        return at, at
    return origins[start], origins[end - 1] + 1
