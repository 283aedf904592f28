"""Keywords across languages: BM25 over the chunks of the other language, by what the question's words may mean there.

A chunk's score is a sum over the question's words, and of a word's alternatives the best one counts, not their sum: a
chunk that says "defense" and "protection" does not answer 防守 twice. Where dictionary words overlap, each chunk reads
the question in the way that it holds best. A word that may mean many things says little: how much is capped by the idf
of all its alternatives together, as Pirkola's structured queries (SIGIR 1998) take a word's translations for one term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, Passages, SparseIndex, best
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.trace import Candidate, Part
from glassbox_tui.settings import Settings
from glassbox_tui.text.translations import Alternative, Dictionary, Gloss, question_language, translations

# Of an alternative's terms, the least share of their idf that a chunk must hold: of 意大利人 the 意大利.
LEAST_HELD = 0.3
# The terms of one alternative are no independent evidence: their sum is divided by their number to this power.
TOGETHER = 0.5
# How far the idf of a word's alternatives together caps what the best of them says: 0 not at all, 1 wholly.
AMBIGUITY = 0.5

Floats = NDArray[np.float64]


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


def other_rows(question: str, snapshot: Snapshot, only: Rows | None = None) -> Rows:
    """The numbers of the chunks, those in `only` alone, that are in another language than `question`."""
    own = question_language(question)
    other = [rows for language, rows in snapshot.languages.items() if language != own]
    rows = np.concatenate(other) if other else np.zeros(0, np.int64)
    return rows if only is None else np.intersect1d(rows, only, assume_unique=True)


def translated_stage(
    query: Query, snapshot: Snapshot, dictionary: Dictionary, settings: Settings, explain: bool, rows: Rows
) -> tuple[Candidate, ...]:
    """Keyword matches by translation among the chunks `rows`, at most `fanout`. Raises what the dictionary raises.

    A query that feedback has grown is translated as it was asked: what feedback adds comes from notes, not from people.
    """
    text = query.intent if query.text.startswith(query.intent) else query.text
    how = Bm25(settings.bm25_k1, settings.bm25_b, "lucene", settings.bm25_floor, settings.bm25_note_share)
    glosses = translations(text, dictionary, question_language(query.intent))
    found = search_translated(glosses, snapshot.passages, rows, settings.fanout, how)
    return tuple(
        Candidate(
            snapshot.chunks[hit.row].uid,
            rank,
            hit.score,
            tuple(map(_part, hit.parts)) if explain else (),
        )
        for rank, hit in enumerate(found, start=1)
    )


def _part(meant: Meant) -> Part:
    """`防守 = defense`, or the word alone where it is written alike."""
    word, text = meant.gloss.word, meant.alternative.text
    return Part(word if word == text else f"{word} = {text}", meant.value)


def search_translated(glosses: Sequence[Gloss], passages: Passages, rows: Rows, k: int, how: Bm25) -> list[Found]:
    """The k best of the chunks `rows` (rising) for the question's glosses, by score descending, then chunk number.

    `how.floor`, `how.note_share`: as in `search_passages`. idf and average length are those of `rows`, the only chunks
    that are compared; idf is Lucene's. The parts of a score sum to it.
    """
    if not len(rows):
        return []
    among = _Among(passages, np.asarray(rows), how)
    words = [_word(gloss, among) for gloss in glosses]
    reading = _read(words, len(rows))
    total = _weight(words)
    matches = np.flatnonzero((reading.scores > 0) & (reading.held >= how.floor * total))
    return [
        Found(int(rows[at]), score, tuple(reading.parts(at)), min(1.0, float(reading.held[at]) / total))
        for at, score in best(matches, reading.scores, k)
    ]


# -- a word in all chunks ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    """A gloss: its `weight` (idf); per chunk its score and the best alternative's number. None: no chunk holds it."""

    gloss: Gloss
    weight: float
    scores: Floats | None = None
    which: NDArray[np.int64] | None = None


