"""Pseudo-relevance feedback: the first hits lend the next round their terms and their direction.

Terms are weighted as in RM3 (Abdul-Jaleel et al., TREC 2004): p(t) = sum over feedback chunks of p(chunk) tf / length,
here times idf, so that what is common everywhere does not come along. The query vector moves towards their mean.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import idf
from glassbox_tui.models.protocols import Vector
from glassbox_tui.retrieval.query import Query, moved
from glassbox_tui.retrieval.trace import AddedTerm, Candidate
from glassbox_tui.text.tokens import content_terms, tokenize

FEEDBACK_HITS = 3
FEEDBACK_TERMS = 10
# The strongest added term weighs this much of one of the user's own, the others in proportion.
TERM_WEIGHT = 0.5
VECTOR_PULL = 0.3


def feed_back(
    query: Query, final: Sequence[Candidate], snapshot: Snapshot, min_token_len: int = 1
) -> tuple[Query, tuple[AddedTerm, ...]]:
    """Round 0's query grown by the first hits of the round before, and what was added."""
    first = final[:FEEDBACK_HITS]
    rows = [snapshot.row_of[c.uid] for c in first]
    total = sum(c.score for c in first) or 1.0
    weight: dict[str, float] = defaultdict(float)
    sources: dict[str, list[str]] = defaultdict(list)
    for candidate, row in zip(first, rows, strict=True):
        text = snapshot.chunks[row].index_text
        counts = Counter(token.term for token in tokenize(text, min_token_len))
        length = sum(counts.values())
        for term in content_terms(text, min_token_len):
            if term not in query.terms and counts[term]:
                weight[term] += candidate.score / total * counts[term] / length * idf(snapshot.sparse, term)
                sources[term].append(candidate.uid)
    strongest = sorted(weight, key=lambda term: (-weight[term], term))[:FEEDBACK_TERMS]
    top = max((weight[term] for term in strongest), default=1.0) or 1.0
    added = tuple(AddedTerm(t, round(TERM_WEIGHT * weight[t] / top, 4), tuple(sources[t])) for t in strongest)
    vectors = [v for row in rows if (v := snapshot.dense.vector(row)) is not None]
    towards: Vector | None = np.asarray(np.mean(vectors, axis=0), dtype=np.float32) if vectors else None
    text = " ".join([query.intent, *strongest])
    return moved(query, text, {t.term: t.weight for t in added}, towards, VECTOR_PULL), added
