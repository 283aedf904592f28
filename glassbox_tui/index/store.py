"""The truth on disk: one SQLite database (WAL) per index. Everything else is rebuilt from it.

    notes        one row a file: path, hash, mtime, size, encoding, title, status, what chunked it; `shared`: headings
                 and context lines of its chunks, which name them by number
    chunks       spans of notes; `terms`, as in notes, is the forward index: term ids and counts, for the postings
    terms        the vocabulary
    vectors      by (model, key): key is the hash of the embedded text, so unchanged chunks keep their vectors, equal
    token_codes  chunks share one, and two models never mix
    account      how many rows each of these holds, and the sum of the chunks' checksums
    meta         schema version, the notes' folder

To look inside: sqlite3 index.sqlite "select path, status, reason from notes".
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from filelock import FileLock, Timeout

from glassbox_tui.index.inherit import embeddings_of
from glassbox_tui.index.lock import lock_of
from glassbox_tui.index.postings import pack_counts
from glassbox_tui.index.rows import (
    COLLECTION,
    ChunkRecord,
    Column,
    Contents,
    Embedding,
    NoteRecord,
    checksum,
    note_columns,
    note_row,
)
from glassbox_tui.index.schema import (
    SCHEMA_VERSION,
    DamagedError,
    SchemaError,
    StoreError,
    account_fault,
    not_writable,
    reason,
    statements,
    store_error,
)
from glassbox_tui.index.sharing import CHUNK_COLUMNS, NOTE_COLUMNS, chunk_row, read_contents, share, unshare

P = ParamSpec("P")
R = TypeVar("R")


def _told(method: Callable[Concatenate[Store, P], R]) -> Callable[Concatenate[Store, P], R]:
    """What SQLite raises reaches the caller as a StoreError: a full disk is no traceback."""

    @wraps(method)
    def call(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, OSError) as error:
            raise store_error(self.path, error) from error

    return call


def open_store(path: Path) -> tuple[Store, tuple[str, ...]]:
    """The index at `path`, and notices. A damaged one, or another version's, is set aside and begun anew.

    The new one takes over the vectors that can still be read. One that cannot be written (a full disk, a place that
    takes no writing) is opened to be read. Raises StoreError.
    """
    try:
        store = Store(path)
    except (SchemaError, DamagedError):
        with _alone(lock_of(path), path):
            try:  # another process may have done it just now
                store = Store(path)
            except (SchemaError, DamagedError) as error:
                return set_aside(path, str(error))
    if store.read_only:
        return store, (f"the index {path} cannot be written ({store.read_only}): this is the index as it stands",)
    if store.is_new() and (aside := _aside(path)):  # killed between setting aside and taking over
        store.take_embeddings(aside[-1])
    return store, ()


def begin_anew(path: Path, why: str) -> tuple[Store, tuple[str, ...]]:
    """`set_aside`, under the writer's lock: for an index whose rows turn out to be unreadable. Raises StoreError."""
    with _alone(lock_of(path), path):
        return set_aside(path, why)


def _aside(path: Path) -> list[Path]:
    """Databases that were set aside, the latest last."""
    return sorted(p for p in path.parent.glob(f"{path.name}.set-aside-*") if not p.name.endswith(("-wal", "-shm")))


@contextmanager
def _alone(lock: FileLock, path: Path) -> Iterator[None]:
    try:
        with lock.acquire(timeout=0):
            yield
    except Timeout:
        raise StoreError(
            f"the index {path} is damaged or of another version, and another process writes it: try again later"
        ) from None
    except OSError as error:
        raise StoreError(
            f"the index {path} is damaged or of another version, and cannot be replaced: {reason(error)}"
        ) from None


def set_aside(path: Path, why: str) -> tuple[Store, tuple[str, ...]]:
    """Rename the index and begin it anew with the vectors that can be read; the caller holds the lock.

    What was set aside before goes: one copy of private notes is enough. `why`, the beginning of the notice, says what
    is wrong with the index. Raises StoreError, OSError.
    """
    for earlier in path.parent.glob(f"{path.name}.set-aside-*"):
        earlier.unlink()
    aside = path.with_name(f"{path.name}.set-aside-{time.strftime('%Y%m%d-%H%M%S')}")
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    store = Store(path)
    kept = store.take_embeddings(aside)
    reused = f", with {kept} of its vectors" if kept else ""
    return store, (f"{why}: it was set aside as {aside.name} and is built anew{reused}",)


