"""A question's words in the other language: those that a dictionary knows, as the index terms of what they may mean.

Pure: the dictionary is handed in. Nothing is decided here: glosses may overlap (防守 and 守卫 in 防守卫星), and which
reading a passage supports is seen when it is scored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from glassbox_tui.text.language import CJK, OTHER
from glassbox_tui.text.tokens import Token, terms, tokenize
from glassbox_tui.text.words import FUNCTION_WORDS

LONGEST_WORD = 10  # characters of a Chinese word that is looked up
LONGEST_KEY = 3  # English words that are looked up together
LONGEST_GLOSS = 4  # terms; a longer gloss explains and does not translate
LATER_SENSE = 0.1  # the n-th gloss of a word weighs 1 / (1 + LATER_SENSE n)
ONE_CHARACTER = 0.6  # weight of a Chinese word of one character: it stands within many others
MOST_ALTERNATIVES = 20


class Dictionary(Protocol):
    """What is looked up, many words at once: see `models.lexicon.Lexicon`."""

    def glosses(self, words: Collection[str]) -> Mapping[str, Sequence[str]]: ...

    def words(self, keys: Collection[str]) -> Mapping[str, Sequence[tuple[str, float]]]: ...


@dataclass(frozen=True, slots=True)
class Alternative:
    """One thing that a word may mean: as people write it, its index terms, and a weight in (0, 1]."""

    text: str
    terms: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Gloss:
    """A word, or neighbouring words, of the question: its [start:end), and what it may be in the other language.

    A word that is written alike in both (a number, a Latin word) is its own alternative. Without alternatives the
    dictionary does not know the word.
    """

    word: str
    start: int
    end: int
    alternatives: tuple[Alternative, ...]


def translations(text: str, dictionary: Dictionary, language: str | None = None) -> tuple[Gloss, ...]:
    """The words of `text` that may be met in notes of the other language, by start, then end; see `Gloss`.

    `language`: what the text is in, if not by `question_language`. Raises what the dictionary raises.
    """
    tokens = tokenize(text)
    words = [token for token in tokens if not _chinese.fullmatch(token.term)]
    if (language or question_language(text)) == CJK:
        found = [*_literals(text, words), *_from_chinese(text, tokens, dictionary)]
    else:
        plain = _finest(words)
        wholes = [token for token in words if token not in plain]  # DEC-0054 beside 0054, a date beside its numbers
        found = [*_literals(text, wholes), *_from_english(text, plain, dictionary)]
    return tuple(sorted(found, key=lambda gloss: (gloss.start, gloss.end)))


def question_language(text: str) -> str:
    """`CJK` for a question with at least as many CJK characters as other words, else `OTHER`.

    A note is told by its letters (`language_of`). A question is short: two Latin names must not make it English.
    """
    cjk, words = 0, 0
    for token in _characters_and_words.finditer(text):
        if token.lastindex:
            cjk += 1
        else:
            words += 1
    return CJK if cjk and cjk >= words else OTHER


_characters_and_words = re.compile(
    r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3])|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+"
)
_chinese = re.compile(r"[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff]+")


def _literals(text: str, tokens: Sequence[Token]) -> Iterator[Gloss]:
    for token in tokens:
        yield Gloss(text[token.start : token.end], token.start, token.end, (_itself(text, token),))


def _itself(text: str, token: Token) -> Alternative:
    return Alternative(text[token.start : token.end], (token.term,), 1.0)


# -- Chinese to English ------------------------------------------------------------------------------------------------


def _from_chinese(text: str, tokens: Sequence[Token], dictionary: Dictionary) -> Iterator[Gloss]:
    """Every word of the dictionary, and single characters where there is no longer word."""
    spans = {
        (start, start + size): run[at : at + size]
        for run, begin in _runs(tokens)
        for at, start in enumerate(range(begin, begin + len(run)))
        for size in range(1, min(LONGEST_WORD, len(run) - at) + 1)
    }
    known = dictionary.glosses(set(spans.values()) - FUNCTION_WORDS)
    longer = [span for span, word in spans.items() if len(word) > 1 and (word in known or word in FUNCTION_WORDS)]
    covered = {at for start, end in longer for at in range(start, end)}
    for (start, end), word in spans.items():
        if word in FUNCTION_WORDS or (word not in known if end - start > 1 else start in covered):
            continue
        alternatives = _english(known.get(word, ()))
        if alternatives or end - start == 1:
            yield Gloss(text[start:end], start, end, alternatives)


def _english(glosses: Sequence[str]) -> tuple[Alternative, ...]:
    found: dict[tuple[str, ...], Alternative] = {}
    for place, gloss in enumerate(glosses):
        own = tuple(dict.fromkeys(terms(gloss)))
        if own and len(own) <= LONGEST_GLOSS:
            found.setdefault(own, Alternative(gloss, own, 1.0 / (1.0 + LATER_SENSE * place)))
    return tuple(found.values())[:MOST_ALTERNATIVES]


def _runs(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Runs of Chinese characters as the index has them (traditional ones folded), and where each begins."""
    characters: dict[int, str] = {}
    for token in tokens:
        if token.end - token.start == len(token.term) <= 2 and _chinese.fullmatch(token.term):
            characters.update(enumerate(token.term, token.start))
    run, begin = "", 0
    for at in sorted(characters):
        if at != begin + len(run):
            if run:
                yield run, begin
            run, begin = "", at
        run += characters[at]
    if run:
        yield run, begin


# -- English to Chinese ------------------------------------------------------------------------------------------------


def _from_english(text: str, words: Sequence[Token], dictionary: Dictionary) -> Iterator[Gloss]:
    """Every word, and neighbouring words that the dictionary knows together."""
    keys = {
        (at, size): " ".join(word.term for word in words[at : at + size])
        for at in range(len(words))
        for size in range(1, min(LONGEST_KEY, len(words) - at) + 1)
    }
    known = dictionary.words(set(keys.values()))
    for (at, size), key in keys.items():
        start, end = words[at].start, words[at + size - 1].end
        own = (_itself(text, words[at]),) if size == 1 else ()
        found = (_chinese_word(word, weight) for word, weight in known.get(key, ()))
        best = sorted((a for a in found if a.terms), key=lambda alternative: -alternative.weight)[:MOST_ALTERNATIVES]
        if own or best:
            yield Gloss(text[start:end], start, end, (*own, *best))


def _chinese_word(word: str, weight: float) -> Alternative:
    own = tuple(dict.fromkeys(terms(word)))
    pairs = tuple(term for term in own if len(term) > 1)
    return Alternative(word, pairs or own, weight if pairs else ONE_CHARACTER * weight)


def _finest(tokens: Sequence[Token]) -> list[Token]:
    """The tokens that no other token is part of: of R&D or camelCase the parts, of a plain word itself."""
    found: list[Token] = []
    for token in sorted(tokens, key=lambda token: (token.start, -token.end)):
        while found and found[-1].start <= token.start and token.end <= found[-1].end and found[-1][1:] != token[1:]:
            found.pop()
        if not found or found[-1].end <= token.start:
            found.append(token)
    return found
