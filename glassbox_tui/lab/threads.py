"""How fast the language model reads and writes at each number of threads, on this machine and now."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.generators import choose
from glassbox_tui.models.llama import LlamaModel
from glassbox_tui.models.runtime import allowed_cpus, auto_threads
from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.settings import Settings

TOKENS = 96
TRIES = 2  # the better one counts: whatever else runs only makes it slower


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens a second with so many threads; `automatic`: what the program would take by itself."""

    threads: int
    reading: float
    writing: float
    automatic: bool


@dataclass(frozen=True, slots=True)
class ThreadTable:
    """`tokens` are read and as many written, `tries` times."""

    model: str
    cpus: int
    tokens: int
    tries: int
    rows: tuple[Row, ...]


def to_dict(table: ThreadTable) -> dict[str, Any]:
    """The document of `bench --threads --json`."""
    return asdict(table)


def thread_table(settings: Settings, most: int, progress: ProgressFn) -> ThreadTable:
    """Measure at 1, 2, 4, ... up to `most` threads (0: the CPUs that are allowed), and at the automatic number.

    Raises ModelError where no model file serves, or it does not load.
    """
    chosen = choose(settings)
    if chosen.fault or chosen.path is None:
        server = "threads are measured with a model file, and GLASSBOX_LLM_SERVER names a server"
        raise ModelError(chosen.fault or (server if chosen.kind == "server" else chosen.why))
    automatic = auto_threads(replace(settings, llm_threads=0), allowed_cpus())
    counts = thread_counts(most or allowed_cpus(), automatic)
    rows = []
    for number, threads in enumerate(counts):
        progress(Progress("measure", number, len(counts), f"{threads} threads"))
        model = LlamaModel(chosen.path, replace(settings, llm_threads=threads), chosen.entry)
        paces = [model.pace(TOKENS) for _ in range(TRIES)]
        model.close()
        reading, writing = max(p.reading for p in paces), max(p.writing for p in paces)
        rows.append(Row(threads, reading, writing, threads == automatic))
    return ThreadTable(model.name, allowed_cpus(), TOKENS, TRIES, tuple(rows))


def thread_counts(most: int, automatic: int) -> list[int]:
    """1, 2, 4, ... below `most`, `most` itself and the automatic number, in order."""
    return sorted({*(1 << n for n in range(most.bit_length()) if 1 << n < most), most, automatic})
