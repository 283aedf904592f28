"""Measures retrieval on labelled questions: every stage side by side, from the same Traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from glassbox_tui.lab.calibration import auroc, calibration_error
from glassbox_tui.lab.metrics import ndcg, recall, reciprocal_rank, success
from glassbox_tui.lab.queries import LabelledQuery
from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Round, Trace
from glassbox_tui.text.sentences import sentences

CONFIGS = ("bm25", "dense", "fused", "final")
CUTS = (1, 3, 5)

Measure = Callable[[Sequence[str], Mapping[str, float]], float]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What `ask` would answer, and the quotes that it is made of."""

    text: str
    quotes: tuple[str, ...] = ()


Extract = Callable[[Trace], Extracted]


@dataclass(frozen=True, slots=True)
class Judged:
    """What one question came to: its labels and, per config, the ranking of notes (or chunks); and the verdict.

    `probability` is None where no probability was made; `sufficient` is None for a question that was not put.
    """

    labelled: LabelledQuery
    rankings: Mapping[str, tuple[str, ...]]
    extract_hit: bool | None
    quotes: tuple[str, ...] = ()
    probability: float | None = None
    sufficient: bool | None = None


def ask_all(
    engine: Engine, queries: Sequence[LabelledQuery], progress: ProgressFn, detail: str = "", **changes: Any
) -> list[Trace | None]:
    """The Trace of each question, None for an empty one. `changes` are those of `Engine.search`."""
    traces: list[Trace | None] = []
    for done, labelled in enumerate(queries):
        progress(Progress("ask", done, len(queries), detail))
        asked = labelled.query.strip()
        traces.append(engine.search(labelled.query, explain=False, **changes) if asked else None)
    return traces


def judge_all(
    engine: Engine,
    queries: Sequence[LabelledQuery],
    progress: ProgressFn,
    extract: Extract | None = None,
    detail: str = "",
    **changes: Any,
) -> list[Judged]:
    """Ask every question and hold the answers against the labels."""
    paths, judged = note_paths(engine), []
    for done, labelled in enumerate(queries):
        progress(Progress("ask", done, len(queries), detail))
        trace = engine.search(labelled.query, explain=False, **changes) if labelled.query.strip() else None
        judged.append(judge(trace, labelled, paths, extract))
    return judged


def note_paths(engine: Engine) -> frozenset[str]:
    return frozenset(note.path for note in engine.snapshot.notes)


def judge(
    trace: Trace | None, labelled: LabelledQuery, paths: frozenset[str], extract: Extract | None = None
) -> Judged:
    """The rankings of the last round, and whether the extract holds an answer (None: nothing to tell it by)."""
    rankings = {
        name: () if trace is None else labelled_ranking(uids_of(trace.last, name), labelled.relevant, paths)
        for name in CONFIGS
    }
    grade = None if trace is None else trace.last.grade
    probability, sufficient = (None, None) if grade is None else (grade.probability, grade.sufficient)
    if trace is not None and not trace.hits:
        probability = 0.0  # where nothing was found, there is nothing to weigh and no answer
    # What has no answer in the notes has none to quote, whatever the label says of elsewhere.
    if extract is None or not labelled.answers or labelled.answerable is False:
        return Judged(labelled, rankings, None, (), probability, sufficient)
    found = Extracted("") if trace is None else extract(trace)
    hit = any(_squeeze(answer) in _squeeze(found.text) for answer in labelled.answers)
    return Judged(labelled, rankings, hit, found.quotes, probability, sufficient)


def uids_of(round_: Round, stage: str) -> tuple[str, ...]:
    found = round_.stage(stage)
    return tuple(candidate.uid for candidate in found.candidates) if found else ()


