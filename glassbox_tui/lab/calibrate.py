"""Finds grade thresholds: for labelled questions, the signals with the right note in the index and with it taken out.

The two should differ: evidence that holds the answer against the best that is left without it. A threshold is put where
it tells the two apart best (Youden's J: share of present kept minus share of absent let through).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from glassbox_tui.lab.calibration import auroc
from glassbox_tui.lab.queries import LabelledQuery
from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.retrieval.trace import Grade

SIGNALS = ("coverage", "dense", "rerank")


@dataclass(frozen=True, slots=True)
class Separation:
    """How well one signal tells present from absent. `kept`, `let_through`: shares at or over `threshold`."""

    signal: str
    threshold: float
    auroc: float
    kept: float
    let_through: float
    questions: int


def separations(
    notes: Path, queries: Sequence[LabelledQuery], engine: Engine, progress: ProgressFn
) -> list[Separation]:
    """Work on a copy of `notes` with an engine opened by `engine`'s settings and models; labels are note paths."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "notes")
        shutil.copytree(notes, copy)
        present, absent = _grades(copy, queries, engine, progress)
    return [_separation(s, [_value(g, s) for g in present], [_value(g, s) for g in absent]) for s in SIGNALS]


def _grades(
    copy: Path, queries: Sequence[LabelledQuery], engine: Engine, progress: ProgressFn
) -> tuple[list[Grade], list[Grade]]:
    present: list[Grade] = []
    absent: list[Grade] = []
    with engine.sibling(copy) as own:
        own.update()
        for done, labelled in enumerate(queries, start=1):
            present.append(own.search(labelled.query, max_rewrites=0).last.grade)
            hidden = [copy / path for path in labelled.relevant]
            for file in hidden:
                file.rename(file.with_name(file.name + ".hidden"))
            own.update()
            absent.append(own.search(labelled.query, max_rewrites=0).last.grade)
            for file in hidden:
                file.with_name(file.name + ".hidden").rename(file)
            own.update()
            progress(Progress("search", done, len(queries)))
    return present, absent


def _value(grade: Grade, signal: str) -> float:
    value = {"coverage": grade.coverage, "dense": grade.top_dense, "rerank": grade.top_rerank}[signal]
    return -1.0 if value is None else value


def _separation(signal: str, present: Sequence[float], absent: Sequence[float]) -> Separation:
    cuts = sorted({*present, *absent})
    middles = [(a + b) / 2 for a, b in pairwise(cuts)] or cuts
    threshold = max(middles, key=lambda cut: _share(present, cut) - _share(absent, cut))
    return Separation(
        signal, threshold, auroc(present, absent), _share(present, threshold), _share(absent, threshold), len(present)
    )


def _share(values: Sequence[float], cut: float) -> float:
    return sum(v >= cut for v in values) / len(values)


def main() -> None:
    """`python -m glassbox_tui.lab.calibrate NOTES QUERIES`: the table behind the catalog's thresholds."""
    from glassbox_tui.lab.queries import read_queries
    from glassbox_tui.settings import load_settings

    notes, queries = Path(sys.argv[1]), Path(sys.argv[2])
    with Engine(settings=load_settings()) as engine:
        for found in separations(notes, read_queries(queries), engine, lambda _: None):
            print(
                f"{found.signal:9} threshold {found.threshold:.3f}  AUROC {found.auroc:.3f}"
                f"  kept {found.kept:.2f}  let through {found.let_through:.2f}  ({found.questions} questions)"
            )


if __name__ == "__main__":
    main()
