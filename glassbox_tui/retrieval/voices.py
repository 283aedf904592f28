"""What a late-interaction score hears beside similarity: the words that stand in a chunk, as asked or translated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25
from glassbox_tui.retrieval.crossing import Crossing
from glassbox_tui.retrieval.query import QueryTokens
from glassbox_tui.retrieval.standing import keyword_shares, literal_shares, standing
from glassbox_tui.retrieval.translation import heard


@dataclass(frozen=True, slots=True)
class Voices:
    """Of n chunks, what each token adds to the score (n, tokens) and the keywords together (n,); and why, in words.

    `stands` says of each token whether it stands there ("stands here", "防守 = defend stands here" or ""), `said` of
    each chunk where the keywords' share comes from.
    """

    tokens: NDArray[np.float64]
    keywords: NDArray[np.float64]
    stands: list[list[str]]
    said: list[str]


def voices(
    tokens: QueryTokens, snapshot: Snapshot, rows: NDArray[np.int64], how: Bm25, crossing: Crossing | None = None
) -> Voices:
    """The question's words in the chunks `rows`. Of two ways to hold a word the better counts, never both."""
    here = standing(snapshot.sparse, tokens.terms, rows)
    by_token = literal_shares(tokens, here)
    keywords, held = keyword_shares(tokens, snapshot, rows, how)
    stands = [["stands here" if there else "" for there in row] for row in here.tolist()]
    said = [f"bm25, {share:.2f} of the question's idf" for share in held.tolist()]
    if crossing is not None:
        other = heard(crossing, rows, tokens)
        for i, j in np.argwhere(other.tokens > by_token).tolist():
            stands[i][j] = f"{other.words[i][j]} stands here"
        for i in np.flatnonzero(other.keywords > keywords).tolist():
            said[i] = f"translated, {other.held[i]:.2f} of the question's idf"
        by_token, keywords = np.maximum(by_token, other.tokens), np.maximum(keywords, other.keywords)
    return Voices(by_token, keywords, stands, said)
