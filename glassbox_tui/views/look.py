"""What a terminal can draw: three looks. Notes may hold any character; our own drawing keeps to what the look allows.

`unicode`: box lines and the rest, for terminals that draw characters of ambiguous East Asian width (UAX #11: "A", as
the box lines and the ellipsis) one cell wide. `wide`: for CJK terminals that draw those two cells wide; none of them is
drawn, braille stands in, which is neutral and one cell wide everywhere. `ascii`: ASCII alone.
"""

from __future__ import annotations

from typing import Literal

Look = Literal["unicode", "wide", "ascii"]
LOOKS: tuple[Look, ...] = ("unicode", "wide", "ascii")


def look_of(*, ascii: bool, wide: bool = False) -> Look:
    """The look for a terminal that wants ASCII, or draws ambiguous characters `wide`; ASCII goes before."""
    return "ascii" if ascii else "wide" if wide else "unicode"


def ellipsis(look: Look) -> str:
    """The mark where text was cut, one cell wide."""
    return "…" if look == "unicode" else "~"


def arrows(look: Look) -> tuple[str, str]:
    """(rose, fell). The small triangles are of neutral width, unlike the large ones and the arrows."""
    return ("^", "v") if look == "ascii" else ("▴", "▾")


def levels(look: Look) -> tuple[str, str, str, str]:
    """Four bars from low to high, each one cell wide. Braille is of neutral width, block elements are not."""
    return ("_", "-", "=", "#") if look == "ascii" else ("⣀", "⣤", "⣶", "⣿")
