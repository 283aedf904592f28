"""Terms: what BM25 indexes and matches, and what coverage counts.

One pass of one regular expression finds CJK runs, emoji and words. A run gives its characters and its adjacent pairs,
also across a line break. A word gives its stem, or, when it is made of parts (DEC-0054, err_code_17, src/app.py,
camelCase), itself whole and each part: the literal finds its note first, a part still finds it. A value gives its
canonical form as well, so that its spellings meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, filterfalse
from operator import itemgetter
from typing import NamedTuple

from glassbox_tui.text import patterns
from glassbox_tui.text.folding import readable
from glassbox_tui.text.normalize import source_span
from glassbox_tui.text.patterns import HAN, KANA, PICTURE, RUN, SOUTHEAST
from glassbox_tui.text.pieces import PieceKind, content_runs, is_word, pieces
from glassbox_tui.text.values import loose_values
from glassbox_tui.text.word_terms import LONGEST_CACHED, LONGEST_TERM, cached_terms, split, word_terms
from glassbox_tui.text.words import PARTICLES

__all__ = ["LONGEST_TERM", "Token", "content_runs", "content_terms", "terms", "tokenize"]


class Token(NamedTuple):
    """One term and the span of the original text that it stands for."""

    term: str
    start: int
    end: int


# What of a CJK run is no term: two particles side by side; a particle, or a character of a script that has no words of
# one character, unless it is all there is.
_EMPTY_PAIRS = frozenset(a + b for a in PARTICLES for b in PARTICLES)
_PART_OF_WORDS = frozenset(
    char for char in map(chr, range(0x0E00, 0xAB00)) if patterns.run.match(char) and not is_word(char)
)
_NO_TERMS = {True: _PART_OF_WORDS | PARTICLES | _EMPTY_PAIRS, False: _PART_OF_WORDS}
_even = re.compile(r"[^\n]{2}")
_odd = re.compile(r"(?<=[^\n])[^\n]{2}")
# A line that goes on in the next one, between scripts that have no blanks: not before 一、 or 第三条.
_line_break = re.compile(
    f"\\n[ \\t>]*(?!(?:[一二三四五六七八九十百]{{1,4}}、|第[^\\W_]{{1,8}}[条章节编篇]))([{HAN}{KANA}{SOUTHEAST}])"
)
_goes_on = re.compile(f"[{HAN}{KANA}{SOUTHEAST}]")


def tokenize(text: str, min_token_len: int = 1) -> list[Token]:
    """The terms of `text` as BM25 indexes and matches them, by start.

    `min_token_len` is the shortest Latin word, number or value that counts, in characters; CJK and emoji always do.
    Particles are no terms, in notes as in queries: on CMRC 2018 that is worth .0017 nDCG@10 (.9895 against .9878).
    """
    normal, offsets = readable(text)
    found: list[Token] = []
    words: list[str] = []
    keep = found.append
    for match in patterns.token.finditer(normal):
        begin, end = match.span()
        if match.lastindex == RUN:
            run = match.group()
            for at, term in enumerate(run, begin):
                if term not in PARTICLES:
                    if is_word(term) or end - begin == 1:
                        keep(_new(Token, (term, at, at + 1)))
                    if at + 1 < end:
                        keep(_new(Token, (normal[at : at + 2], at, at + 2)))
                elif at + 1 < end and normal[at + 1] not in PARTICLES:
                    keep(_new(Token, (normal[at : at + 2], at, at + 2)))
        elif match.lastindex == PICTURE:
            keep(_new(Token, (match.group(), begin, end)))
        else:
            words.append(match.group())
            for term, start, stop in word_terms(words[-1]):
                if stop - start >= min_token_len:
                    keep(_new(Token, (term, begin + start, begin + stop)))
    loose = [*_loose_terms(normal, words, min_token_len), *_wrapped_pairs(normal)]
    if loose:
        found += [Token(*token) for token in loose]
        found.sort(key=itemgetter(1))
    if isinstance(offsets, range):
        return found
    return [Token(term, *source_span(offsets, start, end)) for term, start, end in found]


def terms(text: str, min_token_len: int = 1, *, stems: bool = True, stop_words: bool = True) -> list[str]:
    """The terms of `tokenize(text)`, in another order and without spans: two to three times as fast, for indexing.

    Without `stems` words stay as they are; without `stop_words` the list is empty, so that they are terms too. No index
    is made so: it is for measuring what the two are worth.
    """
    normal, _ = readable(text)
    found: list[str] = []
    rest = normal
    if not normal.isascii():
        parts = patterns.run_apart.split(normal)
        rest = " ".join(parts[::2])  # the same words are found in it, and sooner
        found += _run_terms(parts[1::2], stop_words)
        found += [pair for pair, _, _ in _wrapped_pairs(normal, stop_words)]
        found += patterns.emoji.findall(rest)
    words = patterns.words(rest)
    if stems and stop_words and min_token_len == 1 and max(map(len, words), default=0) <= LONGEST_CACHED:
        found += chain.from_iterable(map(cached_terms, words))
    else:
        read = word_terms if stems and stop_words else partial(split, stems=stems, stop_words=stop_words)
        found += [term for word in words for term, start, end in read(word) if end - start >= min_token_len]
    found += [term for term, _, _ in _loose_terms(normal, words, min_token_len, rest)]
    return found


def _run_terms(runs: Sequence[str], stop_words: bool) -> list[str]:
    """The terms of CJK runs: the characters that are words, and the pairs. All runs at once: they are many."""
    no_terms = _NO_TERMS[stop_words]
    apart = "\n".join(runs)
    found = [run for run in runs if len(run) == 1 and run in _PART_OF_WORDS]
    found += filterfalse(no_terms.__contains__, "".join(runs))
    found += filterfalse(no_terms.__contains__, _even.findall(apart))
    found += filterfalse(no_terms.__contains__, _odd.findall(apart))
    return found


def _loose_terms(
    normal: str, words: Sequence[str], min_token_len: int, outside: str | None = None
) -> Iterator[tuple[str, int, int]]:
    """The terms of values that are no single word: January 16th, 2024; 1 000,20; 2024年1月16日."""
    for value in loose_values(normal, words, outside):
        if value.end - value.start >= min_token_len:
            for term in value.terms:
                yield term, value.start, value.end


def _wrapped_pairs(normal: str, stop_words: bool = True) -> Iterator[tuple[str, int, int]]:
    """The pairs of CJK characters between which a line was broken, with indentation or a quotation's mark."""
    if "\n" not in normal:
        return
    for match in _line_break.finditer(normal):
        at = match.start()
        while at and normal[at - 1] in " \t\r":
            at -= 1
        if not at or not _goes_on.match(normal, at - 1):
            continue
        line = normal[normal.rfind("\n", 0, at) + 1 : at].lstrip(" \t>")
        pair = normal[at - 1] + match[1]
        if line[0] not in "#|" and not (stop_words and pair[0] in PARTICLES and pair[1] in PARTICLES):
            yield pair, at - 1, match.end()


