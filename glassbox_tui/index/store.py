"""The truth on disk: one SQLite database (WAL) per index. Everything else is rebuilt from it.

    notes        one row a file: path, hash, mtime, size, encoding, title, status, and what chunked it
    chunks       spans of notes; `terms`, as in notes, is the forward index: term ids and counts, for the postings
    terms        the vocabulary
    vectors      by (model, key): key is the hash of the embedded text, so unchanged chunks keep their vectors, equal
    token_codes  chunks share one, and two models never mix
    meta         schema version, model names, generations

To look inside: sqlite3 index.sqlite "select path, status, reason from notes".
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from glassbox_tui.errors import GlassboxError

P = ParamSpec("P")
R = TypeVar("R")

SCHEMA_VERSION = 2
COLLECTION = "default"

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes(
  id INTEGER PRIMARY KEY, collection TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL, mtime_ns INTEGER NOT NULL,
  size INTEGER NOT NULL, seen_ns INTEGER NOT NULL, kind TEXT NOT NULL, encoding TEXT NOT NULL, title TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT NOT NULL, warnings TEXT NOT NULL, chunker TEXT NOT NULL,
  terms BLOB NOT NULL, UNIQUE(collection, path));
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL REFERENCES notes(id) ON DELETE CASCADE, ordinal INTEGER NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, page INTEGER,
  heading TEXT NOT NULL, language TEXT NOT NULL,
  text TEXT NOT NULL, index_text TEXT, content TEXT NOT NULL, key TEXT NOT NULL,
  terms BLOB NOT NULL, UNIQUE(note_id, ordinal));
CREATE INDEX chunks_key ON chunks(key);
CREATE TABLE terms(id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
CREATE TABLE vectors(
  model TEXT NOT NULL, key TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(model, key)) WITHOUT ROWID;
CREATE TABLE token_codes(
  model TEXT NOT NULL, key TEXT NOT NULL, truncated INTEGER NOT NULL, codes BLOB NOT NULL, UNIQUE(model, key));
"""


class StoreError(GlassboxError):
    """The index on disk cannot be opened or written; the message says where and what to do."""


class SchemaError(StoreError):
    """The index was written by another version of this program."""


class DamagedError(StoreError):
    """The index file is no database, or one whose pages contradict each other."""


def _store_error(path: Path | None, error: Exception) -> StoreError:
    """What SQLite or the disk said, as a sentence that names the file and, where there is one, the way out."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DamagedError(f"the index {path} is damaged ({error})")
    hint = {
        sqlite3.SQLITE_FULL: ": make room; what was indexed so far is kept",
        sqlite3.SQLITE_BUSY: ": another process is writing it, try again",
        sqlite3.SQLITE_READONLY: ": GLASSBOX_DATA names another place for it",
    }.get(code, "")
    return StoreError(f"cannot use the index {path}: {getattr(error, 'strerror', None) or error}{hint}")


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


def _told(method: Callable[Concatenate[Store, P], R]) -> Callable[Concatenate[Store, P], R]:
    """What SQLite raises reaches the caller as a StoreError: a full disk is no traceback."""

    @wraps(method)
    def call(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, OSError) as error:
            raise _store_error(self.path, error) from error

    return call


def text_hash(text: str) -> str:
    """Identifies a text across edits and notes: 128 bits of BLAKE2b, hex."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def open_store(path: Path) -> tuple[Store, tuple[str, ...]]:
    """The index at `path`, and notices. A damaged one, or another version's, is set aside and begun anew.

    The new one takes over the vectors that can still be read. Raises StoreError.
    """
    try:
        return Store(path), ()
    except (SchemaError, DamagedError) as error:
        aside = path.with_name(f"{path.name}.set-aside-{time.strftime('%Y%m%d-%H%M%S')}")
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
        store = Store(path)
        kept = store.take_embeddings(aside)
        reused = f", with {kept} of its vectors" if kept else ""
        return store, (f"{error}: it was set aside as {aside.name} and is built anew{reused}",)


