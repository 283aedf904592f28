"""What the tables of an index hold, as Python values, and how a row is packed and read back."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLLECTION = "default"


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
    """The columns of `notes` between the id and the terms, in the schema's order."""
    warnings = json.dumps(n.warnings, ensure_ascii=False)
    times = (n.mtime_ns, n.size, n.seen_ns)
    return (COLLECTION, n.path, n.digest, *times, n.kind, n.encoding, n.title, n.status, n.reason, warnings, n.chunker)


def chunk_row(c: ChunkRecord, ids: Mapping[str, int]) -> tuple[str | int | bytes | None, ...]:
    """The columns of `chunks` after the ids, in the schema's order; index_text is NULL where it is the text itself."""
    heading = json.dumps(c.heading, ensure_ascii=False)
    index_text = None if c.index_text == c.text else c.index_text
    row = (
        *(c.ordinal, c.start, c.end, *c.lines, c.page, heading, c.language),
        *(c.text, index_text, text_hash(c.text), text_hash(c.index_text), pack_counts(c.counts, ids)),
    )
    return (*row, checksum(row))


def checksum(row: Sequence[str | int | bytes | None]) -> int:
    """CRC-32 of a chunk's columns from the ordinal to the terms, each with a separator behind it."""
    crc = 0
    for value in row:
        crc = zlib.crc32(value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass"), crc)
        crc = zlib.crc32(b"\x1f", crc)
    return crc


def read_chunk_row(row: tuple[Any, ...]) -> ChunkRow:
    path, title, ordinal, start, end, first_line, last_line, page, heading, language, text, index_text, *hashes, _ = row
    return ChunkRow(
        uid=f"{path}#{ordinal}",
        path=path,
        title=title,
        ordinal=ordinal,
        start=start,
        end=end,
        lines=(first_line, last_line),
        page=page,
        heading=tuple(json.loads(heading)),
        language=language,
        text=text,
        index_text=text if index_text is None else index_text,
        content=hashes[0],
        key=hashes[1],
    )


def pack_counts(counts: Mapping[str, int], ids: Mapping[str, int]) -> bytes:
    pairs = sorted((ids[term], n) for term, n in counts.items())
    return np.array(pairs, dtype="<i4").reshape(-1, 2).tobytes()


def unpack_forward(blobs: Sequence[bytes], vocabulary: Mapping[str, int]) -> Forward:
    flat = np.frombuffer(b"".join(blobs), dtype="<i4").reshape(-1, 2)
    sizes = np.fromiter((len(b) // 8 for b in blobs), dtype=np.int64, count=len(blobs))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Forward(vocabulary, offsets, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]))
