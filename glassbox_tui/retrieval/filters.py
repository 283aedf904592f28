"""Which chunks a query's conditions leave: by the postings of their words, then by a look at the texts that hold them.

A phrase stands in a chunk as typed: folded, white space aside (also between Chinese characters), as whole words, and
whatever emphasis a note puts on a part of it. What is looked at is the chunk's index_text: its text under its headings.
An excluded word is a word as the tokenizer sees it: -car leaves out cars, not cards or scars.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np

from glassbox_tui.index.scope import Rows
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.retrieval.trace import Filter, Trace
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.operators import Condition, Typed, parse
from glassbox_tui.text.tokens import tokenize

# Scripts in which a word may begin and end anywhere in a run; of the first group every character is an index term.
_SINGLE = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
)
_UNSPACED = f"{_SINGLE}\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_unspaced_gap = re.compile(rf"(?<=[{_UNSPACED}])\s+|\s+(?=[{_UNSPACED}])")
_blank = re.compile(r"\s+")
_piece = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+(?:'[^\W{_UNSPACED}]+)*(?:\+\+|#)?")
_single = re.compile(f"[{_SINGLE}]")
_unspaced = re.compile(f"[{_UNSPACED}]")
_word_edge = re.compile(rf"[^\W{_UNSPACED}]")
_EMPHASIS = str.maketrans({"*": None, "`": None, "’": "'"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chunks that are left (rising numbers; None: there is no condition), what each condition removed, and why no
    chunk is left ("": some are)."""

    rows: Rows | None
    filters: tuple[Filter, ...] = ()
    reason: str = ""


NO_FILTER = Chosen(None)


def flag_notice(flag: str) -> str:
    """What is said of a word with a dash that is searched for."""
    return f'{flag} stands in the notes as it is, so it is searched for; -"{flag[1:]}" leaves the word out'


def take_apart(query: str, snapshot: Snapshot, min_token_len: int = 1) -> tuple[Typed, tuple[str, ...]]:
    """`query` taken apart, and the words behind a dash that stayed text because the notes write them so."""
    flags: list[str] = []

    def literal(word: str) -> bool:
        if not _has_unspaced(word) and not _terms_of(word, min_token_len):
            return True  # a stop word, or too short for the index: there is nothing it could leave out
        if _written_with_dash(word, snapshot, min_token_len):
            flags.append(f"-{word}")
            return True
        return False

    typed = parse(query, literal)
    return typed, tuple(dict.fromkeys(flags))


def question_of(trace: Trace) -> str:
    """What the person asked, in words: the query without the marks that acted as filters; mended, if the loop did."""
    if trace.last.judged_by not in ("", trace.rounds[0].judged_by):
        return trace.last.judged_by
    acted = {(f.kind, f.text) for f in trace.rounds[0].filters}
    if not acted:
        return trace.query
    return parse(trace.query, lambda word: ("exclude", f"-{word}") not in acted).plain


def choose(conditions: Sequence[Condition], snapshot: Snapshot, scope: Rows | None, min_token_len: int = 1) -> Chosen:
    """The chunks of `scope` (None: all) that meet every condition."""
    every = np.arange(len(snapshot.chunks), dtype=np.int64) if scope is None else scope
    left, filters, reason = every, list[Filter](), ""
    for condition in conditions:
        held = np.intersect1d(every, rows_with(condition, snapshot, min_token_len), assume_unique=True)
        out = held if condition.kind == "exclude" else np.setdiff1d(every, held, assume_unique=True)
        filters.append(Filter(condition.kind, condition.typed, len(out)))
        left = np.setdiff1d(left, out, assume_unique=True)
        if condition.kind == "phrase" and not len(held) and not reason:
            words = np.intersect1d(every, _holding_words(condition.text, snapshot, min_token_len), assume_unique=True)
            reason = f"no chunk holds the phrase {condition.typed}: without the marks {len(words)} hold its words"
    if not reason and not len(left) and len(every):
        reason = f"the filters {' '.join(f.text for f in filters)} leave no chunk"
    return Chosen(left, tuple(filters), reason)


