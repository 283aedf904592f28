"""Keywords across languages: BM25 over the chunks of the other language, by what the question's words may mean there.

A chunk's score is a sum over the question's words, and of a word's alternatives the best one counts, not their sum: a
chunk that says "defense" and "protection" does not answer 防守 twice. Where dictionary words overlap, each chunk reads
the question in the way that it holds best. A word that may mean many things says little: how much is capped by the idf
of all its alternatives together, as Pirkola's structured queries (SIGIR 1998) take a word's translations for one term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.index.sparse import Bm25, Passages, SparseIndex, best
from glassbox_tui.text.translations import Alternative, Gloss

# Of an alternative's terms, the least share of their idf that a chunk must hold: of 意大利人 the 意大利.
LEAST_HELD = 0.3
# The terms of one alternative are no independent evidence: their sum is divided by their number to this power.
TOGETHER = 0.5
# How far the idf of a word's alternatives together caps what the best of them says: 0 not at all, 1 wholly.
AMBIGUITY = 0.5

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Meant:
    """What one word of the question adds to a chunk's score, and by which of its alternatives."""

    gloss: Gloss
    alternative: Alternative
    value: float


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk by number, its score, the words that make it up, and the share of the question's weight they hold."""

    row: int
    score: float
    parts: tuple[Meant, ...]
    held: float


