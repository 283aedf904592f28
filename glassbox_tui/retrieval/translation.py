"""The stage `translated`, and what the reranker hears of it: a question's words in notes of the other language."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.index.scope import Rows
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25
from glassbox_tui.retrieval.crossing import Crossing, Meant
from glassbox_tui.retrieval.query import Query
from glassbox_tui.retrieval.trace import Candidate, Part
from glassbox_tui.settings import Settings
from glassbox_tui.text.translations import Dictionary, question_language, translations


def other_rows(question: str, snapshot: Snapshot) -> Rows:
    """The numbers of the chunks that are in another language than `question`, rising."""
    own = question_language(question)
    other = [rows for language, rows in snapshot.languages.items() if language != own]
    return np.sort(np.concatenate(other)) if other else np.zeros(0, np.int64)


def crossed(query: Query, snapshot: Snapshot, dictionary: Dictionary, settings: Settings, rows: Rows) -> Crossing:
    """The query's words in the chunks `rows`, which are in the other language. Raises what the dictionary raises.

    A query that feedback has grown is read as it was asked: what feedback adds comes from notes, not from people.
    """
    text = query.intent if query.text.startswith(query.intent) else query.text
    how = Bm25(settings.bm25_k1, settings.bm25_b, "lucene", settings.bm25_floor, settings.bm25_note_share)
    glosses = translations(text, dictionary, question_language(query.intent))
    return Crossing(glosses, snapshot.passages, rows, how)


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
    crossing: Crossing, rows: Sequence[int], spans: Sequence[tuple[int, int]]
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
