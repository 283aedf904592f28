"""The literal list: chunks that hold a rare thing which the question names: a version, a date, an id, an amount.

Such a thing is what was asked for, and a chunk without it is about another one, however alike the two read. RRF knows
no margins: a chunk that keywords put first by far and meaning last loses to one that both put second. So these chunks
are a list of their own in both fusions, heavy enough that no chunk without the thing can outvote them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, best, idf, score_rows
from glassbox_tui.retrieval.fusion import RankedList
from glassbox_tui.retrieval.standing import standing
from glassbox_tui.retrieval.trace import Candidate, Part
from glassbox_tui.text.values import describe

LONGEST = 30  # chunks in the list


def literal_stage(
    terms: Sequence[str], question: Mapping[str, float], snapshot: Snapshot, how: Bm25, explain: bool, only: Rows | None
) -> tuple[Candidate, ...]:
    """The chunks that hold one of the rare things `terms`, those that hold more of their idf first, at most LONGEST.

    Among equals the chunk's BM25 score for the `question`'s terms decides, as a share of their idf mass: that share is
    below the idf of anything rare.
    """
    index = snapshot.sparse
    rows = np.unique(np.concatenate([index.rows[index.postings(term)] for term in terms])).astype(np.int64)
    if only is not None:
        rows = np.intersect1d(rows, only, assume_unique=True)
    stands = standing(index, terms, rows)
    rarity = np.array([idf(index, term) for term in terms])
    scores, mass = score_rows(snapshot.passages, question, rows, how)
    shares = scores / mass if mass else scores
    found = best(np.arange(len(rows)), stands @ rarity + shares, LONGEST)
    return tuple(
        Candidate(
            snapshot.chunks[rows[at]].uid,
            rank,
            score,
            _parts(terms, rarity[stands[at]], stands[at], float(shares[at])) if explain else (),
        )
        for rank, (at, score) in enumerate(found, start=1)
    )


def _parts(
    terms: Sequence[str], rarity: NDArray[np.float64], stands: NDArray[np.bool_], share: float
) -> tuple[Part, ...]:
    held = [term for term, here in zip(terms, stands, strict=True) if here]
    things = (Part(describe(term), float(weight), "stands here") for term, weight in zip(held, rarity, strict=True))
    return (*things, Part("keywords", share, "bm25 over the question's idf"))


def with_literal(lists: Sequence[RankedList], uids: Sequence[str], k: float) -> list[RankedList]:
    """`lists` and, where there are `uids`, the literal list: even its last place outweighs all their first places."""
    if not uids:
        return list(lists)
    most = sum(ranked.weight for ranked in lists)
    return [*lists, RankedList("literal", round(most * (k + LONGEST) / (k + 1.0) + 0.01, 2), uids)]
