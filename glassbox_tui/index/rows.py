"""What the tables of an index hold, as Python values, and how a row is packed and read back."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COLLECTION = "default"
Column = str | int | bytes | None


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """One file as the index knows it. `status` is "ok" or why it is not searchable; times are ns since the epoch."""

    path: str
    digest: str
    mtime_ns: int
    size: int
    seen_ns: int
    kind: str
    encoding: str
    title: str
    status: str
    reason: str
    warnings: tuple[str, ...]
    chunker: str


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """One chunk. `counts`: index term to how often it occurs; `index_text` is what was tokenised and embedded."""

    ordinal: int
    start: int
    end: int
    lines: tuple[int, int]
    page: int | None
    heading: tuple[str, ...]
    language: str
    text: str
    index_text: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as read back: its record less the counts, with the note it belongs to. `key` names its embedding."""

    uid: str
    path: str
    title: str
    ordinal: int
    start: int
    end: int
    lines: tuple[int, int]
    page: int | None
    heading: tuple[str, ...]
    language: str
    text: str
    index_text: str
    content: str
    key: str


@dataclass(frozen=True, slots=True)
class Embedding:
    """What one embedded text leaves behind: unit vector (d,), token codes (tokens, bytes) or None, dropped tokens."""

    key: str
    vector: NDArray[np.float32]
    codes: NDArray[np.uint8] | None
    truncated: int

    def vector_row(self, model: str) -> tuple[Column, ...]:
        """The columns of `vectors`."""
        blob = self.vector.astype("<f4").tobytes()
        return model, self.key, checksum((model, self.key, blob)), blob

    def codes_row(self, model: str) -> tuple[Column, ...]:
        """The columns of `token_codes`; there must be codes."""
        blob = b"" if self.codes is None else self.codes.tobytes()
        return model, self.key, checksum((model, self.key, self.truncated, blob)), self.truncated, blob


@dataclass(frozen=True, slots=True)
class Forward:
    """The forward index of all chunks in row order, flat: chunk i owns [offsets[i], offsets[i+1]) of ids and counts."""

    vocabulary: Mapping[str, int]
    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything keyword search needs: chunks and, by path, the notes they are of, each with its forward index."""

    chunks: tuple[ChunkRow, ...]
    forward: Forward
    notes: tuple[str, ...]
    note_forward: Forward


def text_hash(text: str) -> str:
    """Identifies a text across edits and notes: 128 bits of BLAKE2b, hex."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def note_row(n: NoteRecord) -> tuple[str | int, ...]:
    """The columns of `notes` between the id and what its chunks share, in the schema's order."""
    warnings = json.dumps(n.warnings, ensure_ascii=False)
    times = (n.mtime_ns, n.size, n.seen_ns)
    return (COLLECTION, n.path, n.digest, *times, n.kind, n.encoding, n.title, n.status, n.reason, warnings, n.chunker)


def chunk_columns(c: ChunkRecord | ChunkRow, key: str, content: str, packed: bytes) -> tuple[Column, ...]:
    """All that is known of a chunk, whatever way it is stored: what its checksum is of."""
    heading = json.dumps(c.heading, ensure_ascii=False)
    index_text = None if c.index_text == c.text else c.index_text
    place = (c.ordinal, c.start, c.end, *c.lines, c.page)
    return (*place, heading, c.language, c.text, index_text, content, key, packed)


def note_columns(
    path: str, digest: str, kind: str, encoding: str, title: str, status: str, chunker: str, shared: str, packed: bytes
) -> tuple[Column, ...]:
    """What a note's checksum is of: all but the times of its file and what is said of it, which an update touches."""
    return path, digest, kind, encoding, title, status, chunker, shared, packed


def checksum(row: Sequence[Column]) -> int:
    """CRC-32 of the columns of a row, each with a separator behind it."""
    crc = 0
    for value in row:
        crc = zlib.crc32(value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass"), crc)
        crc = zlib.crc32(b"\x1f", crc)
    return crc
