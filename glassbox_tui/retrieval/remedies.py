"""What can be mended about a question: the words that the notes do not hold, and what may stand for them.

spelling      a near word stands in the notes, or the word stands there as two, or two words as one
synonyms      the person's own file names another word
translation   a lexicon does (see `Expander`)

A word that stands nowhere is replaced: the question, mended, is what is searched and what the evidence is judged by,
for the word as it was typed could never be found. Beside a word that the notes do hold its synonyms are added, and
translations always are: half a sentence in each language is no question that a model understands. Codes, numbers and
whatever else carries a digit or a mark are never changed; a near one is only named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import SparseIndex, idf
from glassbox_tui.index.wordlist import words_of
from glassbox_tui.retrieval.rare import literals
from glassbox_tui.retrieval.trace import AddedTerm
from glassbox_tui.text.normalize import fold
from glassbox_tui.text.spelling import Near, WordList, Written, as_typed, near_words, splits, within, word_list, written
from glassbox_tui.text.synonyms import Synonyms, spoken_of
from glassbox_tui.text.tokens import content_terms, terms, tokenize

SPELLING, TRANSLATION, SYNONYMS = ORIGINS = ("spelling", "translation", "synonyms")
# Of the mended question's lists beside those of the question as typed, which could not find what it names.
MENDED_WEIGHT = 3.0
SYNONYM_WEIGHT = 1.0  # the person said that it means the same
TRANSLATION_WEIGHT = 0.5  # a dictionary says that it may
MOST_WORDS = 4  # that stand for one
LEAST_HALF, OFTEN = 3, 2  # letters of half a word; chunks that hold it
MOST_CHUNKS = 200  # looked through for two words side by side
SHORTEST_CODE, MOST_OFFERED = 3, 3  # characters; near codes


@dataclass(frozen=True, slots=True)
class Expansion:
    """Words that may stand for `word`, which is question[start:end]; `origin` says who says so (one of ORIGINS)."""

    word: str
    start: int
    end: int
    words: tuple[str, ...]
    origin: str


Expander = Callable[[str], Sequence[Expansion]]  # a question -> what may stand for its words


class Alternative(Protocol):
    """One thing that a word may mean in the other language, as people write it."""

    @property
    def text(self) -> str: ...


class Gloss(Protocol):
    """A word of a text with its span, and what it may mean in the other language, likeliest first."""

    @property
    def word(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def alternatives(self) -> Sequence[Alternative]: ...


class Dictionary(Protocol):
    """English index terms -> what they mean, for those that are words."""

    def words(self, keys: Collection[str]) -> Mapping[str, object]: ...


def by_lexicon(translations: Callable[[str], Iterable[Gloss]]) -> Expander:
    """An expander that translates."""

    def expand(text: str) -> list[Expansion]:
        return [
            Expansion(g.word, g.start, g.end, tuple(a.text for a in g.alternatives if a.text != g.word), TRANSLATION)
            for g in translations(text)
        ]

    return expand


def known_to(dictionary: Dictionary) -> Callable[[str], bool]:
    """Whether a word stands in a dictionary, which makes it no misspelling of another."""
    return lambda word: bool(dictionary.words(terms(word)[:1]))


def by_synonyms(synonyms: Synonyms) -> Expander:
    """An expander that knows the person's own synonyms."""
    return lambda text: [Expansion(k.word, k.start, k.end, k.others, SYNONYMS) for k in spoken_of(text, synonyms)]


@dataclass(frozen=True, slots=True)
class Fix:
    """question[start:end] and what is searched in its place, or (`beside`) as well. `why` is a sentence for people."""

    start: int
    end: int
    words: tuple[str, ...]
    origin: str
    why: str
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Fixes by their place; words of the question that stand nowhere and have none; sentences on near codes."""

    fixes: tuple[Fix, ...]
    lacking: tuple[str, ...]
    offers: tuple[str, ...]

    @property
    def origin(self) -> str:
        """The round's origin: that of the first fix, in the order of ORIGINS."""
        return min((fix.origin for fix in self.fixes), key=ORIGINS.index)

    @property
    def why(self) -> str:
        return "\n".join(dict.fromkeys(fix.why for fix in self.fixes))

    def urgent(self) -> Diagnosis:
        """Without what is only added: the fixes that are worth a round whatever the verdict."""
        return replace(self, fixes=tuple(fix for fix in self.fixes if not fix.beside))


