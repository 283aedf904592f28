"""What a model thinks aloud before it answers, taken out of the stream: nobody asked for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NAME = r"(?:think|thinking|thought|reasoning)"
_open = re.compile(rf"<{_NAME}>", re.IGNORECASE)
_close = re.compile(rf"</{_NAME}>", re.IGNORECASE)
# A tag whose end has not come yet.
_begun = re.compile(r"</?[a-z]{0,9}\Z", re.IGNORECASE)
# Came instead of a piece: all that came before was a thought, too.
FORGET = None


def without_thinking(pieces: Iterable[str]) -> Iterator[str | None]:
    """The pieces without `<think>...</think>`, however they are cut; a thought without an end lasts until the last one.

    A close without an opening gives FORGET: some chat formats open the thought themselves, in the prompt.
    """
    held, inside = "", False
    for piece in pieces:
        held += piece
        while held:
            if inside:
                close = _close.search(held)
                if close is None:
                    held = held[-12:]  # as long as the longest close
                    break
                held, inside = held[close.end() :], False
                continue
            opening, close = _open.search(held), _close.search(held)
            if close and (opening is None or close.start() < opening.start()):
                yield FORGET
                held = held[close.end() :]
            elif opening:
                if opening.start():
                    yield held[: opening.start()]
                held, inside = held[opening.end() :], True
            else:
                begun = _begun.search(held)
                ready = begun.start() if begun else len(held)
                if ready:
                    yield held[:ready]
                held = held[ready:]
                break
    if held and not inside:
        yield held