def rows_with(condition: Condition, snapshot: Snapshot, min_token_len: int = 1) -> Rows:
    """The chunks that hold the condition's word or phrase, rising."""
    if condition.quoted or _has_unspaced(condition.text):
        return _rows_with_phrase(condition.text, snapshot, min_token_len)
    terms = _terms_of(condition.text, min_token_len)
    found = [snapshot.sparse.posting(term).rows for term in terms]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found])).astype(np.int64)


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether `text` holds `phrase` as the filter means it."""
    pattern = _phrase_pattern(phrase)
    return pattern is not None and pattern.search(_evened(text)) is not None


def _rows_with_phrase(phrase: str, snapshot: Snapshot, min_token_len: int) -> Rows:
    pattern = _phrase_pattern(phrase)
    if pattern is None:
        return np.zeros(0, np.int64)
    rows = _holding_words(phrase, snapshot, min_token_len)
    found = [row for row in rows.tolist() if pattern.search(_evened(snapshot.chunks[row].index_text))]
    return np.array(found, dtype=np.int64)


def _holding_words(phrase: str, snapshot: Snapshot, min_token_len: int) -> Rows:
    """The chunks that hold every word of the phrase that is an index term: all that can hold the phrase."""
    terms = _needed_terms(phrase, min_token_len)
    if not terms:
        return np.arange(len(snapshot.chunks), dtype=np.int64)
    # The rarest first, so that what is intersected is small.
    postings = sorted((snapshot.sparse.posting(term).rows for term in terms), key=len)
    return reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), postings).astype(np.int64)


def _needed_terms(phrase: str, min_token_len: int) -> set[str]:
    """Terms that a chunk with the phrase must hold, however its case and the words around it make tokens of it.

    Of an unbroken word the term of the whole; of Chinese the characters, whose pairs a line break may part.
    """
    needed = set[str]()
    for match in _piece.finditer(_evened(phrase)):
        piece = match.group()
        if _has_unspaced(piece):
            needed.update(t.term for t in tokenize(piece, min_token_len) if _single.fullmatch(t.term))
        else:
            whole = [t.term for t in tokenize(piece, min_token_len) if (t.start, t.end) == (0, len(piece))]
            needed.update(whole[:1])
    return needed


def _terms_of(word: str, min_token_len: int) -> list[str]:
    """The terms of a word as a whole: its stem, or the compound that it is."""
    return [t.term for t in tokenize(word, min_token_len) if (t.start, t.end) == (0, len(word))]


def _written_with_dash(word: str, snapshot: Snapshot, min_token_len: int) -> bool:
    """Whether a chunk has the word with a dash before it and text before that on its line: `tar -xzf`, no list item."""
    pattern = re.compile(rf"(?:\S[ \t]+|[`'\"(\[])-{re.escape(word)}(?![^\W_])", re.IGNORECASE)
    near = f"-{word}".casefold()
    for row in rows_with(Condition("exclude", word, quoted=False), snapshot, min_token_len).tolist():
        text = snapshot.chunks[row].index_text
        if near in text.casefold() and pattern.search(text):
            return True
    return False


def _has_unspaced(text: str) -> bool:
    return _unspaced.search(text) is not None


def _phrase_pattern(phrase: str) -> re.Pattern[str] | None:
    words = _evened(phrase).strip()
    if not words:
        return None
    letter = f"[^\\W{_UNSPACED}]"
    before = f"(?<!{letter})" if _word_edge.match(words[0]) else ""
    after = f"(?!{letter})" if _word_edge.match(words[-1]) else ""
    return re.compile(before + re.escape(words) + after)


def _evened(text: str) -> str:
    """Folded, one blank for white space, none beside characters of a script without blanks, no marks of emphasis."""
    return _evened_text(text) if len(text) > _KEPT_SHORT else _even(text)


_KEPT_SHORT = 200  # shorter texts are phrases, which are cheap


def _even(text: str) -> str:
    return _blank.sub(" ", _unspaced_gap.sub("", fold(text).translate(_EMPHASIS)))


# While somebody types, the same chunks are looked at again and again.
_evened_text = lru_cache(maxsize=2048)(_even)
