"""Does an embedder know the language of the notes? One that does not gives vectors all the same, and no error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from glassbox_tui.models.protocols import Embedder

# Emoji and rare names make a few per cent in any language; a script that is not in the vocabulary makes most of it.
WARN_SHARE = 0.15


@runtime_checkable
class CountsUnknown(Protocol):
    """An embedder that can tell how much of a text its vocabulary lacks."""

    def count_unknown(self, text: str) -> tuple[int, int]:
        """(unknown, all) tokens of `text`, without special tokens."""
        ...


def language_notice(embedder: Embedder, texts: Iterable[str]) -> str | None:
    """A sentence for the screen if the embedder does not know much of these texts (a sample of the notes will do)."""
    if not isinstance(embedder, CountsUnknown):
        return None
    unknown = total = 0
    for text in texts:
        part, all_tokens = embedder.count_unknown(text)
        unknown, total = unknown + part, total + all_tokens
    if not total or unknown / total < WARN_SHARE:
        return None
    return (
        f"The embedder {embedder.name} does not know {unknown / total:.0%} of the tokens in these notes: "
        "dense search will be poor; choose one that knows their language (GLASSBOX_EMBED_MODEL)."
    )
