"""Keeps one index equal to its folder, and a snapshot of it for searches: one process writes, others read along."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from random import sample

from filelock import FileLock, Timeout

from glassbox_tui.index.embedding import embed_missing
from glassbox_tui.index.fingerprint import FOREIGN, foreign, forget, remember
from glassbox_tui.index.indexer import Books, Calls, UpdateReport, update_text
from glassbox_tui.index.location import MOUNT, NOTES, mount_point, notes_name
from glassbox_tui.index.lock import writing
from glassbox_tui.index.snapshot import (
    MOST_NOTES,
    Snapshot,
    add_vectors,
    read_snapshot,
    renew_snapshot,
    without_vectors,
)
from glassbox_tui.index.store import Store
from glassbox_tui.models.calibration import Calibrated
from glassbox_tui.models.protocols import Embedder
from glassbox_tui.progress import Progress
from glassbox_tui.settings import Settings

# How often searches get a fresh picture of the vectors while a long embedding runs.
REFRESH_SECONDS = 2.0
LOOKED_AT = 300  # token codes that are compared with their checksums when an index is opened


@dataclass(frozen=True, slots=True)
class Way:
    """How notes become an index: what decides the chunks and the vectors."""

    settings: Settings
    embedder: Embedder


class Keeper:
    """Owns the writing side of a store. Updates take turns; `snapshot` may be read from any thread at any time."""

    def __init__(self, store: Store, way: Way, lock: FileLock | None = None) -> None:
        """`lock` is held while writing. Raises StoreError."""
        self.store = store
        self._way = way
        self._lock = lock
        self._turn = threading.Lock()
        self._meeting = threading.Lock()
        self._met = False  # the embedder was compared with the one whose vectors these are
        self.foreign = ""  # a sentence, where it is another one
        self._forgotten = False  # and its vectors are
        self._untidy = (
            True  # there may be embeddings that no chunk uses: a process may have died before it dropped them
        )
        self._read()

    def _read(self) -> None:
        self._others = self.store.others_wrote()
        embedder = self._way.embedder
        calibration = embedder.calibration if isinstance(embedder, Calibrated) else None
        self.snapshot: Snapshot = read_snapshot(self.store, embedder.name, embedder.dimension, calibration)
        if self.foreign and not self._forgotten:
            self.snapshot = without_vectors(self.snapshot)
        self._look_at_codes()
        self._books = Books({note.path: note for note in self.snapshot.notes})
        self._to_embed: set[str] | None = None  # notes whose chunks may lack a vector; None: any may

    def meet(self) -> None:
        """Compare the embedder with the one whose vectors are here, once: vectors of another one are not used.

        It takes an embedding, so it waits until vectors are needed. Raises StoreError and what the embedder raises.
        """
        with self._meeting:
            embedder = self._way.embedder
            if self._met or self._way.settings.disable_dense or not embedder.dimension:
                return
            if why := foreign(self.store, embedder):
                self.foreign = FOREIGN.format(embedder.name, why)
                self.snapshot = without_vectors(self.snapshot)
            self._met = True

    def _look_at_codes(self) -> None:
        """Read a sample of the token codes, so that what is spoilt is known before a search meets it."""
        model = self._way.embedder.name
        keys = self.store.coded(model)
        self.store.token_codes(model, sample(keys, min(LOOKED_AT, len(keys))))

    def update(self, root: Path, calls: Calls) -> UpdateReport:
        """Bring the index up to `root`: text first (searchable at once), then vectors.

        If another process is writing, nothing is written, what it wrote so far is read, and the report says `locked`.
        Raises Cancelled (what was done stays done), NotesError, StoreError.
        """
        started = time.monotonic()
        with self._turn:
            try:
                with writing(self._lock) if self._lock else nullcontext():
                    report = self._update(root, calls)
            except Timeout:
                self._follow(calls)
                return UpdateReport(locked=True, seconds=time.monotonic() - started)
        calls.progress(Progress("done", 1, 1))
        return replace(report, seconds=time.monotonic() - started)

    def _follow(self, calls: Calls) -> None:
        """Read what another process wrote since, if it did."""
        if self.store.others_wrote() != self._others:
            self._read()
            calls.changed()

    def _update(self, root: Path, calls: Calls) -> UpdateReport:
        self._follow(calls)
        # So that `purge` knows whose it is. Where a mount was before, `reach` decides whether it is gone.
        for key, value in ((NOTES, notes_name(root)), (MOUNT, self.store.meta(MOUNT) or mount_point(root))):
            if self.store.meta(key) != value:
                self.store.set_meta(key, value)
        settings, embedder = self._way.settings, self._way.embedder
        try:
            report = update_text(self.store, root, settings, embedder, self._books, calls)
        finally:
            if self._books.dirty:  # also when it was stopped half-way
                self._untidy = True
                self._renew(calls)
        if not settings.disable_dense and embedder.dimension:
            self.meet()
            if self.foreign and not self._forgotten:
                self._forgotten = True
                forget(self.store, embedder)
                self.snapshot, self._to_embed = without_vectors(self.snapshot), None
            remember(self.store, embedder)
        if self.store.spoilt:
            self.store.remove_embeddings(self.store.spoilt.copy())  # a search may add to it
            self._to_embed = None
        embedded, pending = (0, 0) if settings.disable_dense else self._embed(calls)
        if self._untidy and not pending:
            self.store.drop_orphans()
            self._untidy = False
        return replace(report, embedded=embedded, pending=pending)

    def _renew(self, calls: Calls) -> None:
        dirty, notes = self._books.dirty, self._books.notes
        self.snapshot = renew_snapshot(self.snapshot, notes, dirty, self.store, self._way.embedder.name)
        if self._to_embed is not None:
            self._to_embed |= dirty
        self._books.dirty = set()
        calls.changed()

    def _embed(self, calls: Calls) -> tuple[int, int]:
        paths = None if self._to_embed is None or len(self._to_embed) > MOST_NOTES else sorted(self._to_embed)
        if paths == []:
            return 0, 0
        waiting: dict[str, bytes] = {}
        shown = float("-inf")  # the first note's vectors at once: it is the newest

        def show() -> None:
            nonlocal shown
            if waiting:
                self.snapshot = add_vectors(self.snapshot, waiting)
                waiting.clear()
                calls.changed()
            shown = time.monotonic()

        def stored(vectors: Mapping[str, bytes]) -> None:
            waiting.update(vectors)
            if time.monotonic() - shown > REFRESH_SECONDS:
                show()

        try:
            codes = self._way.settings.token_codes
            embedded, pending = embed_missing(self.store, self._way.embedder, codes, calls, stored, paths)
        finally:
            show()
        if not pending:
            self._to_embed = set()
        return embedded, pending
