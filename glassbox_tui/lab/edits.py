"""How soon an edit is searchable, held against indexing the whole folder anew; and how long searches take meanwhile.

Works on a copy of the notes with an index of its own, which are gone afterwards.
"""

from __future__ import annotations

import shutil
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from glassbox_tui.errors import GlassboxError
from glassbox_tui.models.protocols import Embedder
from glassbox_tui.notes.ignore import rules_of
from glassbox_tui.notes.scan import locate, scan
from glassbox_tui.notes.watch import watch
from glassbox_tui.progress import ProgressFn
from glassbox_tui.retrieval.engine import Engine
from glassbox_tui.scratch import scratch_folder
from glassbox_tui.settings import Settings

WAIT_SECONDS = 60.0  # for one event


@dataclass(frozen=True, slots=True)
class EditBench:
    """Times of one run. An edit's clock starts when its file is closed; so the wait for the event is in it.

    `bm25_ms`, `vectors_ms`: median until the new words are found, and until every chunk has its vector; the slowest of
    `edits` in `..._worst_ms`. `rebuild_ms`: indexing all of the folder. `idle_ms`, `busy_ms`, `busy_worst_ms`: a
    search while nothing is embedded (median), and while the rebuild was embedding (median and slowest).
    """

    notes: int
    chunks: int
    edits: int
    bm25_ms: float
    bm25_worst_ms: float
    vectors_ms: float
    vectors_worst_ms: float
    rebuild_text_ms: float
    rebuild_ms: float
    chunk_ms: float
    idle_ms: float
    busy_ms: float | None
    busy_worst_ms: float | None

    @property
    def ratio(self) -> float:
        """How many times longer the whole folder takes than one edit, vectors included."""
        return self.rebuild_ms / self.vectors_ms if self.vectors_ms else 0.0


def bench_edits(
    notes: Path, settings: Settings, embedder: Embedder, queries: Sequence[str], edits: int, progress: ProgressFn
) -> EditBench:
    """Index a copy of `notes` while searching it, then edit `edits` of its text notes. Raises GlassboxError."""
    ours = (settings.data_dir, settings.data_dir.absolute())
    with scratch_folder(settings, "bench") as scratch:
        copy = scratch / "notes"
        # The copy lies in the data folder, which may lie in the notes.
        shutil.copytree(notes, copy, symlinks=True, ignore=lambda at, names: [n for n in names if Path(at, n) in ours])
        found = scan(copy, rules_of(settings)).files
        paths = [locate(copy, f.path) for f in found if f.path.lower().endswith((".md", ".txt", ".markdown"))]
        if not paths:
            raise GlassboxError(f"there is no text note in {notes} to edit")
        file = scratch / "index" / "index.sqlite"
        with Engine.open(copy, settings, index_file=file, embedder=embedder) as engine:
            text, total, busy = _rebuild(engine, queries, progress)
            idle = [_search_ms(engine, q) for q in queries]
            chunks = len(engine.snapshot.chunks)
            with _events(copy, settings) as event:
                times = [_edit(engine, paths[i * len(paths) // edits], i, event) for i in range(edits)]
            return EditBench(
                notes=engine.snapshot.searchable_notes,
                chunks=chunks,
                edits=edits,
                bm25_ms=statistics.median(t for t, _ in times),
                bm25_worst_ms=max(t for t, _ in times),
                vectors_ms=statistics.median(t for _, t in times),
                vectors_worst_ms=max(t for _, t in times),
                rebuild_text_ms=text,
                rebuild_ms=total,
                chunk_ms=(total - text) / max(1, chunks),
                idle_ms=statistics.median(idle),
                busy_ms=statistics.median(busy) if busy else None,
                busy_worst_ms=max(busy) if busy else None,
            )


def _rebuild(engine: Engine, queries: Sequence[str], progress: ProgressFn) -> tuple[float, float, list[float]]:
    """Index everything, and search all along: ms until the text is searchable, until all is, and of each search."""
    began, text = time.perf_counter(), [0.0]
    searchable, over = threading.Event(), threading.Event()

    def changed() -> None:
        text[0] = text[0] or time.perf_counter()
        searchable.set()

    def update() -> None:
        try:
            engine.update(progress, changed=changed)
        finally:
            over.set()
            searchable.set()

    thread = threading.Thread(target=update)
    thread.start()
    searchable.wait()
    busy: list[float] = []
    while not over.wait(0.1):  # somebody who searches now and then, not all the time
        busy.append(_search_ms(engine, queries[len(busy) % len(queries)]))
    thread.join()
    end = time.perf_counter()
    return ((text[0] or end) - began) * 1000, (end - began) * 1000, busy[:-1]  # the last one ran into the end


def _search_ms(engine: Engine, query: str) -> float:
    began = time.perf_counter()
    engine.search(query, max_rewrites=0)
    return (time.perf_counter() - began) * 1000


@contextmanager
def _events(folder: Path, settings: Settings) -> Iterator[threading.Event]:
    """An event that is set when the folder changes; the one at the beginning is over."""
    event, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=watch, args=(folder, event.set, lambda _: None, stop, rules_of(settings)))
    thread.start()
    try:
        event.wait(WAIT_SECONDS)
        event.clear()
        yield event
    finally:
        stop.set()
        thread.join()


def _edit(engine: Engine, note: Path, number: int, event: threading.Event) -> tuple[float, float]:
    """Add a word to a note: ms until keyword search finds it, and until nothing lacks a vector."""
    word = f"zqedit{number}x"
    with note.open("a", encoding="utf-8") as file:
        file.write(f"\n\nAn edit: {word}.\n")
    began = time.perf_counter()
    found = [0.0]

    def changed() -> None:
        if not found[0] and engine.search(word, mode="bm25", max_rewrites=0, explain=False).hits:
            found[0] = time.perf_counter()

    while not found[0]:
        if not event.wait(WAIT_SECONDS):
            raise GlassboxError(f"no event came for an edit of {note}")
        event.clear()
        engine.update(changed=changed)
    return (found[0] - began) * 1000, (time.perf_counter() - began) * 1000