def diagnose(
    question: str,
    snapshot: Snapshot,
    expanders: Sequence[Expander] = (),
    only: Rows | None = None,
    min_len: int = 1,
    is_word: Callable[[str], bool] = lambda word: False,
) -> Diagnosis:
    """What can be mended about `question`.

    `only`: the chunks that are searched, None for all. `is_word` knows words that are no misspellings, whatever the
    notes hold.
    """
    index = snapshot.sparse
    fixes: list[Fix] = []
    taken = bytearray(len(question))  # characters that a fix stands for

    def take(fix: Fix | None) -> None:
        if fix is not None and not any(taken[fix.start : fix.end]):
            fixes.append(fix)
            taken[fix.start : fix.end] = b"\1" * (fix.end - fix.start)

    for expansion in (found for expander in expanders for found in expander(question)):
        take(_expanded(expansion, index, min_len))
    words = written(question)
    unknown = [w for w in words if _unknown(w, index, min_len)]
    lacking, offers = list[str](), list[str]()
    if unknown or len(words) > 1:
        held = words_of(snapshot)
        for joined in _joined(question, words, snapshot, held):
            take(joined)
        # What stands nowhere weighs nothing, so that the whole question is what stands beside each of these.
        beside = _beside(question, snapshot, min_len) if unknown else np.zeros(0)
        codes = any(word.code for word in unknown)
        coded = _coded(index) if codes else word_list({})
        found = _found_things(question, index, min_len) if codes else ()
        for word in unknown:
            if any(taken[word.start : word.end]):
                continue
            if word.code:
                inside = any(start <= word.start and word.end <= end for start, end in found)
                offers += [] if inside else _offer(word, coded)
                continue
            spelt = _split(word, snapshot, held)
            if spelt is None and not is_word(word.text):
                spelt = _spelt(word, beside, snapshot, held, only, min_len) or _halves(word, held)
            if spelt is not None:
                take(spelt)
            elif fold(word.text) not in held:
                lacking.append(word.text)
    return Diagnosis(tuple(sorted(fixes, key=lambda f: f.start)), tuple(dict.fromkeys(lacking)), tuple(offers))


def mended(question: str, fixes: Sequence[Fix]) -> str:
    """`question` with the words in place of those that stand nowhere."""
    text = question
    for fix in reversed([fix for fix in fixes if not fix.beside]):
        text = text[: fix.start] + " ".join(fix.words) + text[fix.end :]
    return text


def added_terms(fixes: Sequence[Fix], have: Collection[str], min_len: int = 1) -> tuple[AddedTerm, ...]:
    """The words that are added beside others, as terms; `have` are those of the question."""
    added: dict[str, AddedTerm] = {}
    for fix in fixes:
        weight = TRANSLATION_WEIGHT if fix.origin == TRANSLATION else SYNONYM_WEIGHT
        for word in fix.words if fix.beside else ():
            for term in content_terms(word, min_len):
                if term not in have:
                    added.setdefault(term, AddedTerm(term, weight, (), word))
    return tuple(added.values())


def _unknown(word: Written, index: SparseIndex, min_len: int) -> bool:
    """Whether the notes hold neither the word nor a part of it; of a code, the code as a whole."""
    found = terms(word.text, min_len)
    if word.code:
        found = found[:1]
    return bool(found) and not any(index.document_frequency(term) for term in found)


def _expanded(expansion: Expansion, index: SparseIndex, min_len: int) -> Fix | None:
    """The words of an expansion that the notes hold; None if there are none, or a translation is not needed."""
    asked = content_terms(expansion.word, min_len)
    known = any(index.document_frequency(term) for term in asked)
    if not asked or (known and expansion.origin == TRANSLATION):
        return None
    held = [w for w in expansion.words if (ts := content_terms(w, min_len)) and all(map(index.document_frequency, ts))]
    words = tuple(dict.fromkeys(held))[:MOST_WORDS]
    if not words:
        return None
    named = ", ".join(map(repr, words))
    if expansion.origin == TRANSLATION:
        why = f"{expansion.word!r} stands nowhere in your notes; in the other language it is {named}"
    elif known:
        why = f"your synonyms: {expansion.word!r} is also {named}"
    else:
        why = f"{expansion.word!r} stands nowhere in your notes; by your synonyms it is {named}"
    return Fix(expansion.start, expansion.end, words, expansion.origin, why, known or expansion.origin == TRANSLATION)


def _spelt(
    word: Written, beside: NDArray[np.float64], snapshot: Snapshot, held: WordList, only: Rows | None, min_len: int
) -> Fix | None:
    """The near word that fits best: by edits, the first letter, the question's other words beside it, frequency."""
    if fold(word.text) in held:
        return None
    near = near_words(word.text, held)
    if not near:
        return None
    first = fold(word.text)[0]

    def worth(n: Near) -> tuple[float, ...]:
        return n.distance, n.word[0] != first, -_company(n.word, beside, snapshot, only, min_len), -held.counts[n.word]

    best = min(near, key=lambda n: (*worth(n), n.word))
    count = _chunks(best.word, snapshot, only, min_len)
    if not count:
        return None
    letters = "1 letter" if best.distance == 1 else f"{best.distance} letters"
    chunks = "1 chunk" if count == 1 else f"{count:,} chunks"
    why = f"{word.text!r} stands nowhere in your notes; {best.word!r} is near it ({letters}), in {chunks}"
    return Fix(word.start, word.end, (as_typed(best.word, word.text),), SPELLING, why)


def _beside(question: str, snapshot: Snapshot, min_len: int) -> NDArray[np.float64]:
    """(chunks,) the idf weight of the question's words that each chunk holds."""
    index = snapshot.sparse
    weight = np.zeros(index.size)
    for term in dict.fromkeys(content_terms(question, min_len)):
        weight[index.rows[index.postings(term)]] += idf(index, term)
    return weight


