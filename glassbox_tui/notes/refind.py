"""Finds a passage again in a text that may have been edited since."""

from __future__ import annotations

_ANCHORS = 5  # lines of a changed passage that are looked for, the longest first
_SHORTEST_ANCHOR = 4  # characters; anything shorter stands everywhere


def find_again(text: str, passage: str, start: int) -> tuple[int, int] | None:
    """Where `passage`, once at offset `start`, stands in `text` now: [start, end), the nearest place if several.

    If it was changed itself, where the longest of its lines that is still there stands; None if none is.
    """
    if not passage:
        return None
    if text.startswith(passage, start):
        return start, start + len(passage)
    whole = _nearest(text, passage, start)
    if whole is not None:
        return whole
    lines = sorted({line.strip() for line in passage.split("\n")}, key=lambda line: (-len(line), line))
    found = (_nearest(text, line, start) for line in lines[:_ANCHORS] if len(line) >= _SHORTEST_ANCHOR)
    return next((span for span in found if span is not None), None)


def _nearest(text: str, wanted: str, start: int) -> tuple[int, int] | None:
    after, before = text.find(wanted, start), text.rfind(wanted, 0, start + len(wanted))
    places = [at for at in (before, after) if at >= 0]
    if not places:
        return None
    at = min(places, key=lambda place: abs(place - start))
    return at, at + len(wanted)
