"""Terms: what BM25 indexes and matches, and what coverage counts.

One pass of one regular expression finds CJK runs and words. A run gives its characters and its adjacent pairs. A word
gives its stem, or, when it is made of parts (DEC-0054, err_code_17, src/app.py, camelCase), itself whole and each part:
the literal finds its note first, a part still finds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from glassbox_tui.text.normalize import compatible_spans, fold, source_span
from glassbox_tui.text.words import (
    ACRONYMS,
    CLITICS,
    CONTENT_WORDS,
    ENGLISH_STOP_WORDS,
    FUNCTION_WORDS,
    PARTICLES,
)

LONGEST_TERM = 128  # characters; a longer term is cut there, in notes and queries alike
LONGEST_CACHED = 48  # longer words hardly ever come twice


class Token(NamedTuple):
    """One term and the span of the original text that it stands for."""

    term: str
    start: int
    end: int


_Parts = tuple[tuple[str, int, int], ...]  # term and its span within the word

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_CJK = _HAN + _KANA + _HANGUL + "\u3105-\u312f"  # and bopomofo

# A letter, digit or underscore that is not CJK; combining marks that NFKC could not compose belong to their letter.
_LETTER = f"[^\\W{_CJK}]"
_MARK = "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]"
_ATOM = f"{_LETTER}(?:{_LETTER}|{_MARK})*(?:\\+\\+\\d*|#(?!{_LETTER}))?"
_WORD = (
    # @nasa, #tag, $HOME, .gitignore, --verbose: the mark belongs to the word
    f"(?:(?<!{_LETTER})(?<![.@#$-])(?:[@#$.]|--)(?=[^\\W\\d{_CJK}]))?"
    # then atoms (word, don't, C++, C#) joined as in DEC-0054, a/b.c, x::y, R&D, 1,000
    f"{_ATOM}(?:(?:://|::|->|[-./\\\\:@+&'’~]|(?<=\\d),(?=\\d)){_ATOM})*"
)
_words = re.compile(_WORD)
_token = re.compile(f"([{_CJK}]+)|{_WORD}")
_atom = re.compile(f"{_ATOM}(?:['’]{_ATOM})*")
_ascii_piece = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_other_piece = re.compile(f"(?:(?!_){_LETTER}|{_MARK})+")
# camelCase, HTTPServer, python3: where a word has seams without a mark
_seam = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{2}\d|\d[A-Za-z]{2}|_|[+#'’]")
_alone = re.compile(f"[{_HAN}{_HANGUL}]")  # scripts in which one character is a word

# The same rules as in `tokenize`, for the terms alone.
_PARTICLE = f"[{''.join(sorted(PARTICLES))}]"
_any_character = f"(?:[{_HAN}{_HANGUL}]|(?<![{_CJK}])[{_CJK}](?![{_CJK}]))"
_characters = {True: re.compile(f"(?!{_PARTICLE}){_any_character}"), False: re.compile(_any_character)}
_pairs = {
    True: re.compile(f"(?=(?!{_PARTICLE}{{2}})([{_CJK}]{{2}}))"),
    False: re.compile(f"(?=([{_CJK}]{{2}}))"),
}

_breaks = re.compile(
    "|".join(
        f"({word})" if word in FUNCTION_WORDS else word
        for word in sorted(FUNCTION_WORDS | CONTENT_WORDS, key=lambda word: (-len(word), word))
    ).replace(")|(", "|")
)


def tokenize(text: str, min_token_len: int = 1) -> list[Token]:
    """The terms of `text` as BM25 indexes and matches them, by start.

    `min_token_len` is the shortest Latin word or number that counts, in characters; CJK terms always do.
    Particles are no terms, in notes as in queries: on CMRC 2018 that is worth .0017 nDCG@10 (.9895 against .9878).
    """
    normal, offsets = compatible_spans(text)
    found: list[Token] = []
    add = found.append
    for match in _token.finditer(normal):
        begin, end = match.span()
        if match.lastindex:
            run = match.group()
            for at, term in enumerate(run, begin):
                if term not in PARTICLES:
                    if _is_word(term) or end - begin == 1:
                        add(_new(Token, (term, at, at + 1)))
                    if at + 1 < end:
                        add(_new(Token, (normal[at : at + 2], at, at + 2)))
                elif at + 1 < end and normal[at + 1] not in PARTICLES:
                    add(_new(Token, (normal[at : at + 2], at, at + 2)))
        else:
            for term, start, stop in _word_parts(match.group()):
                if stop - start >= min_token_len:
                    add(_new(Token, (term, begin + start, begin + stop)))
    if isinstance(offsets, range):
        return found
    return [Token(term, *source_span(offsets, start, end)) for term, start, end in found]


def terms(text: str, min_token_len: int = 1, *, stems: bool = True, stop_words: bool = True) -> list[str]:
    """The terms of `tokenize(text)`, in another order and without spans: two to three times as fast, for indexing.

    Without `stems` words stay as they are; without `stop_words` the list is empty, so that they are terms too. No index
    is made so: it is for measuring what the two are worth.
    """
    normal, _ = compatible_spans(text)
    found: list[str] = []
    if not normal.isascii():
        found += _characters[stop_words].findall(normal)
        found += _pairs[stop_words].findall(normal)
    parts = _word_parts if stems and stop_words else partial(_split, stems=stems, stop_words=stop_words)
    for word in _words.findall(normal):
        found += [term for term, start, end in parts(word) if end - start >= min_token_len]
    return found


def content_terms(text: str, min_token_len: int = 1) -> list[str]:
    """The terms that say what `text` is about, each once, in order: Latin words and identifiers, CJK bigrams.

    Chinese function words break a CJK run; a run of one character counts as itself. All are terms of `tokenize(text)`.
    """
    normal, _ = compatible_spans(text)
    terms: dict[str, None] = {}
    for match in _token.finditer(normal):
        if match.lastindex:
            for run in content_runs(match.group()):
                if len(run) == 1 and (_is_word(run) or run == match.group()):
                    terms[run] = None
                terms.update((run[at : at + 2], None) for at in range(len(run) - 1))
        else:
            terms.update((term, None) for term, a, b in _word_parts(match.group()) if b - a >= min_token_len)
    return list(terms)


def word_runs(text: str) -> Iterator[tuple[int, int, bool]]:
    """The spans of the words in `text`, and of its Chinese runs without function words, which are True."""
    normal, offsets = compatible_spans(text)
    for match in _token.finditer(normal):
        if match.lastindex:
            at = match.start()
            for run in content_runs(match.group()):
                at = normal.index(run, at)
                yield *source_span(offsets, at, at + len(run)), True
                at += len(run)
        else:
            yield *source_span(offsets, *match.span()), False


_new: Callable[[type[Token], tuple[str, int, int]], Token] = tuple.__new__  # half the price of Token(...)


@lru_cache(maxsize=32768)
def _is_word(char: str) -> bool:
    return _alone.match(char) is not None


def content_runs(run: str) -> Iterator[str]:
    done = 0
    for match in _breaks.finditer(run):
        if match.lastindex:
            if match.start() > done:
                yield run[done : match.start()]
            done = match.end()
    if done < len(run):
        yield run[done:]


def _word_parts(word: str) -> _Parts:
    return _cached_parts(word) if len(word) <= LONGEST_CACHED else _split(word)


def _split(word: str, stems: bool = True, stop_words: bool = True) -> _Parts:
    """The terms of one word with their spans in it: the whole first, then its parts; none for a stop word."""
    if word.islower() and word.isalpha() and word.isascii():
        term = _term(word, stems, stop_words)
        return ((term, 0, len(word)),) if term else ()
    found: dict[tuple[str, int, int], None] = {}
    atoms = [(match.group(), *match.span()) for match in _atom.finditer(word)]
    for atom, start, end in atoms:
        _add(found, atom, start, end, stems, stop_words)
        if _seam.search(atom) and not _is_contraction(atom):
            for piece in (_ascii_piece if atom.isascii() else _other_piece).finditer(atom):
                _add(found, piece.group(), start + piece.start(), start + piece.end(), stems, stop_words)
    if found and (len(atoms) > 1 or atoms[0][0] != word):
        found = {(_whole(word), 0, len(word)): None, **found}
    if len(atoms) > 1 and word[0] in "vV" and (version := re.fullmatch(r"[vV](\d+(?:\.\d+)+)", word)):
        found[version.group(1), 1, len(word)] = None
    return tuple(sorted(found, key=lambda part: (part[1], -part[2])))


_cached_parts = lru_cache(maxsize=65536)(_split)


def _add(
    found: dict[tuple[str, int, int], None], word: str, start: int, end: int, stems: bool, stop_words: bool
) -> None:
    term = _term(word, stems, stop_words)
    if term:
        found[term, start, end] = None
        if not term.isascii() and (base := _without_accents(term)) != term:
            found[base, start, end] = None


def _is_contraction(atom: str) -> bool:
    head, mark, tail = atom.replace("’", "'").rpartition("'")
    return bool(mark) and tail.lower() in CLITICS and head.isalpha()


def _whole(word: str) -> str:
    """The term of a word of several parts: folded, not stemmed; 1,000 is 1000."""
    return fold(word).replace("’", "'").replace(",", "")[:LONGEST_TERM]


def _term(word: str, stems: bool, stop_words: bool) -> str:
    """The term of a word without parts: folded and stemmed; empty for a stop word."""
    low = fold(word).replace("’", "'")
    if stop_words and low in ENGLISH_STOP_WORDS and word not in ACRONYMS:
        return ""
    if stems and low.isascii() and low.replace("'", "").isalpha():
        low = _stemmer()(low)
    return low[:LONGEST_TERM]


def _without_accents(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", word) if not "\u0300" <= char <= "\u036f")


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from py_rust_stemmers import SnowballStemmer

    stem: Callable[[str], str] = SnowballStemmer("english").stem_word
    return stem