def _word(gloss: Gloss, among: _Among) -> _Word:
    scored = [_alternative(alternative, among) for alternative in gloss.alternatives]
    anyone = np.logical_or.reduce([whole for _, whole, _ in scored]) if scored else np.zeros(1, bool)
    weight = among.idf(int(anyone.sum()))
    if not scored or not any(values.any() for values, _, _ in scored):
        return _Word(gloss, weight)
    highest = max(idf for values, _, idf in scored if values.any())
    table = np.stack([values for values, _, _ in scored])
    which = table.argmax(axis=0)
    cap = min(1.0, weight / highest) ** AMBIGUITY
    return _Word(gloss, weight, cap * table[which, np.arange(table.shape[1])], which)


def _alternative(alternative: Alternative, among: _Among) -> tuple[Floats, NDArray[np.bool_], float]:
    """Per chunk what the alternative is worth, and whether all of it is there; the mean idf of its terms."""
    terms = [among.term(term) for term in alternative.terms]
    mass = sum(term.idf for term in terms)
    share = sum(term.idf * term.held for term in terms) / mass if mass > 0 else np.zeros(among.size)
    values = sum(term.values for term in terms) * share / len(terms) ** TOGETHER
    return (
        np.where(share >= LEAST_HELD, alternative.weight * values, 0.0),
        np.logical_and.reduce([term.held for term in terms]),
        mass / len(terms),
    )


@dataclass(frozen=True, slots=True)
class _Term:
    """A term's BM25 in each chunk, its note's share included; whether the chunk holds it; its idf."""

    values: Floats
    held: NDArray[np.bool_]
    idf: float


class _Among:
    """The chunks that are compared, with terms as they are asked for."""

    def __init__(self, passages: Passages, rows: NDArray[np.int64], how: Bm25) -> None:
        notes, self._note_at = np.unique(passages.note_of[rows], return_inverse=True)
        self._chunks = _Side(passages.chunks, rows, how)
        self._notes = _Side(passages.notes, notes, how)
        self._share = how.note_share
        self._terms: dict[str, _Term] = {}
        self.size = len(rows)

    def term(self, term: str) -> _Term:
        if term not in self._terms:
            at, values, idf = self._chunks.scores(term)
            own, held = np.zeros(self.size), np.zeros(self.size, bool)
            own[at], held[at] = values, True
            if self._share and len(at):
                of_notes = np.zeros(self._notes.size)
                at, values, _ = self._notes.scores(term)
                of_notes[at] = values
                own = (1.0 - self._share) * own + self._share * of_notes[self._note_at]
            self._terms[term] = _Term(own, held, idf)
        return self._terms[term]

    def idf(self, df: int) -> float:
        return _idf(df, self.size)


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

    def scores(self, term: str) -> tuple[NDArray[np.int64], Floats, float]:
        """The rows that hold the term, its BM25 in each, and its idf."""
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
    steps: tuple[tuple[int, tuple[_Word, ...], NDArray[np.int64]], ...]

    def parts(self, at: int) -> Iterator[Meant]:
        """The words that make up the score of the chunk numbered `at`, in the order of the question."""
        found: list[Meant] = []
        limit = self.steps[-1][0] if self.steps else 0
        for position, words, chosen in reversed(self.steps):
            if position <= limit and chosen[at] >= 0:
                word = words[int(chosen[at])]
                assert word.scores is not None and word.which is not None
                alternative = word.gloss.alternatives[int(word.which[at])]
                found.append(Meant(word.gloss, alternative, float(word.scores[at])))
                limit = word.gloss.start
        yield from reversed(found)


def _read(words: Sequence[_Word], size: int) -> _Reading:
    """The best path through the words of the question, for all chunks at once (dynamic programming over positions)."""
    ending: dict[int, list[_Word]] = {}
    for word in words:
        if word.scores is not None:
            ending.setdefault(word.gloss.end, []).append(word)
    reached = [(0, np.zeros(size), np.zeros(size))]  # position, scores, held
    steps = []
    for position in sorted(ending):
        _, scores, held = reached[-1]
        chosen = np.full(size, -1, np.int64)
        for number, word in enumerate(ending[position]):
            _, before, weight = next(r for r in reversed(reached) if r[0] <= word.gloss.start)
            assert word.scores is not None
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
