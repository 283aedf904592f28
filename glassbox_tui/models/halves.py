"""Characters beyond U+FFFF whose two halves come in two pieces of a stream.

JSON writes them as a pair of surrogates, and a server may cut its text between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def joined(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces in whole characters, none of them empty; a half that stays alone becomes U+FFFD."""
    held = ""
    for piece in pieces:
        text = held + piece
        held = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        if whole := _whole(text[: len(text) - len(held)]):
            yield whole
    if held:
        yield _whole(held)


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
