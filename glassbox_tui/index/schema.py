"""The tables of an index, the account that is kept of them, and what SQLite's errors mean in words.

`account` counts the rows of each table, and sums the checksums of the chunks and of the terms. It is kept inside the
transaction that changes a row, mostly by triggers, so it is right at every commit; a start compares it with the tables.

Each note, chunk, vector and row of token codes has a checksum of its own. A start compares those of all notes and
vectors and of a sample of the others, a search those of the codes it reads; `doctor` compares every one.
"""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from glassbox_tui.errors import GlassboxError

SCHEMA_VERSION = 5
COUNTED = ("notes", "chunks", "vectors", "token_codes")

_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE account(name TEXT PRIMARY KEY, amount INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE notes(
  id INTEGER PRIMARY KEY, collection TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL, mtime_ns INTEGER NOT NULL,
  size INTEGER NOT NULL, seen_ns INTEGER NOT NULL, kind TEXT NOT NULL, encoding TEXT NOT NULL, title TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT NOT NULL, warnings TEXT NOT NULL, chunker TEXT NOT NULL,
  shared TEXT NOT NULL, terms BLOB NOT NULL, checksum INTEGER NOT NULL, UNIQUE(collection, path));
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL REFERENCES notes(id) ON DELETE CASCADE, ordinal INTEGER NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, page INTEGER,
  heading INTEGER, language TEXT NOT NULL,
  text TEXT NOT NULL, prefix INTEGER, index_text TEXT, content TEXT NOT NULL, key TEXT NOT NULL,
  terms BLOB NOT NULL, checksum INTEGER NOT NULL, UNIQUE(note_id, ordinal));
CREATE INDEX chunks_key ON chunks(key, checksum);
CREATE TABLE terms(id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
CREATE TABLE vectors(
  model TEXT NOT NULL, key TEXT NOT NULL, checksum INTEGER NOT NULL, vector BLOB NOT NULL,
  PRIMARY KEY(model, key)) WITHOUT ROWID;
CREATE TABLE token_codes(
  model TEXT NOT NULL, key TEXT NOT NULL, checksum INTEGER NOT NULL, truncated INTEGER NOT NULL, codes BLOB NOT NULL,
  UNIQUE(model, key));
"""


def statements() -> list[str]:
    """What makes an empty index, one SQL statement an item."""
    made = [statement for statement in _TABLES.split(";\n") if statement.strip()]
    made += [f"INSERT INTO account VALUES ('{name}', 0)" for name in (*COUNTED, "checksum", "vocabulary")]
    for table in COUNTED:
        for event, row, sign in (("INSERT", "NEW", "+"), ("DELETE", "OLD", "-")):
            steps = [f"UPDATE account SET amount = amount {sign} 1 WHERE name = '{table}';"]
            if table == "chunks":
                steps.append(f"UPDATE account SET amount = amount {sign} {row}.checksum WHERE name = 'checksum';")
            made.append(f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} BEGIN {' '.join(steps)} END")
    return [*made, f"INSERT INTO meta VALUES ('schema', '{SCHEMA_VERSION}')"]


def account_fault(db: sqlite3.Connection) -> str:
    """What the tables hold that the account does not, in words; "" if they agree. Inside a transaction of the caller's.

    Raises sqlite3.Error if there is no account.
    """
    expected = dict(db.execute("SELECT name, amount FROM account").fetchall())
    found = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COUNTED}
    found["checksum"] = db.execute("SELECT coalesce(sum(checksum), 0) FROM chunks").fetchone()[0]
    for name, amount in found.items():
        if expected.get(name) != amount:
            if name == "checksum":
                return "the checksums of its chunks are not those that were written"
            return f"it holds {amount:,} {name.replace('_', ' ')}, and {expected.get(name, 0):,} were written"
    return ""


class StoreError(GlassboxError):
    """The index on disk cannot be opened or written; the message says where and what to do."""


class SchemaError(StoreError):
    """The index was written by another version of this program."""


class DamagedError(StoreError):
    """The index file is no database, or one whose pages or rows contradict each other."""


_HINTS = {
    sqlite3.SQLITE_FULL: ": make room; what was indexed so far is kept",
    sqlite3.SQLITE_BUSY: ": another process is writing it, try again",
    sqlite3.SQLITE_READONLY: ": GLASSBOX_DATA names another place for it",
    sqlite3.SQLITE_IOERR: ": is the disk full, or gone? What was indexed so far is kept",
}
_NOT_WRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_NOT_WRITABLE_OS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


def store_error(path: Path | None, error: Exception) -> StoreError:
    """What SQLite or the disk said, as a sentence that names the file and, where there is one, the way out."""
    code = _code(error)
    # What was written was UTF-8, and our own statements are sound: where either is not so, somebody wrote over it.
    odd = any(words in str(error) for words in ("Could not decode to UTF-8", "no such column", "no such table"))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or odd:
        return DamagedError(f"the index {path} is damaged ({error})")
    return StoreError(f"cannot use the index {path}: {reason(error)}{_HINTS.get(code, '')}")


def reason(error: Exception) -> str:
    """What went wrong, in the words of SQLite or of the system."""
    return str(getattr(error, "strerror", None) or error)


def not_writable(error: Exception) -> bool:
    """Whether an index that raised this may still be read: the disk is full, or the place takes no writing."""
    return _code(error) in _NOT_WRITABLE or (isinstance(error, OSError) and error.errno in _NOT_WRITABLE_OS)


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
