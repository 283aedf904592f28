"""Pseudo-relevance feedback: the first hits lend the next round their terms and their direction.

Terms are weighted as in RM3 (Abdul-Jaleel et al., TREC 2004): p(t) = sum over feedback chunks of p(chunk) tf / length,
here times idf, so that what is common everywhere does not come along. The query vector moves towards their mean.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import idf
from glassbox_tui.models.protocols import Vector
from glassbox_tui.retrieval.query import Query, moved
from glassbox_tui.retrieval.trace import AddedTerm, Candidate
from glassbox_tui.retrieval.wording import joined, with_surfaces
from glassbox_tui.text.tokens import content_terms, tokenize

FEEDBACK_HITS = 3
FEEDBACK_TERMS = 10
# The strongest added term weighs this much of one of the user's own, the others in proportion.
TERM_WEIGHT = 0.5
VECTOR_PULL = 0.3


def feed_back(
    query: Query,
    final: Sequence[Candidate],
    snapshot: Snapshot,
    min_token_len: int = 1,
    without: Collection[str] = (),
) -> tuple[Query, tuple[AddedTerm, ...]]:
    """Round 0's query grown by the first hits of the round before, and what was added. `without`: terms refused."""
    first = final[:FEEDBACK_HITS]
    rows = [snapshot.row_of[c.uid] for c in first]
    total = sum(c.score for c in first) or 1.0
    weight: dict[str, float] = defaultdict(float)
    sources: dict[str, list[str]] = defaultdict(list)
    texts = []
    for candidate, row in zip(first, rows, strict=True):
        text = snapshot.chunks[row].index_text
        tokens = tokenize(text, min_token_len)
        texts.append((candidate.uid, text, tokens))
        counts = Counter(token.term for token in tokens)
        length = sum(counts.values())
        for term in content_terms(text, min_token_len):
            if term not in query.terms and term not in without and counts[term]:
                weight[term] += candidate.score / total * counts[term] / length * idf(snapshot.sparse, term)
                sources[term].append(candidate.uid)
    strongest = sorted(weight, key=lambda term: (-weight[term], term))[:FEEDBACK_TERMS]
    top = max((weight[term] for term in strongest), default=1.0) or 1.0
    terms = [AddedTerm(t, round(TERM_WEIGHT * weight[t] / top, 4), tuple(sources[t])) for t in strongest]
    added = with_surfaces(terms, texts)
    return grown(query, query.text, added, final, snapshot), added


def grown(
    query: Query, wording: str, added: Sequence[AddedTerm], final: Sequence[Candidate], snapshot: Snapshot
) -> Query:
    """`query` with the added terms. Its vector moves towards the first hits if any of the terms came from them."""
    towards = _towards(final, snapshot) if any(t.sources for t in added) else None
    return moved(query, joined(wording, added), {t.term: t.weight for t in added}, towards, VECTOR_PULL)


def _towards(final: Sequence[Candidate], snapshot: Snapshot) -> Vector | None:
    rows = [snapshot.row_of[c.uid] for c in final[:FEEDBACK_HITS]]
    vectors = [v for row in rows if (v := snapshot.dense.vector(row)) is not None]
    return np.asarray(np.mean(vectors, axis=0), dtype=np.float32) if vectors else None