class Store:
    """One index database. One process writes (the caller holds the lock); any number read.

    The writing connection belongs to whoever updates. Each thread that reads has a connection of its own, so that WAL
    lets searches pass while an update writes.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or create; None keeps everything in memory. Raises StoreError."""
        self.path = path
        self._connections: list[sqlite3.Connection] = []
        self._local = threading.local()
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                path.parent.chmod(0o700)  # it copies private notes, whatever the umask was when it was made
            self._write = self._connect()
            self._create_or_check()
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise _store_error(path, error) from error
        except StoreError:
            self.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        target = ":memory:" if self.path is None else str(self.path)
        connection = sqlite3.connect(target, timeout=10.0, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        self._connections.append(connection)
        return connection

    @property
    def _read(self) -> sqlite3.Connection:
        if self.path is None:
            return self._write
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection

    def _create_or_check(self) -> None:
        """The tables, made or found whole. Every start reads all of the file: damage shows here or blocks them all."""
        if (state := str(self._write.execute("PRAGMA quick_check(1)").fetchone()[0])) != "ok":
            raise DamagedError(f"the index {self.path} is damaged ({' '.join(state.split())[:120]})")
        with self._transaction() as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                for statement in _SCHEMA.split(";\n"):
                    db.execute(statement)
                db.execute("INSERT INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))
            found = self.meta("schema")
        if found != str(SCHEMA_VERSION):
            raise SchemaError(f"the index {self.path} has schema {found}, this program reads {SCHEMA_VERSION}")

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. IMMEDIATE, so that a second writer waits at the start and not in the middle."""
        self._write.execute("BEGIN IMMEDIATE")
        try:
            yield self._write
            self._write.execute("COMMIT")
        except BaseException:
            if self._write.in_transaction:  # SQLite rolls back by itself when the disk is full
                self._write.execute("ROLLBACK")
            raise

    # -- writing -------------------------------------------------------------------------------------------------

    @_told
    def others_wrote(self) -> int:
        """A number that changes when another process has written to this index."""
        return int(self._write.execute("PRAGMA data_version").fetchone()[0])

    @_told
    def meta(self, key: str) -> str | None:
        row = self._write.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    @_told
    def set_meta(self, key: str, value: str) -> None:
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @_told
    def replace_note(self, note: NoteRecord, chunks: Sequence[ChunkRecord], counts: Mapping[str, int]) -> None:
        """Put `note` in the place of whatever stood under its path, in one transaction.

        `counts` are the whole note's terms, where a passage that two chunks share counts once.
        """
        with self._transaction() as db:
            db.execute("DELETE FROM notes WHERE collection = ? AND path = ?", (COLLECTION, note.path))
            ids = self._term_ids(db, {term for chunk in chunks for term in chunk.counts} | counts.keys())
            row = (*_note_row(note), _pack_counts(counts, ids))
            cursor = db.execute(f"INSERT INTO notes VALUES (NULL{', ?' * 14})", row)
            rows = ((cursor.lastrowid, *_chunk_row(chunk, ids)) for chunk in chunks)
            db.executemany(f"INSERT INTO chunks VALUES (NULL{', ?' * 14})", rows)

    def _term_ids(self, db: sqlite3.Connection, terms: set[str]) -> dict[str, int]:
        db.executemany("INSERT OR IGNORE INTO terms(term) VALUES (?)", ((t,) for t in sorted(terms)))
        ids: dict[str, int] = {}
        ordered = sorted(terms)
        for at in range(0, len(ordered), 500):
            batch = ordered[at : at + 500]
            marks = ",".join("?" * len(batch))
            ids.update(db.execute(f"SELECT term, id FROM terms WHERE term IN ({marks})", batch).fetchall())
        return ids

    @_told
    def touch_note(self, path: str, mtime_ns: int, size: int, seen_ns: int) -> None:
        """The file was written but holds what it held: remember its new times and nothing else."""
        with self._transaction() as db:
            db.execute(
                "UPDATE notes SET mtime_ns = ?, size = ?, seen_ns = ? WHERE collection = ? AND path = ?",
                (mtime_ns, size, seen_ns, COLLECTION, path),
            )

    @_told
    def remove_notes(self, paths: Iterable[str]) -> None:
        with self._transaction() as db:
            db.executemany("DELETE FROM notes WHERE collection = ? AND path = ?", ((COLLECTION, p) for p in paths))

    @_told
    def put_embeddings(self, model: str, embeddings: Sequence[Embedding]) -> None:
        """Store vectors and token codes together, so that no crash leaves one without the other."""
        with self._transaction() as db:
            db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                ((model, e.key, e.vector.astype("<f4").tobytes()) for e in embeddings),
            )
            db.executemany(
                "INSERT OR REPLACE INTO token_codes(model, key, truncated, codes) VALUES (?, ?, ?, ?)",
                ((model, e.key, e.truncated, e.codes.tobytes()) for e in embeddings if e.codes is not None),
            )

    @_told
    def take_embeddings(self, other: Path) -> int:
        """Take over what another index file holds of vectors, as far as it can be read. Returns how many.

        Vectors that are no unit vectors stay behind, and so do those whose token codes are lost.
        """
        taken = 0
        batch: list[tuple[str, Embedding]] = []

        def flush() -> None:
            nonlocal taken
            for model in {model for model, _ in batch}:
                self.put_embeddings(model, [embedding for of, embedding in batch if of == model])
            taken += len(batch)
            batch.clear()

        with suppress(sqlite3.Error), closing(sqlite3.connect(other)) as source:
            coded = {model for (model,) in source.execute("SELECT DISTINCT model FROM token_codes")}
            rows = source.execute(
                "SELECT v.model, v.key, v.vector, t.truncated, t.codes FROM vectors v"
                " LEFT JOIN token_codes t ON t.model = v.model AND t.key = v.key"
            )
            for model, key, blob, truncated, codes in rows:
                vector = np.frombuffer(blob, dtype="<f4") if len(blob) % 4 == 0 else np.zeros(0, np.float32)
                if not abs(float(vector @ vector) - 1) <= 1e-3 or (codes is None and model in coded):  # nan too
                    continue
                packed = None if codes is None else np.frombuffer(codes, dtype=np.uint8)
                batch.append((model, Embedding(key, vector, packed, truncated or 0)))
                if len(batch) >= 500:
                    flush()
        flush()
        return taken

    @_told
    def drop_orphans(self) -> int:
        """Forget embeddings no chunk uses any more, of every model. Returns how many vectors went."""
        with self._transaction() as db:
            gone = db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM chunks)").rowcount
            db.execute("DELETE FROM token_codes WHERE key NOT IN (SELECT key FROM chunks)")
            return gone

    # -- reading -------------------------------------------------------------------------------------------------

    @_told
    def notes(self) -> list[NoteRecord]:
        """Every file the index knows, by path."""
        rows = self._read.execute(
            "SELECT path, hash, mtime_ns, size, seen_ns, kind, encoding, title, status, reason, warnings, chunker"
            " FROM notes WHERE collection = ? ORDER BY path",
            (COLLECTION,),
        )
        return [NoteRecord(*(*r[:10], tuple(json.loads(r[10])), r[11])) for r in rows]

    @_told
    def read_all(self) -> Contents:
        """All chunks in (path, start) order with the forward indexes, read in one transaction."""
        self._read.execute("BEGIN")
        try:
            rows = self._read.execute(
                'SELECT n.path, n.title, c.ordinal, c.start, c."end", c.first_line, c.last_line, c.page, c.heading,'
                " c.language, c.text, c.index_text, c.content, c.key, c.terms"
                " FROM chunks c JOIN notes n ON n.id = c.note_id"
                " WHERE n.collection = ? ORDER BY n.path, c.ordinal",
                (COLLECTION,),
            ).fetchall()
            notes = self._read.execute(
                "SELECT path, terms FROM notes n WHERE collection = ? AND EXISTS"
                " (SELECT 1 FROM chunks c WHERE c.note_id = n.id) ORDER BY path",
                (COLLECTION,),
            ).fetchall()
            vocabulary = dict(self._read.execute("SELECT term, id FROM terms").fetchall())
        finally:
            self._read.execute("COMMIT")
        chunks = [_read_chunk_row(row) for row in rows]
        return Contents(
            tuple(chunks),
            _unpack_forward([r[14] for r in rows], vocabulary),
            tuple(path for path, _ in notes),
            _unpack_forward([blob for _, blob in notes], vocabulary),
        )

    @_told
    def missing_keys(self, model: str) -> list[str]:
        """Keys of chunks that have no vector of this model, newest notes first, then in reading order."""
        rows = self._read.execute(
            "SELECT c.key FROM chunks c JOIN notes n ON n.id = c.note_id"
            " WHERE c.key NOT IN (SELECT key FROM vectors WHERE model = ?) ORDER BY n.mtime_ns DESC, n.path, c.ordinal",
            (model,),
        )
        return list(dict.fromkeys(r[0] for r in rows))

    @_told
    def index_text(self, key: str) -> str | None:
        """The text that embeds to `key`; None if its chunk is gone."""
        row = self._read.execute("SELECT index_text, text FROM chunks WHERE key = ? LIMIT 1", (key,)).fetchone()
        return None if row is None else (row[1] if row[0] is None else row[0])

    @_told
    def vectors(self, model: str) -> dict[str, bytes]:
        """Key -> little-endian float32 bytes, for this model."""
        return dict(self._read.execute("SELECT key, vector FROM vectors WHERE model = ?", (model,)).fetchall())

    @_told
    def token_codes(self, model: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Key -> packed codes, for those keys that have them."""
        found: dict[str, bytes] = {}
        unique = list(dict.fromkeys(keys))
        for at in range(0, len(unique), 500):
            batch = unique[at : at + 500]
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, codes FROM token_codes WHERE model = ? AND key IN ({marks})"
            found.update(self._read.execute(query, (model, *batch)).fetchall())
        return found

    @_told
    def truncated(self, model: str) -> int:
        """How many chunks lost tokens to the model's limit."""
        query = "SELECT count(*) FROM token_codes WHERE model = ? AND truncated > 0"
        return int(self._read.execute(query, (model,)).fetchone()[0])


def _note_row(n: NoteRecord) -> tuple[str | int, ...]:
    """The columns of `notes` between the id and the terms, in the schema's order."""
    warnings = json.dumps(n.warnings, ensure_ascii=False)
    times = (n.mtime_ns, n.size, n.seen_ns)
    return (COLLECTION, n.path, n.digest, *times, n.kind, n.encoding, n.title, n.status, n.reason, warnings, n.chunker)


def _chunk_row(c: ChunkRecord, ids: Mapping[str, int]) -> tuple[str | int | bytes | None, ...]:
    """The columns of `chunks` after the ids, in the schema's order; index_text is NULL where it is the text itself."""
    heading = json.dumps(c.heading, ensure_ascii=False)
    index_text = None if c.index_text == c.text else c.index_text
    hashes = (text_hash(c.text), text_hash(c.index_text))
    return (
        *(c.ordinal, c.start, c.end, *c.lines, c.page, heading, c.language),
        *(c.text, index_text, *hashes, _pack_counts(c.counts, ids)),
    )


def _read_chunk_row(row: tuple[Any, ...]) -> ChunkRow:
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


def _pack_counts(counts: Mapping[str, int], ids: Mapping[str, int]) -> bytes:
    pairs = sorted((ids[term], n) for term, n in counts.items())
    return np.array(pairs, dtype="<i4").reshape(-1, 2).tobytes()


def _unpack_forward(blobs: Sequence[bytes], vocabulary: Mapping[str, int]) -> Forward:
    flat = np.frombuffer(b"".join(blobs), dtype="<i4").reshape(-1, 2)
    sizes = np.fromiter((len(b) // 8 for b in blobs), dtype=np.int64, count=len(blobs))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Forward(vocabulary, offsets, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]))
