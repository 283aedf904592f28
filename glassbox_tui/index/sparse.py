"""BM25 over a numpy inverted index. k1 and b stay free at query time, and every score shows its parts.

score(q, d) = sum over query terms t of w_t * idf(t) * tf (k1 + 1) / (tf + k1 (1 - b + b |d| / avgdl))

(Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009.) Two idf variants:

    lucene  ln(1 + (N - df + 0.5) / (df + 0.5)), never negative: a term in half the notes still counts
    okapi   ln((N - df + 0.5) / (df + 0.5)), where negative: 0.25 times the mean idf, as `rank_bm25` has it
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.rows import Forward
from glassbox_tui.index.scope import Rows

OKAPI_EPSILON = 0.25


@dataclass(frozen=True, slots=True)
class Bm25:
    """The knobs of one query. `floor`: the least share of the query's idf weight that a match must hold, 0 to 1.
    `note_share`: how much of a chunk's score is its whole note's, 0 to 1.
    """

    k1: float = 1.5
    b: float = 0.75
    variant: str = "lucene"
    floor: float = 0.0
    note_share: float = 0.0


class Posting(NamedTuple):
    """Chunk numbers, rising, and the term's frequency in each."""

    rows: NDArray[np.int32]
    tfs: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SparseIndex:
    """Postings of all chunks: term i owns indptr[i]..indptr[i+1] of `rows` (rising, chunk numbers) and `tfs`.

    `unions` are terms of one query that stand for several (see `with_unions`), each with postings of its own.
    """

    vocabulary: Mapping[str, int]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    tfs: NDArray[np.float64]
    lengths: NDArray[np.float64]
    average_length: float  # in terms; 1 for an empty index, where it divides nothing
    unions: Mapping[str, Posting] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.lengths)

    @property
    def width(self) -> int:
        """One more than the highest term id."""
        return len(self.indptr) - 1

    def postings(self, term: str) -> slice:
        """Where the term's postings stand; an empty slice if no chunk holds it."""
        i = self.vocabulary.get(term)
        return slice(0, 0) if i is None else slice(int(self.indptr[i]), int(self.indptr[i + 1]))

    def posting(self, term: str) -> Posting:
        """The chunks that hold the term, and how often each does."""
        if (union := self.unions.get(term)) is not None:
            return union
        where = self.postings(term)
        return Posting(self.rows[where], self.tfs[where])

    def document_frequency(self, term: str) -> int:
        if (union := self.unions.get(term)) is not None:
            return len(union.rows)
        where = self.postings(term)
        return int(where.stop - where.start)


@dataclass(slots=True)
class Ordered:
    """The terms of an index in order, sorted when they are first asked for; most searches never do."""

    _terms: list[str] = field(default_factory=list)

    def beginning_with(self, prefix: str, index: SparseIndex) -> Sequence[str]:
        """The terms of `index`, always the same one, that begin with `prefix`."""
        if not self._terms:
            self._terms = sorted(index.vocabulary)
        begin = bisect_left(self._terms, prefix)
        return self._terms[begin : bisect_left(self._terms, prefix + "\U0010ffff", lo=begin)]


@dataclass(frozen=True, slots=True)
class Passages:
    """Chunks as passages of notes: postings of both, and the note number of each chunk, (chunks,) int32.

    A chunk's score is (1 - s) its own BM25 + s its note's (Callan, "Passage-level evidence in document retrieval",
    SIGIR 1994): what a chunk is about often stands a paragraph above. Where every note is one chunk, that is its BM25.
    """

    chunks: SparseIndex
    notes: SparseIndex
    note_of: NDArray[np.int32]


def build_sparse(forward: Forward) -> SparseIndex:
    """Invert the forward index. Row order is kept, so ties later fall by (path, start)."""
    n = len(forward.offsets) - 1
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(forward.offsets))
    order = np.argsort(forward.ids, kind="stable")
    width = max(forward.vocabulary.values(), default=-1) + 1
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(forward.ids, minlength=width))])
    lengths = np.bincount(rows, weights=forward.counts, minlength=n).astype(np.float64)
    average = float(lengths.mean()) if lengths.any() else 1.0
    tfs = forward.counts[order].astype(np.float64)
    return SparseIndex(forward.vocabulary, indptr, rows[order], tfs, lengths, average)


