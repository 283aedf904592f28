"""What a reranked chunk gets for the question's words that stand in it, beside how close in meaning they are.

Late interaction alone does not tell 3.3.3 from 3.3.4, nor one form number from another: their tokens are neighbours. So
a token whose word stands in the chunk literally adds LITERAL of its weight, a value (anything with a digit: version,
date, amount, id) VALUE more; and the chunk's BM25 score for the question, as a share of the question's idf mass, adds
KEYWORDS of itself. Where keywords hold little of the question, as across languages, this voice falls silent by itself.

A long chunk has more tokens to choose a best match from, and more words to hold: it loses LENGTH times the logarithm of
how many times USUAL_LENGTH tokens it has (a short one gains).

The constants are those of a listwise softmax regression over the reranked candidates of eight labelled sets
(statutes, encyclopedia passages in three scripts, abstracts, a docs site, notes that resemble each other), fitted on
the even questions and read on the odd ones: mean success@1 .788 to .839 there, and .783 to .841 the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, SparseIndex, idf, score_rows
from glassbox_tui.retrieval.query import QueryTokens

LITERAL, VALUE, KEYWORDS = 0.07, 0.05, 0.17
LENGTH, USUAL_LENGTH = 0.035, 200
ENOUGH, LEAST = 0.4, 0.2

Floats = NDArray[np.float64]


def standing(index: SparseIndex, terms: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(rows, terms): does the chunk hold the term? The empty term stands nowhere."""
    found = np.zeros((len(rows), len(terms)), dtype=bool)
    for j, term in enumerate(terms):
        held = index.rows[index.postings(term)] if term else index.rows[:0]
        if len(held):
            at = np.minimum(np.searchsorted(held, rows), len(held) - 1)
            found[:, j] = held[at] == rows
    return found


def literal_shares(tokens: QueryTokens, stands: NDArray[np.bool_]) -> Floats:
    """(rows, tokens): what each query token that stands in a chunk adds to the chunk's score."""
    total = float(tokens.weights.sum())
    if not total:
        return np.zeros(stands.shape)
    worth = np.array([LITERAL + VALUE * any(map(str.isdigit, term)) for term in tokens.terms])
    return np.asarray(stands * (worth * tokens.weights / total))


def keyword_shares(
    tokens: QueryTokens, snapshot: Snapshot, rows: NDArray[np.int64], how: Bm25
) -> tuple[Floats, Floats]:
    """(rows,) each: what the chunk's BM25 score adds, and that score as a share of the question's idf mass."""
    scores, mass = score_rows(snapshot.passages, tokens.question, rows, how)
    part = scores / mass if mass else np.zeros(len(rows))
    return KEYWORDS * part, part


def length_shares(lengths: NDArray[np.integer]) -> Floats:
    """(rows,): what chunks of so many model tokens (at least 1) get for their length."""
    return np.asarray(-LENGTH * np.log(np.maximum(lengths, 1) / USUAL_LENGTH))


def keyword_weight(index: SparseIndex, terms: Mapping[str, float], rows: NDArray[np.int64]) -> float:
    """The say of a keyword list in the first fusion: full where one of its chunks holds ENOUGH of the question's idf
    mass, less in proportion below that, and never under LEAST.

    A list of chunks that share a stray word with the question, as every list across languages is, ranks by noise; with
    a full say it pushes what the dense stage found out of the candidates. LEAST keeps its first ranks among them.
    """
    words = list(terms)
    mass = np.array([terms[word] * idf(index, word) for word in words])
    if not len(rows) or not mass.sum():
        return 1.0
    held = float((standing(index, words, rows) @ mass).max() / mass.sum())
    return min(1.0, max(LEAST, held / ENOUGH))
