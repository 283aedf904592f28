"""`eval`: labelled questions put to an index, and how well each stage did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassbox_tui.answer.extract import distinct, extract
from glassbox_tui.index.location import index_path
from glassbox_tui.lab.comparing import Bench
from glassbox_tui.lab.documents import read_documents
from glassbox_tui.lab.evaluate import Extract, Extracted, judge_all, report
from glassbox_tui.lab.experiments import STAGE_METRIC, compare
from glassbox_tui.lab.queries import LabelledQuery, doubts, read_queries
from glassbox_tui.progress import ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.settings import Settings


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`document` is what --json prints; `notices` are for standard error; `caption` says what was measured."""

    document: dict[str, Any]
    notices: tuple[str, ...]
    caption: str


def evaluate(
    notes: Path,
    queries: Path,
    settings: Settings,
    cuts: Sequence[int],
    progress: ProgressFn,
    limit: int | None = None,
) -> Evaluation:
    """Every stage side by side, on `settings.max_rewrites` + 1 rounds; with a `limit` on the first questions alone.

    Raises LabError and what an engine raises.
    """
    asked = read_queries(queries)[:limit]
    with opened(notes, settings, progress) as engine:
        notices = _notices(engine, asked)
        deepest = max(cuts, default=0)
        if deepest > settings.fanout:
            notices.append(
                f"each first-stage list holds {settings.fanout} chunks: GLASSBOX_FANOUT={deepest} lets figures at"
                f" {deepest} see as many"
            )
        judged = judge_all(engine, asked, progress, extract_of(engine))
        caption = _caption(
            engine, notes, f"{settings.max_rewrites + 1} rounds at most" if settings.max_rewrites else "one round"
        )
    return Evaluation(report(judged, cuts), tuple(notices), caption)


def comparison(
    name: str, notes: Path, queries: Path, settings: Settings, progress: ProgressFn, limit: int | None = None
) -> Evaluation:
    """One of `lab.experiments.COMPARISONS`. Other ways to cut or embed have indexes beside the usual one."""
    asked = read_queries(queries)[:limit]
    notices: dict[str, None] = {}
    caption = ""

    def open_(changed: Settings, place: str) -> Engine:
        nonlocal caption
        engine = opened(notes, changed, progress, place)
        notices.update(dict.fromkeys(_notices(engine, asked)))
        if not place:  # the usual index speaks for all
            told = f"{name}: {engine.chat.name}" if name == "llm" and engine.chat else name
            caption = _caption(engine, notes, told + (f", the first {len(asked)} questions" if limit else ""))
        return engine

    rows = compare(name, Bench(asked, settings, open_, extract_of, progress))
    document: dict[str, Any] = {"compare": name, "queries": len(asked)}
    if name in STAGE_METRIC:
        document["metric"] = STAGE_METRIC[name]
    document["rows"] = [{"name": r.name, **r.values} for r in rows]
    return Evaluation(document, tuple(notices), caption)


def opened(notes: Path, settings: Settings, progress: ProgressFn, place: str = "") -> Engine:
    """The engine on a folder or a docs.jsonl, its index up to date. `place` names an index beside the usual one."""
    usual = index_path(settings, notes)
    file = usual.parent.with_name(f"{usual.parent.name}-{place}") / usual.name if place else usual
    if notes.suffix.lower() == ".jsonl" and notes.is_file():
        documents = read_documents(notes)
        return Engine(settings=settings, progress=progress).build(documents, progress, index_file=file)
    engine = Engine.open(notes, settings, progress, index_file=file)
    try:
        engine.update(progress)
    except BaseException:
        engine.close()
        raise
    return engine


def extract_of(engine: Engine) -> Extract:
    """What `ask` quotes, whether a model answers or not."""

    def quoted(trace: Trace) -> Extracted:
        found = extract(trace.asked, distinct(trace.hits), engine)
        return Extracted(found.text, tuple(citation.text for citation in found.citations))

    return quoted


def _notices(engine: Engine, asked: Sequence[LabelledQuery]) -> list[str]:
    snapshot = engine.snapshot
    silent = [note.path for note in snapshot.notes if note.status != "ok"]
    names = {note.path for note in snapshot.notes if note.status == "ok"} | snapshot.row_of.keys()
    told = [*engine.notices, *doubts(asked, names)]
    if not snapshot.chunks:
        told.append("the index is empty: no note with text was found")
    if silent:
        told.append(f"{len(silent)} notes are not searchable, such as {silent[0]}")
    if snapshot.chunks and snapshot.dense_coverage < 1:
        told.append(f"dense search covers {snapshot.dense_coverage:.0%} of the chunks: another process is indexing")
    return told


def _caption(engine: Engine, notes: Path, what: str) -> str:
    info = engine.info()
    name = "/".join(notes.parts[-2:])  # a folder is often called notes
    return f"{name}: {info.notes} notes, {info.chunks} chunks, {info.embedder}, rerank {info.reranker}; {what}"
