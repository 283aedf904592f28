"""Runs every invariant, in the order of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glassbox_tui.notes.bundled import bundled_corpus
from glassbox_tui.progress import ProgressFn
from glassbox_tui.scratch import scratch_folder
from glassbox_tui.selftest import (
    asking,
    chunking,
    embedding,
    fusion,
    generation,
    index,
    language_model,
    loop,
    rerank,
    retrieval,
    sparse,
)
from glassbox_tui.selftest.bench import Bench
from glassbox_tui.selftest.check import Check, Group, Invariant
from glassbox_tui.settings import Settings

GROUPS: tuple[Group, ...] = (
    chunking.chunking,
    embedding.embedding,
    sparse.sparse,
    fusion.fusion,
    index.index,
    retrieval.retrieval,
    asking.asking,
    loop.loop,
    rerank.rerank,
    language_model.language_model,
    generation.generation,
)


def invariants() -> tuple[Invariant, ...]:
    return tuple(invariant for group in GROUPS for invariant in group.invariants)


def run(
    settings: Settings, progress: ProgressFn | None = None, heard: Callable[[Check], None] | None = None
) -> tuple[Check, ...]:
    """All invariants on the bundled notes with the models that `settings` name, every other knob at its default.

    `heard` hears of each check as it is done; what it raises ends the run. The index is built in a folder of its own
    that is gone afterwards: no index of the user's is read or written. Raises GlassboxError only if the bundled notes
    are missing; whatever else goes wrong is a fallen check.
    """
    with scratch_folder(settings, "selftest") as scratch:
        bench = Bench(settings, bundled_corpus(), scratch, progress or (lambda _: None))
        try:
            every = invariants()
            checks = []
            for done, invariant in enumerate(every, start=1):
                checks.append(invariant.check(bench))
                if heard is not None:
                    heard(checks[-1])
                bench.tell(done, len(every), f"{invariant.group}: {invariant.name}")
            return tuple(checks)
        finally:
            bench.close()


def to_dict(checks: Sequence[Check]) -> dict[str, Any]:
    """The JSON document of `selftest --json`."""
    rows = [{"group": c.group, "name": c.name, "ok": c.ok, "detail": c.detail} for c in checks]
    passed = sum(c.ok for c in checks)
    return {"checks": rows, "passed": passed, "failed": len(checks) - passed}
