"""Do models read texts to their end? One that does not takes the beginning for the whole, and raises no error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from glassbox_tui.models.protocols import Reranker


@runtime_checkable
class CountsTokens(Protocol):
    """An embedder whose limit chunks can be cut to, whether or not it shows its token states."""

    @property
    def token_limit(self) -> int:
        """Tokens of a passage that fit, special tokens and prompt already taken off; 0: no limit is known."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` alone."""
        ...


@runtime_checkable
class CountsTruncated(Protocol):
    """A reranker with a token limit that question and text share."""

    @property
    def token_limit(self) -> int:
        """Tokens of question and text together, special tokens already taken off."""
        ...

    def count_truncated(self, query: str, texts: Sequence[str]) -> int:
        """How many of these texts would lose tokens beside this question."""
        ...


def truncation_notice(reranker: Reranker, query: str, texts: Sequence[str]) -> str | None:
    """A sentence for the screen if some of these texts are not read to their end."""
    cut = reranker.count_truncated(query, texts) if isinstance(reranker, CountsTruncated) else 0
    if not cut:
        return None
    assert isinstance(reranker, CountsTruncated)
    return (
        f"{reranker.name} reads {reranker.token_limit} tokens of question and chunk: {cut} of {len(texts)} chunks were "
        "cut to fit before they were scored; smaller chunks (GLASSBOX_CHUNK_CHARS) are read whole."
    )
