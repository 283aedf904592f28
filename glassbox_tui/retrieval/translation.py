"""The stage `translated`, and what the reranker hears of it: a question's words in notes of the other language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25
from glassbox_tui.retrieval.crossing import Crossing, Meant
from glassbox_tui.retrieval.query import Query, QueryTokens
from glassbox_tui.retrieval.standing import ENOUGH, LEAST
from glassbox_tui.retrieval.trace import Candidate, Part
from glassbox_tui.settings import Settings
from glassbox_tui.text.translations import Dictionary, translations

# What does best on one half of the questions to a set with notes in two languages, while neither language's own
# questions lose more than .005 there; both halves choose this pair. Success@1 read on the other half: .887 and .923,
# where it is .68 and .69 without translations.
MEANT, KEYWORDS = 0.25, 0.11
HALF = 0.5  # of a meaning, from which on it counts as held


def other_rows(language: str, snapshot: Snapshot) -> Rows:
    """The numbers of the chunks that are not in `language`, rising."""
    other = [rows for spoken, rows in snapshot.languages.items() if spoken != language]
    return np.sort(np.concatenate(other)) if other else np.zeros(0, np.int64)


def own_words(query: Query) -> str:
    """What of a query is translated: what was asked, or another wording of it.

    Not what feedback has added, which comes from notes and not from people.
    """
    return query.intent if query.text.startswith(query.intent) else query.text


def crossed(
    text: str, language: str, snapshot: Snapshot, dictionary: Dictionary, settings: Settings, rows: Rows
) -> Crossing:
    """The words of a question in `language` in the chunks `rows`, which are in another.

    Raises what the dictionary raises.
    """
    how = Bm25(settings.bm25_k1, settings.bm25_b, "lucene", settings.bm25_floor, settings.bm25_note_share)
    return Crossing(translations(text, dictionary, language), snapshot.passages, rows, how)


def translated_stage(
    crossing: Crossing, snapshot: Snapshot, k: int, explain: bool, only: Rows | None = None
) -> tuple[Candidate, ...]:
    """Keyword matches by translation, at most `k`; `only`: see `Crossing.search`."""
    return tuple(
        Candidate(snapshot.chunks[found.row].uid, rank, found.score, tuple(map(_part, found.parts)) if explain else ())
        for rank, found in enumerate(crossing.search(k, only), start=1)
    )


def _part(meant: Meant) -> Part:
    return Part(equation(meant.gloss.word, meant.alternative.text), meant.value)


def equation(word: str, meaning: str) -> str:
    """`防守 = defense`; the word alone where both languages write it alike."""
    return word if word == meaning else f"{word} = {meaning}"


def held_by_translation(
    crossing: Crossing, rows: Sequence[int] | NDArray[np.int64], spans: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.float64], list[list[str]]]:
    """(n, spans): how well n chunks hold what stands at each span of the question, 0 to 1; and by which meaning.

    A span (a model token) has the strength of the best gloss that overlaps it; see `Crossing.held`. The words are
    `equation`s, "" where nothing is held. The question is the text whose glosses these are.
    """
    strength, which = crossing.held(rows)
    held = np.zeros((len(rows), len(spans)))
    words = [[""] * len(spans) for _ in rows]
    for column, (start, end) in enumerate(spans):
        over = [i for i, gloss in enumerate(crossing.glosses) if gloss.start < end and gloss.end > start]
        if not over or start == end:
            continue
        strongest = strength[:, over].argmax(axis=1)
        for row, at in enumerate(strongest.tolist()):
            gloss = crossing.glosses[over[at]]
            if (meant := which[row, over[at]]) >= 0:
                held[row, column] = strength[row, over[at]]
                words[row][column] = equation(gloss.word, gloss.alternatives[int(meant)].text)
    return held, words


def held_spans(crossing: Crossing, uids: Sequence[str], snapshot: Snapshot) -> dict[str, tuple[tuple[int, int], ...]]:
    """By chunk, the spans of the question whose meaning it holds by half or more."""
    strength, _ = crossing.held([snapshot.row_of[uid] for uid in uids])
    spans = [(gloss.start, gloss.end) for gloss in crossing.glosses]
    return {
        uid: tuple(span for span, held in zip(spans, row, strict=True) if held >= HALF)
        for uid, row in zip(uids, strength.tolist(), strict=True)
    }


def list_weight(crossing: Crossing, only: Rows | None = None) -> float:
    """The say of the list in the first fusion, by bm25's rule: see `standing.keyword_weight`."""
    return min(1.0, max(LEAST, crossing.best_held(only) / ENOUGH))


@dataclass(frozen=True, slots=True)
class Heard:
    """What a reranked score gets for translations: per token (n, tokens) and for all keywords (n,); and the words.

    `held` (n,) is the keyword score as a share of the question's weight, of which `keywords` is the part that counts.
    """

    tokens: NDArray[np.float64]
    keywords: NDArray[np.float64]
    held: NDArray[np.float64]
    words: list[list[str]]


def heard(crossing: Crossing, rows: Sequence[int] | NDArray[np.int64], tokens: QueryTokens) -> Heard:
    """What chunks of the other language get for holding the question's words; nothing for the others.

    A token that stands in a chunk by translation adds MEANT of its weight, as one that stands there literally adds
    `standing.LITERAL`; the chunk's score in the stage `translated` adds KEYWORDS of itself, as bm25's does.
    """
    held, words = held_by_translation(crossing, rows, tokens.spans)
    shares, total = crossing.shares(rows), float(tokens.weights.sum())
    by_token = MEANT * held * tokens.weights / total if total else np.zeros_like(held)
    return Heard(by_token, KEYWORDS * shares, shares, words)