class Crossing:
    """A question's glosses in the chunks `rows` (rising) of an index: which of them each chunk holds, and how well.

    idf (Lucene's) and the average length are those of `rows`, the only chunks that are compared. `how.floor` and
    `how.note_share` mean what they do in `search_passages`.
    """

    def __init__(self, glosses: Sequence[Gloss], passages: Passages, rows: Rows, how: Bm25) -> None:
        self.glosses, self.rows = tuple(glosses), np.asarray(rows, dtype=np.int64)
        self._floor = how.floor
        among = _Among(passages, self.rows, how)
        self._words = [_word(gloss, among) for gloss in glosses] if len(self.rows) else []
        self._reading = _read(self._words, len(self.rows))
        self._total = _weight(self._words)  # 0 only without words

    def search(self, k: int, only: Rows | None = None) -> list[Found]:
        """The k best chunks, by score descending, then chunk number. The parts of a score sum to it.

        `only` keeps other chunks out of the list, not out of the statistics, as in `search_passages`.
        """
        reading, total = self._reading, self._total
        wanted = (reading.scores > 0) & (reading.held >= self._floor * total)
        matches = np.flatnonzero(wanted if only is None else wanted & np.isin(self.rows, only, assume_unique=True))
        return [
            Found(int(self.rows[at]), score, reading.parts(at), min(1.0, float(reading.held[at]) / total))
            for at, score in best(matches, reading.scores, k)
        ]

    def shares(self, rows: Sequence[int] | Integers) -> Floats:
        """(n,): the scores of n chunks as shares of the question's weight; 0 for those not among `self.rows`."""
        at, inside = self._at(rows)
        shares = np.zeros(len(inside))
        if self._total:
            shares[inside] = self._reading.scores[at[inside]] / self._total
        return shares

    def best_held(self, only: Rows | None = None) -> float:
        """The largest share of the question's weight that the words in a chunk's score hold, 0 to 1."""
        held = self._reading.held
        inside = held if only is None else held[np.isin(self.rows, only, assume_unique=True)]
        return min(1.0, float(inside.max(initial=0.0)) / self._total) if self._total else 0.0

    def held(self, rows: Sequence[int] | Integers) -> tuple[Floats, Integers]:
        """(n, glosses): how well each of n chunks holds each gloss, 0 to 1, and the number of the alternative, or -1.

        The weight of the alternative, times the share of its terms that stand there, times the cap of an ambiguous
        word. Chunks that are not among `self.rows` hold nothing.
        """
        at, inside = self._at(rows)
        strength = np.zeros((len(inside), len(self.glosses)))
        which = np.full(strength.shape, -1, np.int64)
        for number, word in enumerate(self._words):
            strength[inside, number] = word.strength[at[inside]]
            which[inside, number] = word.which[at[inside]]
        return strength, which

    def _at(self, rows: Sequence[int] | Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """Where the chunks stand among `self.rows`, and whether they do."""
        wanted = np.asarray(rows, dtype=np.int64)
        if not len(self.rows):
            return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
        at = np.searchsorted(self.rows, wanted).clip(max=len(self.rows) - 1)
        return at, self.rows[at] == wanted


# -- a word in all chunks ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    """A gloss with its `weight` (idf); per chunk its score, how well it is held, the alternative's number (-1: none).

    `holders`: in how many chunks it scores.
    """

    gloss: Gloss
    weight: float
    scores: Floats
    strength: Floats
    which: Integers
    holders: int


def _word(gloss: Gloss, among: _Among) -> _Word:
    scores, strength = np.zeros(among.size), np.zeros(among.size)
    which, whole = np.full(among.size, -1, np.int64), np.zeros(among.size, bool)
    highest = 0.0
    for number, alternative in enumerate(gloss.alternatives):
        at, values, share, idf = among.alternative(alternative)
        whole[at[share > 0.999]] = True
        if len(at):
            highest = max(highest, idf)
            better = values > scores[at]
            at, values, share = at[better], values[better], share[better]
            scores[at], strength[at], which[at] = values, alternative.weight * share, number
    weight = among.idf(int(whole.sum()))
    cap = min(1.0, weight / highest) ** AMBIGUITY if highest else 1.0
    return _Word(gloss, weight, cap * scores, cap * strength, which, int((which >= 0).sum()))


class _Among:
    """The chunks that are compared, numbered from 0, with terms as they are asked for."""

    def __init__(self, passages: Passages, rows: Integers, how: Bm25) -> None:
        notes, self._note_at = np.unique(passages.note_of[rows], return_inverse=True)
        self._chunks = _Side(passages.chunks, rows, how)
        self._notes = _Side(passages.notes, notes, how)
        self._share = how.note_share
        self._terms: dict[str, tuple[Integers, Floats, float]] = {}
        self.size = len(rows)

    def alternative(self, alternative: Alternative) -> tuple[Integers, Floats, Floats, float]:
        """The chunks that hold enough of it, what it is worth there, its terms' share there; their mean idf."""
        terms = [self._term(term) for term in alternative.terms]
        if len(terms) == 1:
            at, values, idf = terms[0]
            return at, alternative.weight * values, np.ones(len(at)), idf
        mass = sum(idf for _, _, idf in terms)
        at, back = np.unique(np.concatenate([at for at, _, _ in terms]), return_inverse=True)
        values, share = np.zeros(len(at)), np.zeros(len(at))
        np.add.at(values, back, np.concatenate([values for _, values, _ in terms]))
        np.add.at(share, back, np.concatenate([np.full(len(at), idf / mass) for at, _, idf in terms]))
        enough = share >= LEAST_HELD
        worth = alternative.weight * values * share / len(terms) ** TOGETHER
        return at[enough], worth[enough], share[enough], mass / len(terms)

    def idf(self, df: int) -> float:
        return _idf(df, self.size)

    def _term(self, term: str) -> tuple[Integers, Floats, float]:
        """The chunks that hold the term, its BM25 in each with its note's share, and its idf."""
        if term not in self._terms:
            at, values, idf = self._chunks.scores(term)
            if self._share and len(at):
                of_notes = np.zeros(self._notes.size)
                notes, scores, _ = self._notes.scores(term)
                of_notes[notes] = scores
                values = (1.0 - self._share) * values + self._share * of_notes[self._note_at[at]]
            self._terms[term] = at, values, idf
        return self._terms[term]


class _Side:
    """Some rows of an index, numbered from 0: chunks or notes."""

    def __init__(self, index: SparseIndex, rows: NDArray[np.integer], how: Bm25) -> None:
        self._index, self._k1 = index, how.k1
        self._place = np.full(index.size, -1, np.int64)
        self._place[rows] = np.arange(len(rows))
        lengths = index.lengths[rows]
        average = float(lengths.mean()) if lengths.any() else 1.0
        self._norm = how.k1 * (1.0 - how.b + how.b * lengths / average)
        self.size = len(rows)

    def scores(self, term: str) -> tuple[Integers, Floats, float]:
        """The rows that hold the term, rising, its BM25 in each, and its idf."""
        where = self._index.postings(term)
        at = self._place[self._index.rows[where]]
        inside = at >= 0
        at, tfs = at[inside], self._index.tfs[where][inside]
        idf = _idf(len(at), self.size)
        return at, idf * tfs * (self._k1 + 1.0) / (tfs + self._norm[at]), idf


def _idf(df: int, size: int) -> float:
    return float(np.log1p((size - df + 0.5) / (df + 0.5)))


# -- the question, read by each chunk ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    """Per chunk the best sum over words that do not overlap, the weight of the words in it, and how it came about.

    `steps` are (position, words that end there, per chunk the number of the chosen one or -1), by position.
    """

    scores: Floats
    held: Floats
    steps: tuple[tuple[int, tuple[_Word, ...], Integers], ...]

    def parts(self, at: int) -> tuple[Meant, ...]:
        """The words that make up the score of the chunk numbered `at`, in the order of the question."""
        found: list[Meant] = []
        limit = self.steps[-1][0] if self.steps else 0
        for position, words, chosen in reversed(self.steps):
            if position <= limit and chosen[at] >= 0:
                word = words[int(chosen[at])]
                alternative = word.gloss.alternatives[int(word.which[at])]
                found.append(Meant(word.gloss, alternative, float(word.scores[at])))
                limit = word.gloss.start
        return tuple(reversed(found))


def _read(words: Sequence[_Word], size: int) -> _Reading:
    """The best path through the words of the question, for all chunks at once (dynamic programming over positions)."""
    ending: dict[int, list[_Word]] = {}
    for word in words:
        if word.holders:
            ending.setdefault(word.gloss.end, []).append(word)
    reached = [(0, np.zeros(size), np.zeros(size))]  # position, scores, held
    steps = []
    for position in sorted(ending):
        _, scores, held = reached[-1]
        chosen = np.full(size, -1, np.int64)
        for number, word in enumerate(ending[position]):
            _, before, weight = next(r for r in reversed(reached) if r[0] <= word.gloss.start)
            better = (word.scores > 0) & (before + word.scores > scores)
            scores = np.where(better, before + word.scores, scores)
            held = np.where(better, weight + word.weight, held)
            chosen[better] = number
        reached.append((position, scores, held))
        steps.append((position, tuple(ending[position]), chosen))
    return _Reading(reached[-1][1], reached[-1][2], tuple(steps))


def _weight(words: Sequence[_Word]) -> float:
    """The question's weight: the idf of its words, read so that few words cover much of it."""
    reached: list[tuple[int, tuple[int, int], float]] = [(0, (0, 0), 0.0)]  # position, (covered, -words), weight
    for word in sorted(words, key=lambda word: (word.gloss.end, word.gloss.start)):
        start, end = word.gloss.start, word.gloss.end
        _, (covered, fewer), weight = next(r for r in reversed(reached) if r[0] <= start)
        way = (end, (covered + end - start, fewer - 1), weight + word.weight)
        if way[1] > reached[-1][1]:
            reached.append(way)
    return reached[-1][2]
