"""Embeds what lacks an embedding: note by note, newest first, one chunk at a time, stopping whenever it is asked to."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from glassbox_tui.index.indexer import Calls
from glassbox_tui.index.rows import Embedding
from glassbox_tui.index.store import Store
from glassbox_tui.index.token_codes import encode_passage
from glassbox_tui.models.protocols import Embedder, TokenEmbedder
from glassbox_tui.progress import Cancelled, Progress

COMMIT_EVERY = 16  # chunks of one note; a note's end commits too
PROBE = 16  # chunks after which the pace and the size of the rest are known
LONG_SECONDS = 30.0  # an embedding that will take this long is announced
PACE_SECONDS = 30.0  # the rate is that of so long a time


def disk_bytes(chunks: int, embedded: int, stored: int, dimension: int) -> int:
    """What `chunks` more embeddings will take on disk, `embedded` of them having made `stored` bytes of token codes.

    A vector takes whole pages of 4 KiB: its row is too long to share one. Codes take a fifteenth more than their bytes.
    (Both measured: 3,218 chunks, 384 dimensions, 15.1 MB of vectors and 44.8 MB for 42.2 MB of codes.)
    """
    pages = -(-4 * dimension // 4096)
    return round(chunks * (pages * 4096 + 600 + stored / max(1, embedded) * 16 / 15))


@dataclass(slots=True)
class Pace:
    """How fast steps are done, measured over the last half minute."""

    clock: Callable[[], float] = time.monotonic
    _marks: deque[tuple[float, int]] = field(default_factory=deque)

    def rate(self, done: int) -> float | None:
        """Steps a second, `done` of them being through; None before the second call."""
        now = self.clock()
        self._marks.append((now, done))
        while now - self._marks[0][0] > PACE_SECONDS and len(self._marks) > 2:
            self._marks.popleft()
        then, before = self._marks[0]
        return (done - before) / (now - then) if done > before and now > then else None


def embed_missing(
    store: Store,
    embedder: Embedder,
    codes: bool,
    calls: Calls,
    stored: Callable[[Mapping[str, bytes]], None] = lambda _: None,
    paths: Sequence[str] | None = None,
) -> tuple[int, int]:
    """Embed every text that has no vector of this model yet. Returns how many were, and how many are left.

    `codes`: with token codes, where the embedder has them. `paths`: look in these notes only. `stored` gets the new
    vectors by key after each commit.
    Raises Cancelled between chunks; what was embedded is kept.
    """
    missing = store.missing_keys(embedder.name, codes and isinstance(embedder, TokenEmbedder), paths)
    batch: list[Embedding] = []
    pace = Pace()
    pace.rate(0)

    def commit() -> None:
        if batch:
            store.put_embeddings(embedder.name, batch)
            vectors = {e.key: e.vector.astype("<f4").tobytes() for e in batch}
            batch.clear()
            stored(vectors)

    note, began, stored_bytes = "", time.monotonic(), 0
    for done, (path, key) in enumerate(missing):
        if path != note or len(batch) >= COMMIT_EVERY:
            commit()
            note = path
        calls.between()
        if calls.cancelled():
            commit()
            raise Cancelled
        if calls.hold():
            commit()
            return done, len(missing) - done
        text = store.index_text(key)
        if text is not None:
            batch.append(encode_passage(embedder, key, text, codes))
            stored_bytes += 0 if batch[-1].codes is None else batch[-1].codes.nbytes
        rate = pace.rate(done + 1)
        left = (len(missing) - done - 1) / rate if rate else None
        calls.progress(Progress("embed", done + 1, len(missing), path, left, rate))
        if done + 1 == PROBE and (seconds := (time.monotonic() - began) / PROBE * len(missing)) >= LONG_SECONDS:
            disk = disk_bytes(len(missing), PROBE, stored_bytes, embedder.dimension)
            calls.progress(Progress("plan", 0, len(missing), _size(disk, store.path), seconds))
    commit()
    return len(missing), 0


def _size(disk: int, file: Path | None) -> str:
    """ "65 MB", and what is free where that is not much more."""
    free = disk * 10
    if file is not None:
        with suppress(OSError):
            free = shutil.disk_usage(file.parent).free
    return f"{disk / 1e6:,.0f} MB" + (f", {free / 1e6:,.0f} MB free" if free < 2 * disk else "")
