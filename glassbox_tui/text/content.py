"""The content words of a question: whole words as a person reads them, each with the index terms that hold it.

Index terms are stems, pairs of characters and parts of identifiers. What is counted and shown as missing are words.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from glassbox_tui.text.normalize import compatible_spans, source_span
from glassbox_tui.text.tokens import content_runs_at, scan, word_terms


@dataclass(frozen=True, slots=True)
class Word:
    """One content word: `text` is the question's [start:end].

    `ways` are alternatives: each is a set of index terms that together hold the word (the pairs of a Chinese run, the
    stem of an English word, the whole of an identifier or else its parts).
    """

    text: str
    start: int
    end: int
    ways: tuple[tuple[str, ...], ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """The index terms of the word, each once."""
        return tuple(dict.fromkeys(term for way in self.ways for term in way))

    def held(self, terms: Collection[str]) -> float:
        """How much of the word `terms` (a set) hold, 0 to 1: the share of the best way."""
        return max(sum(term in terms for term in way) / len(way) for way in self.ways)


def content_words(text: str, min_token_len: int = 1) -> tuple[Word, ...]:
    """The words that say what `text` is about, in order; one that is said twice counts once.

    English: words that are no stop words, identifiers and numbers whole. Chinese: what stands between function words.
    """
    normal, offsets = compatible_spans(text)
    found: dict[tuple[tuple[str, ...], ...], Word] = {}
    for begin, end, is_cjk in scan(normal):
        piece = normal[begin:end]
        ways = _run_ways(piece) if is_cjk else _word_ways(piece, min_token_len)
        for start, stop, way in ways:
            a, b = source_span(offsets, begin + start, begin + stop)
            found.setdefault(way, Word(text[a:b], a, b, way))
    return tuple(found.values())


_Found = list[tuple[int, int, tuple[tuple[str, ...], ...]]]


def _run_ways(run: str) -> _Found:
    found: _Found = []
    for start, stop in content_runs_at(run):
        terms = tuple(dict.fromkeys(run[at : at + 2] for at in range(start, stop - 1))) or (run[start:stop],)
        found.append((start, stop, (terms,)))
    return found


def _word_ways(word: str, min_token_len: int) -> _Found:
    parts = [part for part in word_terms(word) if part[2] - part[1] >= min_token_len]
    if not parts:
        return []
    start, stop = min(part[1] for part in parts), max(part[2] for part in parts)
    wholes = [term for term, a, b in parts if (a, b) == (start, stop)]
    pieces = tuple(dict.fromkeys(term for term, a, b in parts if (a, b) != (start, stop)))
    ways: list[tuple[str, ...]] = [(term,) for term in dict.fromkeys(wholes)]
    # An identifier or number is there whole or not at all: of DEC-0054 the note on DEC-0055 holds nothing.
    if pieces and not (wholes and any(char.isdigit() for char in word)):
        ways.append(pieces)
    return [(start, stop, tuple(ways))]
