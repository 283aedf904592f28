"""The whole words of some texts, as feedback may add them: never a fragment of a word, a name or a value.

A word in letters is itself, an identifier is whole or nothing, and a bare number is nothing. Chinese has no blanks: a
word there is a stretch that recurs, in more than one surrounding on both sides (the branching criterion of Harris 1955,
"From phoneme to morpheme"), and between cuts that a model's tokenizer makes too, where there is one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from glassbox_tui.text.normalize import fold
from glassbox_tui.text.tokens import Token, tokenize, word_runs

Segment = Callable[[str], Sequence[tuple[int, int]]]  # a text -> the spans of its tokens

LONGEST = 6  # characters of a Chinese word
OFTEN = 2  # times a Chinese word must stand in the texts


@dataclass(frozen=True, slots=True)
class WholeWord:
    """A word as it first stands, its index terms, and how often it stands in each text."""

    text: str
    terms: tuple[str, ...]
    counts: tuple[int, ...]


def whole_words(texts: Sequence[str], min_token_len: int = 1, segment: Segment | None = None) -> tuple[WholeWord, ...]:
    """The words of `texts`, in the order in which they first stand there."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    shown: dict[str, tuple[str, tuple[str, ...]]] = {}
    runs: list[_Run] = []
    for number, text in enumerate(texts):
        cuts = None if segment is None else {at for span in segment(text) for at in span}
        for start, end, chinese in word_runs(text):
            if chinese:
                runs.append(_Run(number, text, start, end, cuts))
                continue
            word = text[start:end]
            term = _whole_term(word, tokenize(word, min_token_len))
            if term:
                shown.setdefault(term, (word, (term,)))
                counts[term][number] += 1
    for word, found in _recurring(runs).items():
        terms = tuple(dict.fromkeys(t.term for t in tokenize(word, min_token_len) if len(t.term) > 1))
        if terms:
            shown[word] = (word, terms)
            counts[word] = found
    return tuple(WholeWord(*shown[key], tuple(counts[key][number] for number in range(len(texts)))) for key in shown)


def _whole_term(word: str, tokens: Sequence[Token]) -> str:
    """The term of a whole word; "" for stop words, bare numbers and what has no letter."""
    if not any(c.isalpha() for c in word):
        return ""
    return next((t.term for t in tokens if (t.start, t.end) == (0, len(word))), "")


@dataclass(frozen=True, slots=True)
class _Run:
    """text[start:end], Chinese without function words, in text `number`; `cuts`: where a tokenizer cuts the text."""

    number: int
    text: str
    start: int
    end: int
    cuts: set[int] | None

    def stretches(self) -> Iterator[tuple[str, int, int]]:
        """The stretches that may be words, of two characters or more."""
        for a in range(self.start, self.end - 1):
            if self.cuts is not None and a not in self.cuts and a != self.start:
                continue
            for b in range(a + 2, min(a + LONGEST, self.end) + 1):
                if self.cuts is None or b in self.cuts or b == self.end:
                    yield self.text[a:b], a, b


def _recurring(runs: Sequence[_Run]) -> dict[str, Counter[int]]:
    """The stretches that recur, with how often in each text; a part of a longer one only if it stands alone as well."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    before: dict[str, set[str]] = defaultdict(set)
    behind: dict[str, set[str]] = defaultdict(set)
    for place, run in enumerate(runs):
        for word, a, b in run.stretches():
            key = fold(word)
            counts[key][run.number] += 1
            # The edge of a run is a surrounding of its own each time.
            before[key].add(run.text[a - 1] if a > run.start else f"<{place}")
            behind[key].add(run.text[b] if b < run.end else f"{place}>")
    kept = {
        word: found
        for word, found in counts.items()
        if found.total() >= OFTEN and min(len(before[word]), len(behind[word])) >= OFTEN
    }
    for word in sorted(kept, key=len, reverse=True):
        total = kept[word].total() if word in kept else 0
        for size in range(2, len(word)):
            for at in range(len(word) - size + 1):
                part = word[at : at + size]
                if part in kept and kept[part].total() <= total:
                    del kept[part]
    return kept
