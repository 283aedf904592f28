"""A query as the stages use it: weighted BM25 terms, a vector, and token rows for late interaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.sparse import SparseIndex, idf
from glassbox_tui.models.calibration import Calibrated, Calibration, dense_offsets, late_offsets
from glassbox_tui.models.late_interaction import prepare_query
from glassbox_tui.models.protocols import Embedder, Matrix, TokenEmbedder, Vector
from glassbox_tui.text.tokens import tokenize

# Tokens that are no index term (stop words, punctuation) still carry a little meaning in context.
UNINDEXED_IDF = 0.25


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """The query's model tokens: surface words, centred unit rows (q, d), weights (q,) = sqrt(idf).

    `offsets`: what a rerank score gets by the chunk's language, so that average texts of all languages score alike.
    `spans[i]` is where token i stands in the query.
    """

    words: tuple[str, ...]
    rows: Matrix
    weights: NDArray[np.float64]
    offsets: Mapping[str, float]
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """One round's query. Feedback changes `text`, `terms` and `vector`; `intent`, its vector `asked` and its `tokens`
    are what the person asked, and what the evidence is judged by.
    """

    text: str
    intent: str
    terms: Mapping[str, float]
    vector: Vector | None
    asked: Vector | None
    tokens: QueryTokens | None
    calibration: Calibration | None = None

    def dense_offsets(self, vector: Vector) -> Mapping[str, float]:
        """What a cosine with `vector` gets by the chunk's language; nothing without calibration."""
        return {} if self.calibration is None else dense_offsets(self.calibration, vector)


def read_query(text: str, embedder: Embedder | None, sparse: SparseIndex, min_token_len: int) -> Query:
    """A typed query: each term weighs as often as it occurs. `embedder` None: keyword search only."""
    terms = {term: float(n) for term, n in Counter(t.term for t in tokenize(text, min_token_len)).items()}
    if embedder is None:
        return Query(text, text, terms, None, None, None)
    if not isinstance(embedder, TokenEmbedder):
        vector = np.asarray(embedder.embed_query(text), dtype=np.float32)
        return Query(text, text, terms, vector, vector, None)
    encoding = embedder.encode_query(text)
    words = tuple(text[a:b] for a, b in encoding.spans)
    weights = np.sqrt(_token_idfs(text, encoding.spans, sparse, min_token_len))
    rows = prepare_query(encoding.states, embedder.token_mean)
    calibration = embedder.calibration if isinstance(embedder, Calibrated) else None
    offsets = late_offsets(calibration, rows, weights) if calibration and words else {}
    tokens = QueryTokens(words, rows, weights, offsets, encoding.spans)
    return Query(text, text, terms, encoding.vector, encoding.vector, tokens, calibration)


def moved(query: Query, text: str, added: Mapping[str, float], towards: Vector | None, pull: float) -> Query:
    """`query` with more terms and its vector moved by `pull` towards a direction, at unit length again."""
    vector = query.vector
    if vector is not None and towards is not None:
        mixed = (1.0 - pull) * vector + pull * towards
        norm = float(np.linalg.norm(mixed))
        vector = (mixed / norm).astype(np.float32) if norm > 0 else vector
    return replace(query, text=text, terms={**query.terms, **added}, vector=vector)


def _token_idfs(
    text: str, spans: tuple[tuple[int, int], ...], sparse: SparseIndex, min_token_len: int
) -> NDArray[np.float64]:
    """Each model token's idf: the rarest index term that overlaps it."""
    terms = [(t.start, t.end, idf(sparse, t.term)) for t in tokenize(text, min_token_len)]
    return np.array(
        [max((w for start, end, w in terms if start < b and end > a), default=UNINDEXED_IDF) for a, b in spans],
        dtype=np.float64,
    )
