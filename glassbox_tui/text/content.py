"""The content words of a question: whole words as a person reads them, each with the index terms that hold it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from glassbox_tui.text.normalize import compatible_spans, source_span
from glassbox_tui.text.tokens import LONGEST_CACHED, _cached_parts, _is_word, _split, _token, content_runs


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

    def add(start: int, end: int, ways: tuple[tuple[str, ...], ...]) -> None:
        a, b = (start, end) if isinstance(offsets, range) else source_span(offsets, start, end)
        found.setdefault(ways, Word(text[a:b], a, b, ways))

    for match in _token.finditer(normal):
        begin, piece = match.start(), match.group()
        if match.lastindex:
            at = 0
            for run in content_runs(piece):
                at = piece.index(run, at)
                if len(run) > 1:
                    pairs = tuple(dict.fromkeys(run[i : i + 2] for i in range(len(run) - 1)))
                    add(begin + at, begin + at + len(run), (pairs,))
                elif _is_word(run) or run == piece:
                    add(begin + at, begin + at + 1, ((run,),))
                at += len(run)
        else:
            parts = _cached_parts(piece) if len(piece) <= LONGEST_CACHED else _split(piece)
            parts = tuple(part for part in parts if part[2] - part[1] >= min_token_len)
            if parts:
                first, last = min(p[1] for p in parts), max(p[2] for p in parts)
                wholes = [term for term, a, b in parts if (a, b) == (first, last)]
                pieces = tuple(dict.fromkeys(term for term, a, b in parts if (a, b) != (first, last)))
                ways: list[tuple[str, ...]] = [(term,) for term in dict.fromkeys(wholes)]
                if pieces and not (wholes and any(char.isdigit() for char in piece)):
                    ways.append(pieces)
                add(begin + first, begin + last, tuple(ways))
    return tuple(found.values())
