"""While somebody types, the last word may be half a word: keywords match what it may become.

`fusio` is no term of any note, `fusion` is. A term of the index counts as what a word may become if it begins with the
word, or if the word with one of the usual endings has it for a stem (`retrievin` + g: retriev). Together they are one
term for BM25 (`index.sparse.with_unions`), written `fusio…`. A word that the index holds is taken as it stands, and so
is one with a blank, a mark or a Chinese character behind it: Chinese matches by its last characters anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Passages, SparseIndex, with_unions
from glassbox_tui.retrieval.query import Query
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.tokens import Token, terms, tokenize

LEAST = 3  # letters or digits: fewer begin too many words
MOST = 30  # terms, those of most chunks: what a word becomes is more likely a common one
MARK = "…"

# What may be missing of an English word whose stem is shorter than what is typed of it: the end of one of these. Every
# try goes through the stemmer, so an ending that fits no word of the notes does no harm.
_SUFFIXES = """
    izational ization ations ating ated ational ements ement ments ness iness iveness fulness ousness ability ibility
    icities ically ally ingly edly fully ously ively ability able ible ance ence ancy ency ities ity alism ism ist
    ists ative atives ious ous ive ical ials ial als ics ied ies izing ized izes ize ising ised ises ise
    ifying ified ifies ify ers eds est ings ing sions sion tions tion ions ion ates ate ly s es y
"""
_ENDINGS = sorted({suffix[at:] for suffix in _SUFFIXES.split() for at in range(len(suffix))})


def with_begun(query: Query, typed: str, plain: str, snapshot: Snapshot, min_token_len: int = 1) -> Query:
    """`query` with what its last word may become in place of that word; unchanged where it is a whole one.

    `typed` is what stands in the box, `plain` the question in it: a word behind a dash is not asked for.
    """
    if not typed or not typed[-1].isalnum() or not plain or typed.split()[-1] != plain.split()[-1]:
        return query
    index = snapshot.sparse
    last = [t for t in tokenize(plain, min_token_len) if t.end == len(plain)]
    if not last or any(_is_short(t) for t in last) or any(index.document_frequency(t.term) for t in last):
        return query
    for token in last:  # the longest first: dec-00 before 00
        word = plain[token.start :]
        found = may_become(word, snapshot)
        if found:
            name = fold(word) + MARK
            kept = {term: weight for term, weight in query.terms.items() if term not in {t.term for t in last}}
            return replace(query, terms={**kept, name: 1.0}, begun={name: found})
    return query


def may_become(word: str, snapshot: Snapshot) -> tuple[str, ...]:
    """The index terms that `word` may become, at most MOST, those of most chunks first."""
    index, begun = snapshot.sparse, fold(word)
    found = dict.fromkeys(snapshot.ordered.beginning_with(begun, index))
    if begun.isascii() and begun.isalpha():
        found.update((term, None) for ending in _ENDINGS for term in terms(begun + ending))
    frequency = {term: index.document_frequency(term) for term in found}
    held = [term for term, n in frequency.items() if n]
    return tuple(sorted(held, key=lambda term: (-frequency[term], term))[:MOST])


def passages(whole: Passages, begun: Mapping[str, tuple[str, ...]]) -> Passages:
    """Postings in which a begun word is a term."""
    if not begun:
        return whole
    return replace(whole, chunks=with_unions(whole.chunks, begun), notes=with_unions(whole.notes, begun))


def part_name(term: str, begun: Mapping[str, tuple[str, ...]], whole: Passages, row: int) -> str:
    """A term's name in a chunk's score: `fusio… = fusion` says which words of the chunk, or of its note, it met."""
    if term not in begun:
        return term
    note = int(whole.note_of[row])
    met = [t for t in begun[term] if _holds(whole.chunks, t, row)] or [
        t for t in begun[term] if _holds(whole.notes, t, note)
    ]
    return f"{term} = {', '.join(met)}"


def _holds(index: SparseIndex, term: str, row: int) -> bool:
    rows = index.posting(term).rows
    at = int(np.searchsorted(rows, row))
    return at < len(rows) and int(rows[at]) == row


def _is_short(token: Token) -> bool:
    """Whether so little of a word is there that it is not looked up; a character of Chinese is a word."""
    return token.end - token.start < LEAST or not token.term[:1].isascii()
