"""What the pipeline asks of a model. A class of one's own plugs in by shape alone, without importing us."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]  # (dimension,), unit length
Matrix = NDArray[np.float32]  # (rows, dimension)


@dataclass(frozen=True, slots=True)
class TokenEncoding:
    """One text through a token-level encoder: its vector and, from the same forward pass, its token states.

    `states` is (tokens, dimension), raw (not centred, not normalised), one row per token of the text itself: special
    tokens and the "query: " / "passage: " prefix are left out. `spans[i]` is token i's [start, end) in the text.
    `truncated` counts the tokens that did not fit the model's limit and were dropped from the end.
    """

    vector: Vector
    states: Matrix
    spans: tuple[tuple[int, int], ...]
    truncated: int = 0


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors whose inner product is their similarity."""

    @property
    def name(self) -> str:
        """Identifies the vectors: two embedders with one name must give the same vectors."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_query(self, text: str) -> Vector:
        """(dimension,) float32, unit length."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """(len(texts), dimension) float32, unit rows. A row must not depend on the other texts."""
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also shows its token states, which late interaction needs, and its token limit."""

    @property
    def token_limit(self) -> int:
        """Tokens of a passage that fit, special tokens and prefix already taken off."""
        ...

    @property
    def token_mean(self) -> Vector:
        """(dimension,) the mean token state over calibration text; late interaction centres on it."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` alone, without special tokens and prefix."""
        ...

    def token_spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """The spans `encode_passage(text)` would give, without the forward pass."""
        ...

    def encode_query(self, text: str) -> TokenEncoding: ...

    def encode_passage(self, text: str) -> TokenEncoding: ...


@runtime_checkable
class Reranker(Protocol):
    """Scores each text against the query; higher is better, any scale.

    (Late interaction over stored token codes needs no text and no model call, so it is not one of these: see
    `models.late_interaction`.)
    """

    @property
    def name(self) -> str: ...

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score a text, in the order of `texts`."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """A first stage of one's own: it may sit on another engine or another machine.

    Named "bm25" or "dense" it takes that stage's place; any other name makes it one more list to fuse.
    """

    @property
    def name(self) -> str: ...

    def retrieve(self, query: str, k: int) -> Sequence[str | tuple[str, float]]:
        """Chunk uids (path#number), best first, at most k; with scores or, if it only ranks, without."""
        ...


@runtime_checkable
class FusionStrategy(Protocol):
    """The second fusion in another way: what to make of the fused list and the reranker's."""

    @property
    def name(self) -> str: ...

    def fuse(self, lists: Mapping[str, Sequence[tuple[str, float]]]) -> Sequence[tuple[str, float]]:
        """`lists` holds "fused" and, if that stage ran, "rerank", each (uid, score), best first. Returns the same."""
        ...


@runtime_checkable
class QueryTransform(Protocol):
    """Rewrites a question whose evidence was insufficient."""

    @property
    def name(self) -> str: ...

    def transform(self, query: str, evidence: Sequence[str]) -> str | None:
        """The next query to try, from the person's own and the texts it found; None: no better idea."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Decides whether evidence suffices, in place of the thresholds (which are still shown)."""

    @property
    def name(self) -> str: ...

    def judge(self, query: str, evidence: Sequence[str]) -> bool: ...


@runtime_checkable
class Generator(Protocol):
    """Writes an answer from numbered passages and cites them as [1], [2], ..."""

    @property
    def name(self) -> str: ...

    def generate(self, query: str, passages: Sequence[str]) -> Iterable[str]:
        """The answer, in pieces as they come (a plain str is one piece a character, and as good)."""
        ...
