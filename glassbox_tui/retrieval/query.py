"""A query as the stages use it: weighted BM25 terms, a vector, and token rows for late interaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.sparse import SparseIndex, idf
from glassbox_tui.models.calibration import Calibrated, Calibration
from glassbox_tui.models.late_interaction import prepare_query
from glassbox_tui.models.levelling import FLAT, Level, dense_level, late_level
from glassbox_tui.models.off import NoEmbedder
from glassbox_tui.models.protocols import Embedder, Matrix, TokenEmbedder, Vector
from glassbox_tui.retrieval.rare import literals
from glassbox_tui.text.language import chinese_share
from glassbox_tui.text.operators import Condition
from glassbox_tui.text.tokens import Token, tokenize

# Tokens that are no index term (stop words, punctuation) still carry a little meaning in context.
UNINDEXED_IDF = 0.25


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """The query's model tokens: surface words, centred unit rows (q, d), weights (q,) = sqrt(idf).

    `level`: what a rerank score gets by the chunk's place, so that average texts of all languages score alike. `terms`:
    for each token the rarest index term that overlaps it and that some chunk holds, "" for none. `question`: all index
    terms of the question with their weights. `spans`: where the tokens stand in the question.
    """

    words: tuple[str, ...]
    rows: Matrix
    weights: NDArray[np.float64]
    level: Level = FLAT
    terms: tuple[str, ...] = ()
    question: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """One round's query. Feedback changes `text`, `terms` and `vector`; `intent`, its vector `asked` and its `tokens`
    are what the person asked, and what the evidence is judged by. `literals`: the rare things that it names.
    `conditions` keep chunks out of every stage; `flags` are words behind a dash that are none. `begun`: a term for a
    half-typed word -> the index terms it may become.
    """

    text: str
    intent: str
    terms: Mapping[str, float]
    vector: Vector | None
    asked: Vector | None
    tokens: QueryTokens | None
    calibration: Calibration | None = None
    literals: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    flags: tuple[str, ...] = ()
    begun: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def dense_level(self, vector: Vector) -> Level:
        """What a cosine with `vector` gets by the chunk's place; nothing without calibration."""
        return dense_level(self.calibration, vector, chinese_share(self.intent))


def read_query(text: str, embedder: Embedder | None, sparse: SparseIndex, min_token_len: int) -> Query:
    """A typed query: each term weighs as often as it occurs. No embedder: keyword search only."""
    found = tokenize(text, min_token_len)
    terms = {term: float(n) for term, n in Counter(t.term for t in found).items()}
    named = literals(found, sparse)
    if embedder is None or isinstance(embedder, NoEmbedder):
        return Query(text, text, terms, None, None, None, literals=named)
    if not isinstance(embedder, TokenEmbedder):
        vector = np.asarray(embedder.embed_query(text), dtype=np.float32)
        return Query(text, text, terms, vector, vector, None, literals=named)
    encoding = embedder.encode_query(text)
    words = tuple(text[a:b] for a, b in encoding.spans)
    rows = prepare_query(encoding.states, embedder.token_mean)
    idfs, rarest = _rarest(encoding.spans, found, sparse)
    weights = np.sqrt(idfs)
    calibration = embedder.calibration if isinstance(embedder, Calibrated) else None
    tokens = QueryTokens(words, rows, weights, late_level(calibration, rows, weights), rarest, terms, encoding.spans)
    return Query(text, text, terms, encoding.vector, encoding.vector, tokens, calibration, named)


def moved(query: Query, text: str, added: Mapping[str, float], towards: Vector | None, pull: float) -> Query:
    """`query` with more terms and its vector moved by `pull` towards a direction, at unit length again."""
    vector = query.vector
    if vector is not None and towards is not None:
        mixed = (1.0 - pull) * vector + pull * towards
        norm = float(np.linalg.norm(mixed))
        vector = (mixed / norm).astype(np.float32) if norm > 0 else vector
    return replace(query, text=text, terms={**query.terms, **added}, vector=vector)


def _rarest(
    spans: Sequence[tuple[int, int]], found: Sequence[Token], sparse: SparseIndex
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Of each model token the idf of the rarest index term that overlaps it, and the rarest that a chunk holds."""
    rated = [(idf(sparse, t.term), t.start, t.end, t.term) for t in found]
    idfs, rarest = [], []
    for a, b in spans:
        here = [(weight, term) for weight, start, end, term in rated if start < b and end > a]
        idfs.append(max((weight for weight, _ in here), default=UNINDEXED_IDF))
        held = [(weight, term) for weight, term in here if sparse.document_frequency(term)]
        rarest.append(max(held)[1] if held else "")
    return np.array(idfs, dtype=np.float64), tuple(rarest)
