"""The words of an index as they are written, made when they are first needed, once for each snapshot.

The index itself holds stems: `recipoc` says little about how `reciprocal` is spelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from glassbox_tui.index.rows import ChunkRow
from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.text.spelling import WordList, word_list, words_in

KEPT = 2  # word lists in memory: the app's folder and another one


@dataclass(frozen=True, slots=True)
class _Made:
    chunks: Sequence[ChunkRow]
    counts: Counter[str]
    words: WordList


_made: list[_Made] = []
_lock = Lock()


def words_of(snapshot: Snapshot) -> WordList:
    """Every word of the chunks with the number of chunks that hold it. About 50 ms per MB of text the first time.

    After an update only the chunks that changed are read.
    """
    with _lock:
        made = next((m for m in _made if m.chunks is snapshot.chunks), None)
        if made is None:
            made = _renewed(_nearest(snapshot.chunks), snapshot.chunks)
        else:
            _made.remove(made)
        _made.insert(0, made)
        del _made[KEPT:]
        return made.words


def _nearest(chunks: Sequence[ChunkRow]) -> _Made | None:
    """The list that was made of mostly the same chunks, which is replaced; None: there is none."""
    here = set(map(id, chunks))
    for made in _made:
        if 2 * sum(id(chunk) in here for chunk in made.chunks) > len(chunks):
            _made.remove(made)
            return made
    return None


def _renewed(old: _Made | None, chunks: Sequence[ChunkRow]) -> _Made:
    """The list of `chunks`, from that of mostly the same ones: a chunk that did not change is the very same object."""
    counts = Counter[str]() if old is None else Counter(old.counts)
    before = {} if old is None else {id(chunk): chunk for chunk in old.chunks}
    now = {id(chunk) for chunk in chunks}
    for chunk in chunks:
        if id(chunk) not in before:
            counts.update(words_in(chunk.index_text))
    for gone in before.keys() - now:
        counts.subtract(words_in(before[gone].index_text))
    counts = +counts
    return _Made(chunks, counts, word_list(counts))
