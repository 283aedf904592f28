"""What the app asks of an engine, and the real engine behind it.

The Protocol is small on purpose: the tests hand in a scripted backend, and the app cannot reach past it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from glassbox_tui.progress import CancelledFn, ProgressFn
from glassbox_tui.retrieval.trace import IndexInfo, Trace
from glassbox_tui.settings import Settings


@dataclass(frozen=True, slots=True)
class Source:
    """One citation of an answer: [number] stands in the text; `where` is path:first-last."""

    number: int
    where: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as the app shows it. `mode`: extract, generate or none (then `text` says why there is none)."""

    mode: str
    text: str
    sources: tuple[Source, ...] = ()


class Backend(Protocol):
    """An opened index. `search` and `answer` are called from one thread while `update` runs in another."""

    def info(self) -> IndexInfo: ...

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn) -> Trace:
        """One Trace; `rounds` False: the first round only. May raise Cancelled once `cancelled()` is true."""
        ...

    def answer(self, trace: Trace) -> Reply: ...

    def update(self, *, progress: ProgressFn, cancelled: CancelledFn) -> tuple[str, ...]:
        """Bring the index up to date with the folder; returns what went wrong, a sentence each."""
        ...

    def close(self) -> None: ...


OpenBackend = Callable[[ProgressFn], Backend]


def opener(notes: Path, settings: Settings) -> OpenBackend:
    """A callable that opens the real engine on `notes`. Nothing heavy is imported before it is called."""

    def open_engine(progress: ProgressFn) -> Backend:
        from glassbox_tui import Engine

        return EngineBackend(Engine.open(notes, settings, progress=progress))

    return open_engine


class EngineBackend:
    """The Python door (`glassbox_tui.Engine`) seen through the Protocol."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def info(self) -> IndexInfo:
        info: IndexInfo = self._engine.info()
        return info

    def search(self, query: str, *, rounds: bool, cancelled: CancelledFn) -> Trace:
        trace: Trace = self._engine.search(query, max_rewrites=None if rounds else 0, cancelled=cancelled)
        return trace

    def answer(self, trace: Trace) -> Reply:
        from glassbox_tui.answer.extract import answer

        found = answer(trace, self._engine)
        return Reply(found.mode, found.text, tuple(_source(c) for c in found.citations))

    def update(self, *, progress: ProgressFn, cancelled: CancelledFn) -> tuple[str, ...]:
        problems: Sequence[object] = self._engine.update(progress=progress, cancelled=cancelled).problems
        return tuple(str(p) for p in problems)

    def close(self) -> None:
        self._engine.close()


def _source(citation: Any) -> Source:
    first, last = citation.lines
    return Source(citation.number, f"{citation.path}:{first}-{last}")
