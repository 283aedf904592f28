"""Terms: what BM25 indexes and matches, and what coverage counts."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, NamedTuple

from glassbox_tui.text.normalize import compatible_spans, fold, source_span
from glassbox_tui.text.words import ACRONYMS, CHINESE_FUNCTION_WORDS, ENGLISH_STOP_WORDS

LONGEST_TERM = 128  # characters; a longer term is cut, on both sides of a match alike


class Token(NamedTuple):
    """One term and the span of the original text that it stands for."""

    term: str
    start: int
    end: int


class _Part(NamedTuple):
    term: str
    start: int  # within the word
    end: int


_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_CJK = _HAN + _KANA + _HANGUL + "\u3105-\u312f"
_W = f"[^\\W{_CJK}]"
_ATOM = f"{_W}+(?:\\+\\+\\d*|#(?!\\w))?"
_token = re.compile(
    f"(?P<cjk>[{_CJK}]+)"
    # @nasa, #tag, $HOME, .gitignore, --verbose; then atoms (word, C++, C#) joined as in DEC-0054, a/b.c, x::y, it's.
    f"|(?:(?<![\\w.@#$-])(?:[@#$.]|--)(?=[^\\W\\d{_CJK}]))?{_ATOM}(?:(?:://|::|->|[-./\\\\:@+&'’~,]){_ATOM})*"
)
_atom = re.compile(_ATOM)
_camel = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_hump = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{2}\d{2}|\d[A-Za-z]{2}|_")
_solo = re.compile(f"[{_HAN}{_HANGUL}]")


def tokenize(text: str, min_token_len: int = 1) -> list[Token]:
    """The terms of `text` as BM25 indexes and matches them, by start; `min_token_len` bounds Latin words, in characters."""
    normal, offsets = compatible_spans(text)
    found: list[Token] = []
    for match in _token.finditer(normal):
        begin = match.start()
        parts = _cjk_parts(match.group()) if match.lastgroup else _word_parts(match.group(), min_token_len)
        found.extend(Token(term, begin + start, begin + end) for term, start, end in parts)
    if isinstance(offsets, range):
        return found
    return [Token(term, *source_span(offsets, start, end)) for term, start, end in found]


def content_terms(text: str, min_token_len: int = 1) -> list[str]:
    """The terms that say what `text` is about, each once, in order: Latin words and identifiers, CJK bigrams.

    Chinese function words break a CJK run; a run of one character counts as itself.
    """
    normal, _ = compatible_spans(text)
    terms: dict[str, None] = {}
    for match in _token.finditer(normal):
        if match.lastgroup is None:
            terms.update((part.term, None) for part in _word_parts(match.group(), min_token_len))
            continue
        for run in _function_words.split(match.group()):
            if len(run) == 1:
                terms[run] = None
            terms.update((run[at : at + 2], None) for at in range(len(run) - 1))
    return list(terms)


_function_words = re.compile("|".join(sorted(CHINESE_FUNCTION_WORDS, key=lambda word: (-len(word), word))))


def _cjk_parts(run: str) -> list[_Part]:
    parts: list[_Part] = []
    last = len(run) - 1
    for at, char in enumerate(run):
        dull = char in CHINESE_FUNCTION_WORDS
        if not dull and (last == 0 or _solo.match(char)):
            parts.append(_Part(char, at, at + 1))
        if at < last and not (dull and run[at + 1] in CHINESE_FUNCTION_WORDS):
            parts.append(_Part(run[at : at + 2], at, at + 2))
    return parts


@lru_cache(maxsize=65536)
def _word_parts(word: str, min_token_len: int) -> tuple[_Part, ...]:
    spans: dict[tuple[str, int, int], None] = {}
    atoms = list(_atom.finditer(word))
    for match in atoms:
        _add_atom(spans, match.group(), match.start())
    if len(atoms) > 1 or atoms[0].span() != (0, len(word)):
        whole = _term(word) if spans else ""
        if whole:
            spans = {(whole, 0, len(word)): None, **spans}
    kept = (_Part(term[:LONGEST_TERM], start, end) for term, start, end in spans if end - start >= min_token_len)
    return tuple(sorted(kept, key=lambda part: part.start))


def _add_atom(spans: dict[tuple[str, int, int], None], atom: str, begin: int) -> None:
    whole = _term(atom)
    if whole:
        spans[whole, begin, begin + len(atom)] = None
    if _hump.search(atom) or "+" in atom or "#" in atom:
        for piece in _camel.finditer(atom):
            term = _term(piece.group())
            if term:
                spans[term, begin + piece.start(), begin + piece.end()] = None


def _term(word: str) -> str:
    """The term of one word: folded, stemmed; empty for a stop word."""
    low = fold(word).replace("’", "'")
    if low in ENGLISH_STOP_WORDS and word not in ACRONYMS:
        return ""
    if low.isascii() and low.replace("'", "").isalpha():
        return str(_stemmer().stem_word(low))
    return low


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")


def plain_form(word: str) -> str:
    """`word` without its accents."""
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
