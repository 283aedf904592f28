"""How closely the evidence panel looks: the text alone, with what stands around it, or token by token."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Around:
    """The text of the note before and after the chunk `uid`, as the index has it."""

    uid: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CloseUp:
    """`tokens`: the token list in place of the text. `wide`: the text around the chunk is wanted; `around` what came.

    `source` is the place of the answer's citation that keys act on.
    """

    tokens: bool = False
    wide: bool = False
    around: Around | None = None
    source: int = 0


PLAIN = CloseUp()
