"""Embeds what lacks an embedding: note by note, newest first, one chunk at a time, stopping whenever it is asked to."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from glassbox_tui.index.indexer import Calls
from glassbox_tui.index.rows import Embedding
from glassbox_tui.index.store import Store
from glassbox_tui.index.token_codes import encode_passage
from glassbox_tui.models.protocols import Embedder, TokenEmbedder
from glassbox_tui.progress import Cancelled, Progress

COMMIT_EVERY = 16  # chunks of one note; a note's end commits too
PACE_SECONDS = 30.0  # the rate is that of so long a time


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

    note = ""
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
        rate = pace.rate(done + 1)
        left = (len(missing) - done - 1) / rate if rate else None
        calls.progress(Progress("embed", done + 1, len(missing), path, left, rate))
    commit()
    return len(missing), 0