def labelled_ranking(
    uids: Sequence[str], relevant: Mapping[str, float], paths: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The ranking that the labels speak of: a note at the rank of its best chunk, each note once.

    Where a label is a chunk's uid (and no note's path), chunks count themselves.
    """
    by_chunk = any(label not in paths and _is_uid(label) for label in relevant)
    notes = (uid if by_chunk and uid.rpartition("#")[0] not in relevant else uid.rpartition("#")[0] for uid in uids)
    return tuple(dict.fromkeys(notes))


def _is_uid(label: str) -> bool:
    path, mark, number = label.rpartition("#")
    return bool(path and mark) and number.isascii() and number.isdigit()


def _squeeze(text: str) -> str:
    """White space does not decide whether an extract holds an answer: a line break may stand where a space does."""
    return "".join(text.split())


def measures(cuts: Sequence[int] = CUTS) -> dict[str, Measure]:
    """The metrics of `eval`, by name; `cuts` beyond the usual ones add recall@k and ndcg@k.

    success@k: the share of questions with a relevant note among the first k; recall@k: the share of relevant notes.
    """
    extra = [cut for cut in cuts if cut not in CUTS]
    found: dict[str, Measure] = {f"success@{k}": _at(success, k) for k in CUTS}
    found |= {f"recall@{k}": _at(recall, k) for k in sorted({*CUTS, *extra})}
    found["mrr@10"] = _at(reciprocal_rank, 10)
    return found | {f"ndcg@{k}": _at(ndcg, k) for k in sorted({5, 10, *extra})}


def short_measures() -> dict[str, Measure]:
    """The metrics of the comparisons. top-k: the share of questions with a relevant note among the first k."""
    return {
        "top-1": _at(success, 1),
        "top-3": _at(success, 3),
        "recall@5": _at(recall, 5),
        "mrr@10": _at(reciprocal_rank, 10),
        "ndcg@10": _at(ndcg, 10),
    }


def _at(metric: Callable[[Sequence[str], Mapping[str, float], int], float], k: int) -> Measure:
    return lambda ranking, grades: metric(ranking, grades, k)


def means(
    rankings: Sequence[Sequence[str]], queries: Sequence[LabelledQuery], by: Mapping[str, Measure]
) -> dict[str, float]:
    """Metric -> its mean over the questions; 0 where there are none."""
    return {
        name: sum(metric(r, q.relevant) for r, q in zip(rankings, queries, strict=True)) / max(1, len(queries))
        for name, metric in by.items()
    }


def report(judged: Sequence[Judged], cuts: Sequence[int] = CUTS) -> dict[str, Any]:
    """The document of `eval --json`: per config the means over all questions, and over those of each kind if told."""
    document = _report(judged, cuts)
    kinds = sorted({j.labelled.kind for j in judged})
    if kinds != [""]:
        document["kinds"] = {
            kind or "other": _report([j for j in judged if j.labelled.kind == kind], cuts) for kind in kinds
        }
    return document


def _report(judged: Sequence[Judged], cuts: Sequence[int]) -> dict[str, Any]:
    # A question without an answer in the notes has no right order.
    ranked = [j for j in judged if j.labelled.answerable is not False]
    queries = [j.labelled for j in ranked]
    document: dict[str, Any] = {
        "queries": len(judged),
        "configs": {c: means([j.rankings[c] for j in ranked], queries, measures(cuts)) for c in CONFIGS},
        "extract_hit": extract_hit(judged),
    }
    sizes, verdict = extract_sizes(judged), verdict_report(judged)
    document |= {"extract": {"hit": document["extract_hit"], **sizes}} if sizes else {}
    return document | ({"verdict": verdict} if verdict else {})


def verdict_report(judged: Sequence[Judged]) -> dict[str, Any]:
    """How the verdict did on the questions whose labels say whether they are answerable; empty if none do.

    `auroc`, `ece`: of the probability, None where there is none, or only one kind of question; the shares are of those
    called sufficient.
    """
    known = [j for j in judged if j.labelled.answerable is not None and j.sufficient is not None]
    if not known:
        return {}
    there, gone = ([j for j in known if j.labelled.answerable is kind] for kind in (True, False))
    chances = [j.probability for j in known if j.probability is not None]
    whole = len(chances) == len(known)
    return {
        "questions": len(known),
        "answerable": len(there),
        "auroc": auroc(*([j.probability or 0.0 for j in group] for group in (there, gone)))
        if whole and there and gone
        else None,
        "answered_of_answerable": _share(there),
        "answered_of_others": _share(gone),
        "ece": calibration_error(chances, [j.labelled.answerable is True for j in known]) if whole else None,
    }


def _share(judged: Sequence[Judged]) -> float | None:
    return sum(j.sufficient is True for j in judged) / len(judged) if judged else None


def extract_hit(judged: Sequence[Judged]) -> float | None:
    """The share of questions with known answers whose extract holds one; None if no question has one."""
    hits = [j.extract_hit for j in judged if j.extract_hit is not None]
    return sum(hits) / len(hits) if hits else None


def extract_sizes(judged: Sequence[Judged]) -> dict[str, float]:
    """How much an extract quotes: sentences an answer (mean), characters a quote (median). Empty if nothing was.

    A hit is cheap for whoever quotes a page, so this stands beside it. Sentences are counted as `text.sentences` cuts
    them, less the ends that are but a semicolon.
    """
    answered = [j.quotes for j in judged if j.quotes]
    if not answered:
        return {}
    counts = [sum(_count_sentences(quote) for quote in quotes) for quotes in answered]
    return {
        "sentences": sum(counts) / len(counts),
        "median_chars": float(median(len(quote) for quotes in answered for quote in quotes)),
    }


def _count_sentences(text: str) -> int:
    ends = [end for _, end in sentences(text)]
    return sum(end == len(text) or not text[:end].rstrip().endswith(("；", ";")) for end in ends)
