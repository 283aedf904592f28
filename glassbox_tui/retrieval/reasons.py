"""Why a signal speaks against the evidence, and why a loop ended, in words that can be translated. Light."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[..., str]  # ("English with {}", *values) -> the text in the reader's language

NO_CHUNK = "no chunk was found"
NO_SIGNAL = "no signal to judge by"
# What it means that a signal is below its threshold.
TOO_LOW = {
    "coverage": "too few of the question's words stand in the evidence",
    "dense": "nothing is close enough in meaning",
    "rerank": "the best match is too weak",
}
# Why the two differ that a rewritten round shows: the verdict's value, and the best one in the table.
ASKED_DENSE = (
    "dense {} is closeness to the question asked, as the verdict takes it; to this round's query it is up to {}"
)
# As TOO_LOW, for a signal whose share of a verdict is negative.
AGAINST = {
    "words": "too few of the question's words stand together in one note",
    "words across": "too few of the question's words stand together in one note",
    "rare": "a rare word of the question is missing",
    "literals": "a number or id of the question is missing",
    "names": "a name of the question is missing",
    "meaning": "some words have nothing near them in the best chunk",
    "words margin": "other notes hold as many of the words",
    "dense": "nothing is close enough in meaning",
    "dense margin": "other notes are as close in meaning",
    "rerank margin": "the best chunk hardly stands out from the others",
    "agreement": "the stages disagree on which chunk is best",
    "other language": "the best chunk is in another language",
}
# What a verdict comes to, and its signals, in few words.
LEVEL_WORDS = {"answered": "answered here", "related": "related", "nothing": "nothing"}
UNKNOWN = "not known yet"
SIGNAL_WORDS = {
    "start": "to begin with",
    "words": "words",
    "words across": "translated words",
    "rare": "rare words",
    "literals": "numbers",
    "named": "exactly that",
    "names": "names",
    "meaning": "near words",
    "words margin": "ahead in words",
    "dense": "meaning",
    "dense margin": "ahead in meaning",
    "rerank margin": "stands out",
    "agreement": "stages agree",
    "other language": "language allowance",
    "chinese": "Chinese question",
}
UNSURE = "the signals together are not sure enough"
ENDED = {
    "sufficient": "the evidence suffices",
    "rewrites-used": "no more rewrites are allowed",
    "no-idea": "no new idea for a rewrite",
    "repeated": "the next rewrite would repeat a query",
    "no-change": "no further rewrite made a difference for the better",
    "stopped": "stopped by you",
    "one-round": "only this round was asked for",
    "vectors-missing": "not all notes can be compared by meaning yet",
}

# A filter of the query: its words as typed, and how many chunks it leaves out.
FILTERED = {
    "phrase": "only chunks with {}: {} left out",
    "exclude": "{}: {} left out",
}


def filter_words(kind: str, text: str, removed: int, say: Say | None = None) -> str:
    """What a filter does, in words: `only chunks with "open source": 240 left out`."""
    return (say or english)(FILTERED.get(kind, "{}: {} left out"), text, f"{removed:,}")


# Who added a word that came from no chunk, by the round's origin; any other: the person.
ADDERS = {
    "llm": "the model",
    "translation": "the dictionary",
    **dict.fromkeys(("spelling", "synonyms"), "your synonyms"),
}


def english(text: str, *values: object) -> str:
    return text.format(*values)


def against(name: str, value: float | None, limit: float) -> str | None:
    """Why this signal speaks against the evidence; None if it does not."""
    if value is None:
        return f"no {name} score for the evidence"
    if value >= limit:
        return None
    # As many digits as tell the two apart.
    digits = next((n for n in (2, 3, 4) if f"{value:.{n}f}" != f"{limit:.{n}f}"), 5)
    return f"{name} {value:.{digits}f} < {limit:.{digits}f}"