def splice_sparse(index: SparseIndex, place: NDArray[np.int32], at: NDArray[np.int32], added: Forward) -> SparseIndex:
    """What `build_sparse` would make after some rows changed, without reading the others again.

    `place[row]` is where an old row goes, rising, or -1 if it is gone; `at` are the numbers of the rows in `added`,
    whose vocabulary need only hold the terms that `index` lacks.
    """
    vocabulary = {**index.vocabulary, **added.vocabulary} if added.vocabulary else index.vocabulary
    width = max(index.width, max(added.vocabulary.values(), default=-1) + 1)
    size = int((place >= 0).sum()) + len(at)
    terms = np.repeat(np.arange(index.width, dtype=np.int64), np.diff(index.indptr))
    rows = place[index.rows]
    kept = rows >= 0
    terms, rows, tfs = terms[kept], rows[kept], index.tfs[kept]
    new_rows = np.repeat(at, np.diff(added.offsets))
    order = np.lexsort((new_rows, added.ids))
    new_terms, new_rows, new_tfs = added.ids[order].astype(np.int64), new_rows[order], added.counts[order]
    where = np.searchsorted(terms * size + rows, new_terms * size + new_rows)
    frequency = np.bincount(terms, minlength=width) + np.bincount(new_terms, minlength=width)
    lengths = np.zeros(size)
    lengths[place[place >= 0]] = index.lengths[place >= 0]
    np.add.at(lengths, np.repeat(at, np.diff(added.offsets)), added.counts)
    return SparseIndex(
        vocabulary,
        np.concatenate([np.zeros(1, np.int64), np.cumsum(frequency)]),
        np.insert(rows, where, new_rows),
        np.insert(tfs, where, new_tfs),
        lengths,
        float(lengths.mean()) if lengths.any() else 1.0,
    )


def idf(index: SparseIndex, term: str, variant: str = "lucene") -> float:
    """The term's inverse document frequency; for a term no chunk holds, the value at df = 0."""
    n, df = index.size, index.document_frequency(term)
    if variant == "lucene":
        return float(np.log1p((n - df + 0.5) / (df + 0.5)))
    raw = float(np.log(n - df + 0.5) - np.log(df + 0.5))
    return raw if raw >= 0 else OKAPI_EPSILON * _mean_okapi_idf(index)


def _mean_okapi_idf(index: SparseIndex) -> float:
    df = np.diff(index.indptr)
    df = df[df > 0]  # terms of notes that are gone keep a number and no postings
    return float(np.mean(np.log(index.size - df + 0.5) - np.log(df + 0.5))) if df.size else 0.0


def search_sparse(index: SparseIndex, terms: Mapping[str, float], k: int, how: Bm25) -> list[tuple[int, float]]:
    """The k best (row, score) for weighted query terms, by score descending, then row; see `search_passages`."""
    return search_passages(_alone(index), terms, k, how)


def search_passages(
    passages: Passages,
    terms: Mapping[str, float],
    k: int,
    how: Bm25,
    only: Rows | None = None,
    unheld: Rows | None = None,
) -> list[tuple[int, float]]:
    """The k best (chunk, score) for weighted query terms, by score descending, then chunk number.

    Only chunks that hold a term, and with it at least `how.floor` of the query's weight: the sum of weight * idf over
    its terms, those that no chunk holds included. `only` keeps the other chunks out of the list, not out of the
    statistics: idf and lengths stay those of the whole index, so a chunk scores the same in every scope. `unheld` are
    chunks that are not held to the floor.
    """
    index, share = passages.chunks, how.note_share
    scores, held, total = np.zeros(index.size), np.zeros(index.size), 0.0
    of_notes = np.zeros(passages.notes.size)
    for term, weight in terms.items():
        rows, tfs = index.posting(term)
        scores[rows] += weight * _term_scores(index, term, rows, tfs, how)
        mass = weight * idf(index, term)
        held[rows] += mass
        total += mass
        if share:
            rows, tfs = passages.notes.posting(term)
            of_notes[rows] += weight * _term_scores(passages.notes, term, rows, tfs, how)
    if share:
        scores = (1.0 - share) * scores + share * of_notes[passages.note_of]
    enough = held >= how.floor * total
    if unheld is not None:
        enough[unheld] = True
    matches = np.flatnonzero((held > 0) & enough)
    return best(matches if only is None else np.intersect1d(matches, only, assume_unique=True), scores, k)


