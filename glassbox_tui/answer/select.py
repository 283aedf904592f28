"""A grounded extract: the two sentences of the evidence that answer best together, each with a citation.

No model writes a word. Each token of the question meets its best token in a sentence (late interaction over the stored
codes; without token codes: each term of the question is there or is not). What counts is what the two sentences cover
together, so the second says what the first does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.answer.kinds import expected
from glassbox_tui.answer.passages import meetings, passages
from glassbox_tui.answer.quoting import quotes
from glassbox_tui.index.sparse import idf
from glassbox_tui.models.levelling import end_of
from glassbox_tui.notes.lines import line_range
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.query import read_query
from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.text.tokens import content_terms, tokenize

Scores = NDArray[np.float64]

FROM_HITS = 3
# Of a pair's score, the share that its sentences make up each on its own; the rest is what they cover together. The
# figures here were set on the odd questions of CMRC 2018's trial part and looked at on the even ones and the corpus.
OWN_SHARE = 0.35
# A pair from two notes must be better by this much: the ranking is evidence too, and one note reads as one.
TWO_NOTES = 0.02
# What a sentence is worth more if it holds the kind of thing that was asked for.
RIGHT_KIND = 0.02


@dataclass(frozen=True, slots=True)
class Quote:
    """text[start:end] of a hit, as it could be quoted."""

    hit: Hit
    start: int
    end: int

    @property
    def text(self) -> str:
        return " ".join(self.hit.text[self.start : self.end].split())

    @property
    def in_note(self) -> tuple[int, int]:
        return self.hit.start + self.start, self.hit.start + self.end

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the note, 1-based."""
        first, last = line_range(self.hit.text, self.start, self.end)
        return self.hit.lines[0] - 1 + first, self.hit.lines[0] - 1 + last


def best_quotes(question: str, hits: Sequence[Hit], engine: Engine) -> list[Quote]:
    """At most two quotes from the first hits, notes in the order of their first hit, each in its own order."""
    hits = hits[:FROM_HITS]
    found = [Quote(hit, start, end) for hit in hits for start, end in quotes(hit.text)]
    if not found:
        return []
    met, weights = _meetings(question, hits, found, engine)
    kind = expected(question)
    right = np.array([kind is not None and kind.search(quote.text) is not None for quote in found])
    chosen = [found[i] for i in best_pair(met, weights, right, [q.hit.path for q in found], _same(found))]
    order = list(dict.fromkeys(hit.path for hit in hits))
    return _joined(sorted(chosen, key=lambda quote: (order.index(quote.hit.path), quote.in_note)))


def _joined(chosen: Sequence[Quote]) -> list[Quote]:
    """Neighbours in one chunk are one quote."""
    whole = list(chosen[:1])
    for quote in chosen[1:]:
        before = whole[-1]
        if quote.hit is before.hit and not quote.hit.text[before.end : quote.start].strip():
            whole[-1] = Quote(quote.hit, before.start, quote.end)
        else:
            whole.append(quote)
    return whole


def best_pair(
    met: Scores, weights: Scores, right: NDArray[np.bool_], notes: Sequence[str], same: NDArray[np.bool_]
) -> list[int]:
    """The two rows of `met` (quotes, parts of the question) that answer best together; one if there is no second.

    Score = (1 - OWN_SHARE) * what the better of the two meets, part by part + OWN_SHARE * the mean of both, with
    RIGHT_KIND if one of them is `right`, less TWO_NOTES if they are of two notes. `same` pairs are no pairs.
    """
    shares = weights / weights.sum() if weights.any() else np.zeros(len(weights))
    own = met @ shares
    together = np.maximum(met[:, None], met[None]) @ shares
    score = (1 - OWN_SHARE) * together + OWN_SHARE * (own[:, None] + own[None]) / 2
    score += RIGHT_KIND * (right[:, None] | right[None])
    score -= TWO_NOTES * (np.array(notes)[:, None] != np.array(notes)[None])
    score[same] = -np.inf
    first, second = np.unravel_index(int(score.argmax()), score.shape)
    if np.isneginf(score[first, second]):  # all the same
        return [int((own + RIGHT_KIND * right).argmax())]
    return [int(first), int(second)]


def _same(found: Sequence[Quote]) -> NDArray[np.bool_]:
    """Which two say the same: a quote and itself, its copy, what overlapping chunks share."""
    squeezed = np.array(["".join(quote.text.split()) for quote in found])
    notes = np.array([quote.hit.path for quote in found])
    starts, ends = np.array([quote.in_note for quote in found]).T
    overlap = (starts[:, None] < ends[None]) & (starts[None] < ends[:, None])
    same: NDArray[np.bool_] = (squeezed[:, None] == squeezed[None]) | (overlap & (notes[:, None] == notes[None]))
    return same


def _meetings(question: str, hits: Sequence[Hit], found: Sequence[Quote], engine: Engine) -> tuple[Scores, Scores]:
    """How well each quote meets each part of the question (quotes, parts), and what each part weighs."""
    sparse = engine.snapshot.sparse
    query = read_query(question, engine.embedder, sparse, engine.settings.min_token_len)
    evidence = passages(hits, engine) if query.tokens is not None else None
    if evidence is None or query.tokens is None:
        terms = content_terms(question)
        held = [{token.term for token in tokenize(quote.text)} for quote in found]
        met = np.array([[float(term in terms_) for term in terms] for terms_ in held]).reshape(len(found), len(terms))
        return met, np.array([idf(sparse, term) for term in terms])
    rows = []
    for passage in evidence:
        spans = [(quote.start, quote.end) for quote in found if quote.hit is passage.hit]
        # Levelled by language, as the rerank is: else sentences in the question's language crowd out the answer.
        rows.append(meetings(query.tokens.rows, passage, spans) + query.tokens.level.language(end_of(passage.language)))
    return np.concatenate(rows), query.tokens.weights
