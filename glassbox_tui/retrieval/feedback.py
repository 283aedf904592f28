"""Pseudo-relevance feedback: the first hits lend the next round their words and their direction.

Terms are weighted as in RM3 (Abdul-Jaleel et al., TREC 2004): p(t) = sum over feedback chunks of p(chunk) tf / length,
here of whole words and times idf, so that what is common everywhere does not come along, nor a fragment of a word.
The query vector moves towards their mean.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import idf
from glassbox_tui.models.protocols import Vector
from glassbox_tui.retrieval.query import Query, moved
from glassbox_tui.retrieval.trace import AddedTerm, Candidate
from glassbox_tui.retrieval.wording import joined
from glassbox_tui.text.recurring import Segment, WholeWord, whole_words

FEEDBACK_HITS = 3
FEEDBACK_WORDS = 10
# The strongest added word weighs this much of one of the user's own, the others in proportion.
TERM_WEIGHT = 0.5
VECTOR_PULL = 0.3


def feed_back(
    query: Query,
    final: Sequence[Candidate],
    snapshot: Snapshot,
    min_token_len: int = 1,
    without: Collection[str] = (),
    segment: Segment | None = None,
) -> tuple[Query, tuple[AddedTerm, ...]]:
    """`query` grown by the first hits of the round before, and what was added: whole words, each with its terms.

    `without`: terms refused. `segment`: where a tokenizer cuts a text, which tells Chinese words apart.
    """
    first = final[:FEEDBACK_HITS]
    texts = [snapshot.chunks[snapshot.row_of[c.uid]].index_text for c in first]
    total = sum(c.score for c in first) or 1.0
    lengths = [max(1.0, float(snapshot.sparse.lengths[snapshot.row_of[c.uid]])) for c in first]
    weight: dict[WholeWord, float] = {}
    for word in whole_words(texts, min_token_len, segment):
        if all(term in query.terms for term in word.terms) or any(term in without for term in word.terms):
            continue
        rarity = max(idf(snapshot.sparse, term) for term in word.terms)
        share = zip(first, word.counts, lengths, strict=True)
        weight[word] = rarity * sum(c.score / total * count / length for c, count, length in share)
    strongest = sorted(weight, key=lambda word: (-weight[word], word.text))[:FEEDBACK_WORDS]
    top = max((weight[word] for word in strongest), default=1.0) or 1.0
    added: dict[str, AddedTerm] = {}
    for word in strongest:
        sources = tuple(c.uid for c, count in zip(first, word.counts, strict=True) if count)
        for term in (t for t in word.terms if t not in query.terms):
            added.setdefault(term, AddedTerm(term, round(TERM_WEIGHT * weight[word] / top, 4), sources, word.text))
    terms = tuple(added.values())
    return grown(query, query.intent, terms, final, snapshot), terms


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
