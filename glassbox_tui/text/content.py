"""The content words of a question: whole words as a person reads them, each with the index terms that hold it.

Index terms are stems, pairs of characters and parts of identifiers. What is counted and shown as missing are words.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from glassbox_tui.text.folding import readable
from glassbox_tui.text.normalize import source_span
from glassbox_tui.text.pieces import Piece, PieceKind, pieces

# They ask for an amount or an owner, which a note states without them. For ranking they are words like others.
_ASKING = frozenset({"much", "many", "whose"})


@dataclass(frozen=True, slots=True)
class Word:
    """One content word: `text` is the question's [start:end].

    `ways` are alternatives: each is a set of index terms that together hold the word (the pairs of a Chinese run, the
    stem of an English word, the whole of an identifier or else its parts, a value in its canonical form).
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

    English: words that are no stop words, identifiers and values whole. Chinese: what stands between function words.
    Emoji count where there is nothing else.
    """
    normal, offsets = readable(text)
    found = pieces(normal, min_token_len)
    words = [piece for piece in found if piece.kind is not PieceKind.EMOJI] or found
    words = [piece for piece in words if normal[piece.start : piece.end].lower() not in _ASKING] or words
    said: dict[tuple[tuple[str, ...], ...], Word] = {}
    for piece in words:
        ways = _ways(piece, normal)
        a, b = source_span(offsets, piece.start, piece.end)
        said.setdefault(ways, Word(text[a:b], a, b, ways))
    return tuple(said.values())


def _ways(piece: Piece, normal: str) -> tuple[tuple[str, ...], ...]:
    ways: list[tuple[str, ...]] = [(term,) for term in piece.wholes]
    # An identifier is there whole or not at all: of DEC-0054 the note on DEC-0055 holds nothing.
    if piece.parts and not (ways and any(char.isdigit() for char in normal[piece.start : piece.end])):
        ways.append(piece.parts)
    return tuple(ways)