def content_terms(text: str, min_token_len: int = 1) -> list[str]:
    """The terms that say what `text` is about, each once, in order: Latin words and identifiers, CJK bigrams, values.

    Chinese function words break a CJK run; a run of one character counts as itself. A value is one term, in its
    canonical form. Emoji count where there is nothing else. All are terms of `tokenize(text)`.
    """
    found: dict[str, None] = {}
    emoji: dict[str, None] = {}
    for piece in pieces(readable(text)[0], min_token_len):
        if piece.kind is PieceKind.EMOJI:
            emoji.update(dict.fromkeys(piece.wholes))
        elif piece.kind is PieceKind.VALUE:
            found[piece.wholes[0]] = None
        else:
            found.update(dict.fromkeys((*piece.wholes, *piece.parts)))
    return list(found or emoji)


def word_runs(text: str) -> Iterator[tuple[int, int, bool]]:
    """The spans of the words in `text`, and of its Chinese runs without function words, which are True."""
    normal, offsets = readable(text)
    for match in patterns.token.finditer(normal):
        if match.lastindex is None:
            yield *source_span(offsets, *match.span()), False
        elif match.lastindex == 1:
            at = match.start()
            for run in content_runs(match.group()):
                at = normal.index(run, at)
                yield *source_span(offsets, at, at + len(run)), True
                at += len(run)


_new: Callable[[type[Token], tuple[str, int, int]], Token] = tuple.__new__  # half the price of Token(...)