def score_rows(
    passages: Passages, terms: Mapping[str, float], rows: NDArray[np.int64], how: Bm25
) -> tuple[NDArray[np.float64], float]:
    """The scores (rows,) that `search_passages` gives these chunks, and the query's weight: its sum of weight * idf."""
    share, of_notes, mass = how.note_share, passages.note_of[rows], 0.0
    scores = np.zeros(len(rows))
    for term, weight in terms.items():
        mass += weight * idf(passages.chunks, term)
        scores += (1.0 - share) * weight * _scores_at(passages.chunks, term, rows, how)
        if share:
            scores += share * weight * _scores_at(passages.notes, term, of_notes, how)
    return scores, mass


def score_parts(index: SparseIndex, row: int, terms: Mapping[str, float], how: Bm25) -> list[tuple[str, float]]:
    """What each query term adds to this row's score, in the order it is added; terms it lacks are left out."""
    return [(term, own) for term, own, _ in passage_parts(_alone(index), row, terms, how)]


def passage_parts(
    passages: Passages, row: int, terms: Mapping[str, float], how: Bm25
) -> list[tuple[str, float, float]]:
    """(term, what the chunk adds, what its note adds) per query term; all together they are the score."""
    share, note = how.note_share, int(passages.note_of[row])
    parts = []
    for term, weight in terms.items():
        own = (1.0 - share) * weight * _one_score(passages.chunks, term, row, how)
        whole = share * weight * _one_score(passages.notes, term, note, how) if share else 0.0
        if own or whole:
            parts.append((term, own, whole))
    return parts


def with_unions(index: SparseIndex, unions: Mapping[str, Sequence[str]]) -> SparseIndex:
    """`index` with terms that stand for several: one word for the formula, held by every chunk that holds one of them.

    As often as all of them together, and with the idf of that many chunks (the synonym operator of INQUERY: Turtle and
    Croft, "Evaluation of an inference network-based retrieval model", TOIS 1991).
    """
    return replace(index, unions={name: _union([index.posting(t) for t in terms]) for name, terms in unions.items()})


def _union(postings: Sequence[Posting]) -> Posting:
    every = np.concatenate([p.rows for p in postings]) if postings else np.zeros(0, np.int32)
    rows, at = np.unique(every, return_inverse=True)
    tfs = np.bincount(at, weights=np.concatenate([p.tfs for p in postings]) if postings else None, minlength=len(rows))
    return Posting(rows, tfs.astype(np.float64))


def _alone(index: SparseIndex) -> Passages:
    """Rows that are passages of nothing larger."""
    return Passages(index, index, np.arange(index.size, dtype=np.int32))


def _scores_at(index: SparseIndex, term: str, rows: NDArray[np.integer], how: Bm25) -> NDArray[np.float64]:
    """The term's score in each of these rows, 0 where it does not stand."""
    where, scores = index.postings(term), np.zeros(len(rows))
    held = index.rows[where]
    if len(held):
        at = np.minimum(np.searchsorted(held, rows), len(held) - 1)
        here = held[at] == rows
        found = at[here] + where.start
        scores[here] = _term_scores(index, term, index.rows[found], index.tfs[found], how)
    return scores


def _one_score(index: SparseIndex, term: str, row: int, how: Bm25) -> float:
    rows, tfs = index.posting(term)
    at = int(np.searchsorted(rows, row))
    if at >= len(rows) or rows[at] != row:
        return 0.0
    return float(_term_scores(index, term, rows[at : at + 1], tfs[at : at + 1], how)[0])


def _term_scores(
    index: SparseIndex, term: str, rows: NDArray[np.int32], tfs: NDArray[np.float64], how: Bm25
) -> NDArray[np.float64]:
    norm = how.k1 * (1.0 - how.b + how.b * index.lengths[rows] / index.average_length)
    return np.asarray(idf(index, term, how.variant) * tfs * (how.k1 + 1.0) / (tfs + norm))


def best(rows: NDArray[np.int64], scores: NDArray[np.float64], k: int) -> list[tuple[int, float]]:
    """The k best of `rows` by scores[row] descending, ties by row."""
    values = scores[rows]
    if k < len(rows):
        # Everything level with the k-th stays in until the tie is settled by row.
        floor = np.partition(values, len(rows) - k)[len(rows) - k]
        keep = values >= floor
        rows, values = rows[keep], values[keep]
    order = np.lexsort((rows, -values))[:k]
    return [(int(rows[i]), float(values[i])) for i in order]