def _company(word: str, beside: NDArray[np.float64], snapshot: Snapshot, only: Rows | None, min_len: int) -> float:
    """How much of the rest of the question stands in one chunk with `word`."""
    rows = _rows(word, snapshot, only, min_len)
    return round(float(beside[rows].max()), 6) if len(rows) else -1.0


def _chunks(word: str, snapshot: Snapshot, only: Rows | None, min_len: int) -> int:
    return len(_rows(word, snapshot, only, min_len))


def _rows(word: str, snapshot: Snapshot, only: Rows | None, min_len: int) -> Rows:
    """The chunks that hold the word, or another form of it; none for a stop word."""
    rows = _holding(next(iter(terms(word, min_len)), ""), snapshot.sparse)
    return rows if only is None else np.intersect1d(rows, only, assume_unique=True)


def _holding(term: str, index: SparseIndex) -> Rows:
    return index.rows[index.postings(term)].astype(np.int64)


def _split(word: Written, snapshot: Snapshot, held: WordList) -> Fix | None:
    """`database` where the notes have `data base`."""
    for first, second in splits(word.text, held.counts):
        if count := _side_by_side(first, second, snapshot):
            chunks = "1 chunk" if count == 1 else f"{count:,} chunks"
            two = f"{first} {second}"
            why = f"{word.text!r} stands nowhere in your notes; as two words, {two!r}, it does, in {chunks}"
            return Fix(word.start, word.end, (as_typed(two, word.text),), SPELLING, why)
    return None


def _halves(word: Written, held: WordList) -> Fix | None:
    """`gasstations` where the notes have both words, if never side by side; of several halvings the most even one."""
    found = [pair for pair in splits(word.text, held.counts) if min(map(len, pair)) >= LEAST_HALF]
    found = [pair for pair in found if all(map(terms, pair)) and min(map(held.counts.__getitem__, pair)) >= OFTEN]
    if not found:
        return None
    first, second = min(found, key=lambda pair: abs(len(pair[0]) - len(pair[1])))
    two = f"{first} {second}"
    why = f"{word.text!r} stands nowhere in your notes; its halves, {first!r} and {second!r}, do"
    return Fix(word.start, word.end, (as_typed(two, word.text),), SPELLING, why)


def _joined(question: str, words: Sequence[Written], snapshot: Snapshot, held: WordList) -> list[Fix]:
    """`data base` where the notes have `database`, and no two such words side by side."""
    fixes = []
    for first, second in pairwise(words):
        between = question[first.end : second.start]
        whole = fold(first.text + second.text)
        if first.code or second.code or between not in (" ", "-") or whole not in held:
            continue
        if not _side_by_side(fold(first.text), fold(second.text), snapshot):
            count = held.counts[whole]
            chunks = "1 chunk" if count == 1 else f"{count:,} chunks"
            two = question[first.start : second.end]
            why = f"{two!r} stands nowhere in your notes; as one word, {whole!r}, it does, in {chunks}"
            fixes.append(Fix(first.start, second.end, (as_typed(whole, first.text),), SPELLING, why))
    return fixes


def _side_by_side(first: str, second: str, snapshot: Snapshot) -> int:
    """In how many chunks the two words stand one behind the other; at most MOST_CHUNKS are looked through."""
    rows: Rows | None = None
    for word in (first, second):
        for term in terms(word)[:1]:  # a stop word is no term
            held = _holding(term, snapshot.sparse)
            rows = held if rows is None else np.intersect1d(rows, held, assume_unique=True)
    if rows is None:
        return 0
    pair = re.compile(rf"(?<!\w){re.escape(first)}[\s\-‐‑]{{1,3}}{re.escape(second)}(?!\w)")
    texts = (fold(snapshot.chunks[int(row)].index_text) for row in rows[:MOST_CHUNKS])
    return sum(pair.search(text) is not None for text in texts)


def _coded(index: SparseIndex) -> WordList:
    """The codes and numbers of the notes, to be looked through for near ones."""
    return word_list(dict.fromkeys((t for t in index.vocabulary if not t.isalpha() and index.document_frequency(t)), 1))


def _found_things(question: str, index: SparseIndex, min_len: int) -> list[tuple[int, int]]:
    """The spans of the rare things that the notes do hold, written in whatever way: 030 901820 as 030901820."""
    tokens = tokenize(question, min_len)
    held = literals(tokens, index)
    return [(token.start, token.end) for token in tokens if token.term in held]


def _offer(word: Written, coded: WordList) -> list[str]:
    """A code with a digit that stands nowhere, and those that are one character away: named, and not searched."""
    sought = fold(word.text)
    if len(sought) < SHORTEST_CODE or not any(c.isdigit() for c in sought):
        return []
    near = [n.word for n in within(sought, 1, coded)]
    if not near:
        return []
    named = ", ".join(map(repr, near[:MOST_OFFERED]))
    return [f"{word.text!r} stands nowhere in your notes; did you mean {named}? Codes and numbers are never changed."]
