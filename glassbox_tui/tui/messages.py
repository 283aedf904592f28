"""What the worker threads tell the app: frozen events. The app alone turns them into a new state."""

from __future__ import annotations

from dataclasses import dataclass

from glassbox_tui.progress import Progress
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.tui.backend import Reply


@dataclass(frozen=True, slots=True)
class Opened:
    """The index is open: searches can run."""

    info: IndexInfo


@dataclass(frozen=True, slots=True)
class OpenFailed:
    """There is no index to search; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """Opening or indexing moved on."""

    progress: Progress


@dataclass(frozen=True, slots=True)
class Changed:
    """While indexing goes on: a search would now see something new."""

    info: IndexInfo


@dataclass(frozen=True, slots=True)
class Updated:
    """The index is as the folder is; `problems` is a sentence each."""

    info: IndexInfo
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateFailed:
    """Indexing stopped; what was there before is still searched."""

    reason: str


@dataclass(frozen=True, slots=True)
class SearchDone:
    """Run number `run` is finished. `rounds`: it was a full run, not one of those made while typing."""

    run: int
    trace: Trace
    rounds: bool


@dataclass(frozen=True, slots=True)
class SearchFailed:
    run: int
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerDone:
    run: int
    reply: Reply


Event = Opened | OpenFailed | Progressed | Changed | Updated | UpdateFailed | SearchDone | SearchFailed | AnswerDone
