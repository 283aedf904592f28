"""What chunks of one note share is stored once, with the note: heading paths, and what stands before a chunk's text.

A chunk's `index_text` is mostly a context line and the text; a thousand sections below one long heading, or a thousand
rows below one table header, have the same. So a note carries its headings as a tree and these lines as a list, and a
chunk two numbers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import randrange
from typing import Any, TypeVar

from glassbox_tui.index.postings import pack_counts, unpack_forward
from glassbox_tui.index.rows import (
    ChunkRecord,
    ChunkRow,
    Column,
    Contents,
    checksum,
    chunk_columns,
    note_columns,
    text_hash,
)

T = TypeVar("T")
Places = tuple[int | None, int | None, str | None]  # a chunk's heading, its prefix, and its index_text if it needs one


@dataclass(frozen=True, slots=True)
class Shared:
    """`paths[i]` is the heading path that chunks name by i; `prefixes[i]` what stands before their text."""

    paths: tuple[tuple[str, ...], ...] = ()
    prefixes: tuple[str, ...] = ()

    def path(self, number: int | None) -> tuple[str, ...]:
        """Raises ValueError for a number that no heading has."""
        return () if number is None else _nth(self.paths, number)

    def index_text(self, text: str, prefix: int | None, whole: str | None) -> str:
        """What was tokenised and embedded. Raises ValueError for a number that no prefix has."""
        if whole is not None:
            return whole
        return text if prefix is None else _nth(self.prefixes, prefix) + text


def share(chunks: Sequence[ChunkRecord]) -> tuple[str, list[Places]]:
    """The note's column, and each chunk's."""
    numbers: dict[tuple[str, ...], int] = {}
    headings: list[tuple[int | None, str]] = []  # the number of the heading above, and its own words
    prefixes: dict[str, int] = {}

    def numbered(path: tuple[str, ...]) -> int | None:
        if not path:
            return None
        if path not in numbers:
            above = numbered(path[:-1])
            numbers[path] = len(headings)
            headings.append((above, path[-1]))
        return numbers[path]

    places: list[Places] = []
    for chunk in chunks:
        prefix = chunk.index_text.removesuffix(chunk.text)
        if len(prefix) + len(chunk.text) != len(chunk.index_text):  # a placeholder stands for a picture in it
            places.append((numbered(chunk.heading), None, chunk.index_text))
        else:
            number = prefixes.setdefault(prefix, len(prefixes)) if prefix else None
            places.append((numbered(chunk.heading), number, None))
    found = {"headings": headings, "prefixes": list(prefixes)}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) if headings or prefixes else "", places


@lru_cache(maxsize=4)
def unshare(column: str) -> Shared:
    """The note's column, read. Raises ValueError if it is none."""
    if not column:
        return Shared()
    try:
        found = json.loads(column)
        paths: list[tuple[str, ...]] = []
        for above, words in found["headings"]:
            paths.append((*(() if above is None else _nth(paths, above)), words))
        return Shared(tuple(paths), tuple(map(str, found["prefixes"])))
    except (KeyError, TypeError) as error:
        raise ValueError(f"what the chunks of a note share cannot be read ({error})") from None


def _nth(items: Sequence[T], number: int) -> T:
    if not 0 <= number < len(items):
        raise ValueError(f"there is no number {number} among {len(items)} that a note's chunks share")
    return items[number]


CHUNK_COLUMNS = (
    'c.ordinal, c.start, c."end", c.first_line, c.last_line, c.page, c.heading, c.language, c.text, c.prefix,'
    " c.index_text, c.content, c.key, c.terms, c.checksum"
)
NOTE_COLUMNS = "n.path, n.hash, n.kind, n.encoding, n.title, n.status, n.chunker, n.shared, n.terms"
SAMPLE = 1000  # chunks whose checksums are compared when an index is read


def chunk_row(c: ChunkRecord, places: Places, ids: Mapping[str, int]) -> tuple[Column, ...]:
    """The columns of `chunks` after the ids, in the schema's order."""
    content, key, packed = text_hash(c.text), text_hash(c.index_text), pack_counts(c.counts, ids)
    heading, prefix, whole = places
    row = (
        c.ordinal,
        c.start,
        c.end,
        *c.lines,
        c.page,
        heading,
        c.language,
        c.text,
        prefix,
        whole,
        content,
        key,
        packed,
    )
    return (*row, checksum(chunk_columns(c, key, content, packed)))


def read_chunk_row(path: str, title: str, shared: Shared, row: Sequence[Any]) -> ChunkRow:
    """A chunk from CHUNK_COLUMNS, of a note with this path and title. Raises ValueError for a number of nothing."""
    ordinal, start, end, first, last, page, heading, language, text, prefix, whole, content, key, _, _ = row
    return ChunkRow(
        uid=f"{path}#{ordinal}",
        path=path,
        title=title,
        ordinal=ordinal,
        start=start,
        end=end,
        lines=(first, last),
        page=page,
        heading=shared.path(heading),
        language=language,
        text=text,
        index_text=shared.index_text(text, prefix, whole),
        content=content,
        key=key,
    )


def read_contents(rows: Sequence[Any], notes: Sequence[Any], vocabulary: Mapping[str, int]) -> Contents:
    """Chunks (a path before CHUNK_COLUMNS) and their notes (NOTE_COLUMNS, checksum), both in the order of paths.

    A note of one chunk has no terms of its own: they are the chunk's. Raises ValueError for what cannot be read, or is
    not what was written.
    """
    for *columns, written in notes:
        if checksum(note_columns(*columns)) != written:
            raise ValueError(f"the note {columns[0]!r} is not what was written")
    of = {row[0]: (row[4], unshare(row[7])) for row in notes}
    chunks = tuple(read_chunk_row(row[0], *of[row[0]], row[1:]) for row in rows)
    step = -(-len(rows) // SAMPLE) or 1
    for at in range(randrange(step), len(rows), step):
        chunk, packed, written = chunks[at], rows[at][-2], rows[at][-1]
        if checksum(chunk_columns(chunk, chunk.key, chunk.content, packed)) != written:
            raise ValueError(f"the chunk {chunk.uid} is not what was written")
    own = {row[0]: row[8] for row in notes}
    alone = {path for path, count in Counter(row[0] for row in rows).items() if count == 1}
    own |= {row[0]: row[-2] for row in rows if row[0] in alone}
    forward = unpack_forward([row[-2] for row in rows], vocabulary)
    return Contents(chunks, forward, tuple(own), unpack_forward(list(own.values()), vocabulary))
