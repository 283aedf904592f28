"""`bench`, in its ways that need more than an index: edits of a copy of the notes, threads of the language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassbox_tui.settings import Settings
from glassbox_tui.views.progress import shown_progress


def edits(notes: Path, settings: Settings, questions: Sequence[str], count: int) -> dict[str, Any]:
    """The document of `bench --edits`."""
    from glassbox_tui.lab.edits import bench_edits
    from glassbox_tui.retrieval.engine import Engine

    with shown_progress() as progress:
        embedder = Engine(settings=settings, progress=progress).embedder
        found = bench_edits(notes, settings, embedder, questions, count, progress)
    return asdict(found) | {"ratio": found.ratio}


def threads(settings: Settings, most: int) -> dict[str, Any]:
    """The document of `bench --threads`; `most` 0: as many as the allowed CPUs. Raises ModelError."""
    from glassbox_tui.lab.threads import thread_table, to_dict

    with shown_progress() as progress:
        return to_dict(thread_table(settings, most, progress))