class Store:
    """One index database. One process writes (the caller holds the lock); any number read.

    The writing connection belongs to whoever updates. Each thread that reads has a connection of its own, so that WAL
    lets searches pass while an update writes.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or create; None keeps everything in memory. Raises StoreError.

        `read_only` says why the index cannot be written; it is empty where it can.
        """
        self.path = path
        self.read_only = ""
        self.spoilt: set[tuple[str, str]] = set()  # (model, key) of embeddings that are not what was written
        self._target = ":memory:" if path is None else str(path)
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
            if path is None or not not_writable(error) or not self._opened_to_read(path, reason(error)):
                raise store_error(path, error) from error
        except StoreError:
            self.close()
            raise

    def _opened_to_read(self, path: Path, why: str) -> bool:
        """Whether the index as it was last left can be read although nothing can be written beside it.

        Immutable: without the files that SQLite would make there, and without what a killed writer left in them.
        """
        if not path.is_file():
            return False
        self.read_only = why
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            self._target = f"{path.absolute().as_uri()}?{mode}"
            try:
                self._write = self._connect()
                self._create_or_check()
                return True
            except sqlite3.Error:
                self.close()
        return False

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._target, timeout=10.0, check_same_thread=False, isolation_level=None, uri=bool(self.read_only)
        )
        self._connections.append(connection)
        if not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
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
        try:
            self._make_or_compare()
        except sqlite3.OperationalError as error:
            # Our own statements are sound: where SQLite objects to one, a table is missing or not the one we made.
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                raise DamagedError(f"the index {self.path} is damaged ({error})") from None
            raise

    def _make_or_compare(self) -> None:
        with self._transaction(reading=bool(self.read_only)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                for statement in statements():
                    db.execute(statement)
            found = self.meta("schema")
            if found != str(SCHEMA_VERSION):
                raise SchemaError(f"the index {self.path} has schema {found}, this program reads {SCHEMA_VERSION}")
            if fault := account_fault(db):
                raise DamagedError(f"the index {self.path} is damaged ({fault})")

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    @contextmanager
    def _transaction(self, reading: bool = False) -> Iterator[sqlite3.Connection]:
        """All or nothing. IMMEDIATE, so that a second writer waits at the start and not in the middle."""
        if self.read_only and not reading:
            raise StoreError(f"the index {self.path} cannot be written: {self.read_only}")
        self._write.execute("BEGIN" if reading else "BEGIN IMMEDIATE")
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
    def is_new(self) -> bool:
        """Whether nothing was ever put into it."""
        return not self._write.execute("SELECT 1 FROM account WHERE amount > 0").fetchone()

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
            shared, places = share(chunks)
            packed = b"" if len(chunks) == 1 else pack_counts(counts, ids)  # else the chunk's are the note's
            whole = note_columns(
                note.path, note.digest, note.kind, note.encoding, note.title, note.status, note.chunker, shared, packed
            )
            row = (*note_row(note), shared, packed, checksum(whole))
            cursor = db.execute(f"INSERT INTO notes VALUES (NULL{', ?' * 16})", row)
            rows = ((cursor.lastrowid, *chunk_row(chunk, at, ids)) for chunk, at in zip(chunks, places, strict=True))
            db.executemany(f"INSERT INTO chunks VALUES (NULL{', ?' * 16})", rows)

    def _term_ids(self, db: sqlite3.Connection, terms: set[str]) -> dict[str, int]:
        ordered = sorted(terms)
        ids = self._ids(db, ordered)
        if new := [term for term in ordered if term not in ids]:
            db.executemany("INSERT INTO terms(term) VALUES (?)", ((term,) for term in new))
            total = sum(checksum((term,)) for term in new)
            db.execute("UPDATE account SET amount = amount + ? WHERE name = 'vocabulary'", (total,))
            ids |= self._ids(db, new)
        return ids

    def _ids(self, db: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
        ids: dict[str, int] = {}
        for at in range(0, len(terms), 500):
            batch = terms[at : at + 500]
            marks = ",".join("?" * len(batch))
            ids.update(db.execute(f"SELECT term, id FROM terms WHERE term IN ({marks})", batch).fetchall())
        return ids

    @_told
    def touch_note(self, note: NoteRecord) -> None:
        """Its text stays: remember its file's times, and what is to be said of it, and nothing else."""
        warnings = json.dumps(note.warnings, ensure_ascii=False)
        with self._transaction() as db:
            db.execute(
                "UPDATE notes SET mtime_ns = ?, size = ?, seen_ns = ?, reason = ?, warnings = ?"
                " WHERE collection = ? AND path = ?",
                (note.mtime_ns, note.size, note.seen_ns, note.reason, warnings, COLLECTION, note.path),
            )

    @_told
    def remove_notes(self, paths: Iterable[str]) -> None:
        with self._transaction() as db:
            db.executemany("DELETE FROM notes WHERE collection = ? AND path = ?", ((COLLECTION, p) for p in paths))

    @_told
    def put_embeddings(self, model: str, embeddings: Sequence[Embedding]) -> None:
        """Store vectors and token codes together, so that no crash leaves one without the other."""
        with self._transaction() as db:
            # No REPLACE: the account would not hear of the row that goes.
            db.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?) ON CONFLICT(model, key)"
                " DO UPDATE SET checksum = excluded.checksum, vector = excluded.vector",
                (e.vector_row(model) for e in embeddings),
            )
            db.executemany(
                "INSERT INTO token_codes VALUES (?, ?, ?, ?, ?) ON CONFLICT(model, key) DO UPDATE"
                " SET checksum = excluded.checksum, truncated = excluded.truncated, codes = excluded.codes",
                (e.codes_row(model) for e in embeddings if e.codes is not None),
            )

    @_told
    def take_embeddings(self, other: Path) -> int:
        """Take over the sound vectors of another index file. Returns how many."""
        taken = 0
        for model, embeddings in embeddings_of(other):
            self.put_embeddings(model, embeddings)
            taken += len(embeddings)
        return taken

    @_told
    def remove_embeddings(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Forget vectors and token codes by (model, key); the next update makes those that a chunk needs."""
        with self._transaction() as db:
            for pair in list(pairs):
                self.spoilt.discard(pair)
                db.execute("DELETE FROM vectors WHERE model = ? AND key = ?", pair)
                db.execute("DELETE FROM token_codes WHERE model = ? AND key = ?", pair)

    @_told
    def forget_model(self, model: str) -> None:
        """Forget every vector and all token codes of this model."""
        with self._transaction() as db:
            for table in ("vectors", "token_codes"):
                db.execute(f"DELETE FROM {table} WHERE model = ?", (model,))

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
        try:
            return [NoteRecord(*(*r[:10], () if r[10] == "[]" else tuple(json.loads(r[10])), r[11])) for r in rows]
        except (ValueError, TypeError) as error:
            raise self._damaged(f"the warnings of a note cannot be read: {error}") from None

    @_told
    def read_all(self, paths: Sequence[str] | None = None, first_term: int = 0) -> Contents:
        """All chunks in (path, start) order with the forward indexes, read in one transaction.

        `paths` (a few hundred at most): only those of these notes. `first_term`: only this term id and those above it.
        """
        which = "" if paths is None else f" AND n.path IN ({','.join('?' * len(paths))})"
        bound = (COLLECTION, *(paths or ()))
        self._read.execute("BEGIN")
        try:
            rows = self._read.execute(
                f"SELECT n.path, {CHUNK_COLUMNS} FROM chunks c JOIN notes n ON n.id = c.note_id"
                f" WHERE n.collection = ?{which} ORDER BY n.path, c.ordinal",
                bound,
            ).fetchall()
            notes = self._read.execute(
                f"SELECT {NOTE_COLUMNS}, n.checksum FROM notes n WHERE collection = ?{which} AND EXISTS"
                " (SELECT 1 FROM chunks c WHERE c.note_id = n.id) ORDER BY path",
                bound,
            ).fetchall()
            vocabulary = dict(self._read.execute("SELECT term, id FROM terms WHERE id >= ?", (first_term,)).fetchall())
            written = self._read.execute("SELECT amount FROM account WHERE name = 'vocabulary'").fetchone()
        finally:
            self._read.execute("COMMIT")
        try:
            if not first_term and written != (sum(checksum((term,)) for term in vocabulary),):
                raise ValueError("its vocabulary is not what was written")
            return read_contents(rows, notes, vocabulary)
        except (ValueError, TypeError) as error:
            raise self._damaged(str(error)) from None

    def _damaged(self, why: str) -> DamagedError:
        return DamagedError(f"the index {self.path} is damaged ({why})")

    @_told
    def missing_keys(
        self, model: str, codes: bool = False, paths: Sequence[str] | None = None
    ) -> list[tuple[str, str]]:
        """(note, key) of each text that has no vector of this model, newest notes first, then in reading order.

        With `codes`, also of those that have no token codes. `paths` (a few hundred at most): only in these notes.
        """
        which = "" if paths is None else f" AND n.path IN ({','.join('?' * len(paths))})"
        tables = ("vectors", *(["token_codes"] if codes else []))
        lacking = " OR ".join(f"c.key NOT IN (SELECT key FROM {table} WHERE model = ?)" for table in tables)
        rows = self._read.execute(
            "SELECT c.key, n.path FROM chunks c JOIN notes n ON n.id = c.note_id"
            f" WHERE ({lacking}){which} ORDER BY n.mtime_ns DESC, n.path, c.ordinal",
            (*[model] * len(tables), *(paths or ())),
        ).fetchall()
        first = dict(reversed(rows))  # a text that several notes share belongs to the first
        return [(first[key], key) for key in dict.fromkeys(key for key, _ in rows)]

    @_told
    def index_text(self, key: str) -> str | None:
        """The text that embeds to `key`; None if its chunk is gone."""
        row = self._read.execute(
            "SELECT text, prefix, index_text, note_id FROM chunks WHERE key = ? LIMIT 1", (key,)
        ).fetchone()
        if row is None:
            return None
        text, prefix, whole, note = row
        shared = ""
        if prefix is not None:
            shared = self._read.execute("SELECT shared FROM notes WHERE id = ?", (note,)).fetchone()[0]
        return unshare(shared).index_text(text, prefix, whole)

    @_told
    def vectors(self, model: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        """Key -> little-endian float32 bytes, for this model: all, or for those of `keys` that have them.

        What is not what was written counts as none, here and in `token_codes`, and is noted in `spoilt`.
        """
        query = "SELECT key, vector, checksum FROM vectors WHERE model = ?"
        rows = self._read.execute(query, (model,)).fetchall() if keys is None else self._by(query, model, keys)
        return dict(self._sound(model, ((key, (model, key, blob), written) for key, blob, written in rows)))

    @_told
    def token_codes(self, model: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Key -> packed codes, for those keys that have them."""
        rows = self._by("SELECT key, truncated, codes, checksum FROM token_codes WHERE model = ?", model, keys)
        return dict(self._sound(model, ((key, (model, key, cut, blob), written) for key, cut, blob, written in rows)))

    @_told
    def some_vector(self, model: str) -> tuple[str, bytes] | None:
        """(key, bytes) of one vector of this model, of a chunk that is there if there is one; None: it has none."""
        query = "SELECT key, vector FROM vectors v WHERE model = ?"
        used = f"{query} AND EXISTS (SELECT 1 FROM chunks c WHERE c.key = v.key) LIMIT 1"
        found = (
            self._read.execute(used, (model,)).fetchone() or self._read.execute(f"{query} LIMIT 1", (model,)).fetchone()
        )
        return None if found is None else (str(found[0]), bytes(found[1]))

    @_told
    def models(self) -> dict[str, int]:
        """How many vectors there are of each model."""
        return dict(self._read.execute("SELECT model, count(*) FROM vectors GROUP BY model").fetchall())

    @_told
    def coded(self, model: str) -> list[str]:
        """The keys that have token codes."""
        return [key for (key,) in self._read.execute("SELECT key FROM token_codes WHERE model = ?", (model,))]

    def _sound(self, model: str, rows: Iterable[tuple[str, tuple[Column, ...], int]]) -> Iterator[tuple[str, bytes]]:
        for key, columns, written in rows:
            if checksum(columns) == written:
                yield key, columns[-1]  # type: ignore[misc]
            else:
                self.spoilt.add((model, key))

    def _by(self, query: str, model: str, keys: Sequence[str]) -> list[Any]:
        found: list[Any] = []
        unique = list(dict.fromkeys(keys))
        for at in range(0, len(unique), 500):
            batch = unique[at : at + 500]
            found += self._read.execute(f"{query} AND key IN ({','.join('?' * len(batch))})", (model, *batch))
        return found

    @_told
    def truncated(self, model: str) -> int:
        """How many chunks lost tokens to the model's limit."""
        query = "SELECT count(*) FROM token_codes WHERE model = ? AND truncated > 0"
        return int(self._read.execute(query, (model,)).fetchone()[0])
