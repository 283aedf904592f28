"""Labelled questions: a queries.jsonl of {"query", "relevant", "answers"}, one question a line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassbox_tui.lab.jsonl import LabError, finite, json_lines, text_of, texts_of


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A question, the gain of each relevant note path (or chunk uid), and spans that answer it, where known.

    `answerable`: whether the notes hold an answer; None: the labels do not say.
    """

    query: str
    relevant: Mapping[str, float]
    answers: tuple[str, ...] = ()
    kind: str = ""
    answerable: bool | None = None


def read_queries(path: Path) -> list[LabelledQuery]:
    """The questions of a queries.jsonl, empty ones included. Raises LabError with the line that cannot be used."""
    found = []
    for where, row in json_lines(path):
        labels = row.get("relevant")
        if isinstance(labels, dict):
            relevant = {uid: finite(grade, f"the grade of {uid!r}", where) for uid, grade in labels.items()}
        elif labels is None:
            raise LabError(f'{where}: the key "relevant" is missing')
        else:
            relevant = dict.fromkeys(texts_of(row, "relevant", where), 1.0)
        answers = tuple(answer for answer in texts_of(row, "answers", where) if answer.strip())
        kind, answerable = text_of(row, "kind", where, ""), row.get("answerable")
        if answerable is not None and not isinstance(answerable, bool):
            raise LabError(f'{where}: "answerable" must be true or false, this is {answerable!r}')
        found.append(LabelledQuery(text_of(row, "query", where), relevant, answers, kind, answerable))
    if not found:
        raise LabError(f"{path} holds no question")
    return found


def doubts(queries: Sequence[LabelledQuery], names: Collection[str]) -> list[str]:
    """Sentences on what lowers the figures and is no fault of the search. `names`: paths and chunk uids that exist."""
    told = []
    empty = sum(not q.query.strip() for q in queries)
    if empty:
        told.append(f"{empty} of {len(queries)} questions are empty: counted as found nothing")
    bare = sum(q.answerable is not False and not any(grade > 0 for grade in q.relevant.values()) for q in queries)
    if bare:
        told.append(f"{bare} of {len(queries)} questions have no relevant note: counted as found nothing")
    labels = {uid for q in queries for uid, grade in q.relevant.items() if grade > 0}
    strange = sorted(labels - set(names))
    if strange:
        told.append(f"{len(strange)} of {len(labels)} labels name no note that is indexed, such as {strange[0]!r}")
    return told
