"""Measures retrieval on labelled questions: every stage side by side, from the same Traces."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassbox_tui.errors import GlassboxError
from glassbox_tui.lab.metrics import ndcg, recall, reciprocal_rank
from glassbox_tui.retrieval.trace import Round, Trace

CONFIGS = ("bm25", "dense", "fused", "final")
CUTS = (1, 3, 5)


class QueriesError(GlassboxError):
    """A file of labelled questions cannot be read; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A question, the gain of each relevant note path (or chunk uid), and spans that answer it, where known."""

    query: str
    relevant: Mapping[str, float]
    answers: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """What one question came to: its labels and, per config, the ranking of notes (or chunks)."""

    labelled: LabelledQuery
    rankings: Mapping[str, tuple[str, ...]]
    extract_hit: bool | None


def read_queries(path: Path) -> list[LabelledQuery]:
    """The questions of a queries.jsonl. Raises QueriesError with the line that cannot be used."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QueriesError(f"cannot read the queries {path}: {error}") from None
    found = [_labelled(line, f"{path}:{n}") for n, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise QueriesError(f"{path} holds no question")
    return found


def _labelled(line: str, where: str) -> LabelledQuery:
    try:
        row = json.loads(line)
        relevant = row["relevant"]
        grades = relevant if isinstance(relevant, dict) else dict.fromkeys(relevant, 1)
        query = LabelledQuery(
            query=row["query"],
            relevant={str(uid): float(grade) for uid, grade in grades.items()},
            answers=tuple(str(a) for a in row.get("answers") or ()),
            kind=str(row.get("kind", "")),
        )
        if not isinstance(query.query, str) or not query.query.strip():
            raise ValueError("the query is empty")
        return query
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise QueriesError(f'{where}: not {{"query", "relevant", ...}} in JSON: {why}') from None


def judge(trace: Trace, labelled: LabelledQuery, extract_text: str | None) -> Judged:
    """The rankings of the last round, a note at the rank of its best chunk, each note once; uid labels count chunks."""
    by_chunk = any("#" in uid and _is_uid(uid) for uid in labelled.relevant)
    rankings = {name: ranking_of(trace.last, name, by_chunk) for name in CONFIGS}
    hit = None
    if labelled.answers and extract_text is not None:
        hit = any(_squeeze(a) in _squeeze(extract_text) for a in labelled.answers)
    return Judged(labelled, rankings, hit)


def ranking_of(round_: Round, stage: str, by_chunk: bool) -> tuple[str, ...]:
    found = round_.stage(stage)
    uids = [c.uid for c in found.candidates] if found else []
    return tuple(dict.fromkeys(uid if by_chunk else uid.rpartition("#")[0] for uid in uids))


def _is_uid(label: str) -> bool:
    return label.rpartition("#")[2].isdigit()


def _squeeze(text: str) -> str:
    """White space does not decide whether an extract holds an answer: a line break may stand where a space does."""
    return "".join(text.split())


def report(judged: Sequence[Judged], cuts: Sequence[int] = CUTS) -> dict[str, Any]:
    """The document of `eval --json`: per config the means over all questions."""
    metrics: dict[str, Callable[[Sequence[str], Mapping[str, float]], float]] = {}
    for cut in cuts:
        metrics[f"recall@{cut}"] = lambda r, g, cut=cut: recall(r, g, cut)  # type: ignore[misc]
    metrics["mrr@10"] = lambda r, g: reciprocal_rank(r, g, 10)
    metrics["ndcg@5"] = lambda r, g: ndcg(r, g, 5)
    metrics["ndcg@10"] = lambda r, g: ndcg(r, g, 10)
    hits = [j.extract_hit for j in judged if j.extract_hit is not None]
    return {
        "queries": len(judged),
        "configs": {
            config: {
                name: sum(metric(j.rankings[config], j.labelled.relevant) for j in judged) / len(judged)
                for name, metric in metrics.items()
            }
            for config in CONFIGS
        },
        "extract_hit": sum(hits) / len(hits) if hits else None,
    }
