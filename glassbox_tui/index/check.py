"""Looks an index over, row by row, without touching it: what is wrong, and what would mend it.

The database is opened to be read only, so that nothing is set aside, migrated or repaired behind the reader's back.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from glassbox_tui.index.indexer import note_counts
from glassbox_tui.index.lock import writer_of
from glassbox_tui.index.postings import count_postings, pack_counts
from glassbox_tui.index.reach import sort_out, unreachable
from glassbox_tui.index.rows import ChunkRow, checksum, chunk_columns, note_columns, text_hash
from glassbox_tui.index.schema import SCHEMA_VERSION, account_fault
from glassbox_tui.index.sharing import CHUNK_COLUMNS, NOTE_COLUMNS, read_chunk_row, unshare
from glassbox_tui.index.unread import told
from glassbox_tui.models.late_interaction import PER_BYTE
from glassbox_tui.notes.ignore import rules_of
from glassbox_tui.notes.load import UNREADABLE, digest_of, load, unread_reason
from glassbox_tui.notes.scan import FoundFile, NotesError, Scan, scan
from glassbox_tui.progress import Progress, ProgressFn
from glassbox_tui.settings import Settings
from glassbox_tui.text.tokens import terms

CURES = {
    "rebuild": "sets the index aside and builds it anew, with every vector that is sound",
    "reread": "reads these notes again",
    "reembed": "forgets these vectors and makes them anew",
    "drop": "deletes them",
    "recheck": "reads these notes again, and brings the index up to the folder",
    "update": "brings the index up to the folder",
    "private": "takes the rights of others away",
    "clear": "clears it",
    "model": "makes the model anew",
}
NORM_TOLERANCE = 1e-3
ROOM = 20_000_000  # bytes that should stay free beside what a rebuild of the index takes


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. `cure` is a key of CURES, "" where nothing is wrong or a person must act.

    `items`: what the cure is for: paths of notes (reread), "model key" pairs (reembed), a folder (model).
    """

    name: str
    ok: bool
    detail: str
    cure: str = ""
    items: tuple[str, ...] = field(default=(), repr=False)


def check_index(
    path: Path, root: Path, settings: Settings, progress: ProgressFn = lambda _: None
) -> tuple[Finding, ...]:
    """Every check of the index at `path`, of the folder `root`, that can be made; some need what others found sound."""
    found = [*_place(path)]
    if not path.is_file():
        return (*found, Finding("database", True, "there is none yet: any retrieve, ask or index command makes it"))
    with _reading(path) as db:
        if db is None:
            return (*found, Finding("database", False, "it cannot be opened, or is no database", "rebuild"))
        found += (whole := list(_database(db)))
        if all(one.ok for one in whole):
            seen, fault = _scanned(root, settings)
            looking = _Looking(db, root, settings, seen, fault, progress, writer_of(path)[1])
            for check in (_notes, _vocabulary, _chunks, _postings, _vectors, _token_codes, _orphans, _folder, _spans):
                found += _guarded(check, looking)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Looking:
    """What the checks of rows look at: the database and a scan of the folder, or in `fault` why there is none.

    `written`: another process is at work, so being behind is no fault.
    """

    db: sqlite3.Connection
    root: Path
    settings: Settings
    seen: Scan
    fault: str
    progress: ProgressFn
    written: bool

    @property
    def files(self) -> dict[str, FoundFile]:
        return {file.path: file for file in self.seen.files}

    def meta(self, key: str) -> str | None:
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])


def _scanned(root: Path, settings: Settings) -> tuple[Scan, str]:
    try:
        return scan(root, rules_of(settings)), ""
    except NotesError as error:
        return Scan((), ()), str(error)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """A read transaction; None where the file is no database. In a place that takes no writing: without the WAL."""
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None)) as db:
            db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            try:
                db.execute("BEGIN")
                db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.Error:
                continue
            yield db
            return
    yield None


def _guarded(check: Callable[[_Looking], Iterable[Finding]], looking: _Looking) -> list[Finding]:
    """What a check found. Damage that SQLite meets on the way is a finding too."""
    try:
        return list(check(looking))
    except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
        return [Finding(check.__name__.strip("_").replace("_", " "), False, f"cannot be read ({error})", "rebuild")]


# -- the place ---------------------------------------------------------------------------------------------------------


def _place(path: Path) -> Iterator[Finding]:
    folder = path.parent
    if folder.is_dir():
        mode = stat.S_IMODE(folder.stat().st_mode)
        private = not mode & 0o077
        yield Finding(
            "permissions",
            private,
            f"{folder} has mode {mode:o}{'' if private else ': others may look into it'}",
            "" if private else "private",
        )
        holder, held = writer_of(path)
        if holder is None:
            yield Finding("writer", True, "no process writes it")
        elif held:
            yield Finding("writer", True, f"{holder}, writes it now")
        else:
            yield Finding("writer", False, f"{holder}, was killed while it wrote; its lock is gone with it", "clear")
    standing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(standing).free
    needed = size_of(folder, set_aside=False) + ROOM
    short = "" if free >= needed else f", and building it anew takes {_mb(needed)}: make room"
    yield Finding("disk space", not short, f"{_mb(free)} free{short}")
    if aside := sum(file.stat().st_size for file in folder.glob("*.set-aside-*")):
        yield Finding("set aside", True, f"{_mb(aside)} of older files that were set aside; `purge` removes them too")


def size_of(folder: Path, set_aside: bool = True) -> int:
    """Bytes that an index folder holds."""
    files = (file for file in folder.glob("*") if file.is_file() and (set_aside or ".set-aside-" not in file.name))
    return sum(file.stat().st_size for file in files)


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


# -- the database as a whole -------------------------------------------------------------------------------------------


def _database(db: sqlite3.Connection) -> Iterator[Finding]:
    try:
        state = str(db.execute("PRAGMA integrity_check(1)").fetchone()[0])
        pages = db.execute("PRAGMA page_count").fetchone()[0]
    except sqlite3.Error as error:
        state, pages = str(error), 0
    yield _finding("database", " ".join(state.split())[:120] if state != "ok" else "", f"{pages:,} sound pages")
    if state != "ok":
        return
    try:
        schema = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        version = "none" if schema is None else str(schema[0])
    except sqlite3.Error:
        version = "none"
    other = "" if version == str(SCHEMA_VERSION) else f"it is {version}, this program reads {SCHEMA_VERSION}"
    yield _finding("schema", other, version)
    if other:
        return
    try:
        broken = db.execute("PRAGMA foreign_key_check").fetchall()
        yield _finding("foreign keys", f"{_count(len(broken), 'row')} without an owner" if broken else "", "all sound")
        counts = ", ".join(
            f"{amount:,} {name.replace('_', ' ')}"
            for name, amount in db.execute(
                "SELECT name, amount FROM account WHERE name NOT IN ('checksum', 'vocabulary')"
            )
        )
        yield _finding("account", account_fault(db), counts)
    except sqlite3.Error as error:
        yield Finding("account", False, f"a table cannot be read ({error})", "rebuild")


def _finding(name: str, wrong: str, right: str, cure: str = "rebuild", items: Sequence[str] = ()) -> Finding:
    return Finding(name, not wrong, wrong or right, cure if wrong else "", tuple(items) if wrong else ())


# -- the rows ----------------------------------------------------------------------------------------------------------


def _read(db: sqlite3.Connection) -> Iterator[tuple[ChunkRow, tuple[Any, ...], str, bytes, int]]:
    """Each chunk with what its checksum is of, its note's chunker, its terms and that checksum."""
    of = {
        path: (title, shared, chunker)
        for path, title, shared, chunker in db.execute("SELECT path, title, shared, chunker FROM notes")
    }
    rows = db.execute(
        f"SELECT n.path, {CHUNK_COLUMNS} FROM chunks c JOIN notes n ON n.id = c.note_id ORDER BY n.path, c.ordinal"
    )
    for path, *row in rows:
        title, shared, chunker = of[path]
        chunk, packed, written = read_chunk_row(path, title, unshare(shared), row), row[-2], row[-1]
        yield chunk, chunk_columns(chunk, chunk.key, chunk.content, packed), chunker, packed, written


def _notes(at: _Looking) -> Iterator[Finding]:
    """What is known of each note is what was written, and its warnings can be read."""
    wrong: dict[str, str] = {}
    count = 0
    for *columns, written, warnings in at.db.execute(f"SELECT {NOTE_COLUMNS}, n.checksum, n.warnings FROM notes n"):
        count += 1
        path = columns[0]
        if checksum(note_columns(*columns)) != written:
            wrong[path] = f"what is known of {path} is not what was written"
        else:
            try:
                readable = isinstance(json.loads(warnings), list)
            except ValueError:
                readable = False
            if not readable:
                wrong[path] = f"the warnings of {path} cannot be read"
    yield _per_note("rows of notes", wrong, f"{_count(count, 'row')} as written")


def _vocabulary(at: _Looking) -> Iterator[Finding]:
    terms_ = [term for (term,) in at.db.execute("SELECT term FROM terms")]
    written = at.db.execute("SELECT amount FROM account WHERE name = 'vocabulary'").fetchone()
    wrong = "" if written == (sum(checksum((term,)) for term in terms_),) else "it is not what was written"
    yield _finding("vocabulary", wrong, _count(len(terms_), "term"))


def _chunks(at: _Looking) -> Iterator[Finding]:
    """Text, hashes, spans and order of each chunk agree with one another."""
    wrong: dict[str, str] = {}
    count, last = 0, ("", -1, -1)
    for chunk, columns, _, _, written in _read(at.db):
        count += 1
        before = last if last[0] == chunk.path else (chunk.path, -1, -1)
        last = (chunk.path, chunk.ordinal, chunk.start)
        fault = ""
        if checksum(columns) != written:
            fault = "is not what was written"
        elif chunk.content != text_hash(chunk.text) or chunk.key != text_hash(chunk.index_text):
            fault = "has a hash that is not its text's"
        elif chunk.end - chunk.start != len(chunk.text):
            fault = "has a span that is not as long as its text"
        elif chunk.ordinal != before[1] + 1 or chunk.start < before[2]:
            fault = "does not follow the chunk before it"
        if fault:
            wrong.setdefault(chunk.path, f"{chunk.uid} {fault}")
    yield _per_note("chunks", wrong, f"{count:,} with the text, hash and span that were written")


def _postings(at: _Looking) -> Iterator[Finding]:
    """The forward index is what the texts tokenise to today."""
    ids: dict[str, int] = dict(at.db.execute("SELECT term, id FROM terms").fetchall())
    notes = {path: (title, blob) for path, title, blob in at.db.execute("SELECT path, title, terms FROM notes")}
    wrong: dict[str, str] = {}
    postings = 0

    def compare(path: str, what: str, counts: Mapping[str, int], stored: bytes) -> None:
        missing = next((term for term in counts if term not in ids), None)
        if missing is not None or pack_counts(counts, ids) != stored:
            wrong.setdefault(path, f"{what} is indexed under other words than its text holds")

    for path, group in _by_note(_read(at.db)):
        size = _min_token_len(group[0][2], at.settings)
        read = partial(terms, min_token_len=size)
        for chunk, _, _, stored, _ in group:
            postings += count_postings(stored)
            compare(path, chunk.uid, Counter(read(chunk.index_text)), stored)
        title, stored = notes[path]
        alone = len(group) == 1  # then the note has no terms of its own
        compare(path, path, {} if alone else note_counts(title, [row[0] for row in group], read), stored)
    yield _per_note("postings", wrong, f"{postings:,} of {len(ids):,} terms are those of the texts")


def _by_note(
    rows: Iterable[tuple[ChunkRow, Any, str, bytes, int]],
) -> Iterator[tuple[str, list[tuple[ChunkRow, Any, str, bytes, int]]]]:
    from itertools import groupby

    for path, group in groupby(rows, key=lambda row: row[0].path):
        yield path, list(group)


def _min_token_len(chunker: str, settings: Settings) -> int:
    """What the note was indexed with: the fifth part of its fingerprint; chunks handed in ready-made have none."""
    parts = chunker.split("/")
    return int(parts[4]) if len(parts) > 4 and parts[4].isdecimal() else settings.min_token_len


def _vectors(at: _Looking) -> Iterator[Finding]:
    """Unit length and one dimension a model; and how many chunks have one."""
    bad: list[str] = []
    sizes: dict[str, Counter[int]] = {}
    for model, key, blob, written in at.db.execute("SELECT model, key, vector, checksum FROM vectors"):
        sizes.setdefault(model, Counter())[len(blob)] += 1
        vector = np.frombuffer(blob, dtype="<f4") if len(blob) % 4 == 0 else np.zeros(0, np.float32)
        altered = checksum((model, key, blob)) != written
        if altered or not abs(float(vector @ vector) - 1.0) <= NORM_TOLERANCE:  # nan too
            bad.append(f"{model} {key}")
    usual = {model: counts.most_common(1)[0][0] for model, counts in sizes.items()}
    for model, key, size in at.db.execute("SELECT model, key, length(vector) FROM vectors"):
        if size != usual[model] and f"{model} {key}" not in bad:
            bad.append(f"{model} {key}")
    total = sum(sum(counts.values()) for counts in sizes.values())
    wrong = (
        f"{len(bad):,} of {total:,} are not what was written, or no unit vectors of their model's dimension"
        if bad
        else ""
    )
    dimensions = ", ".join(f"{model} {size // 4}-d" for model, size in sorted(usual.items()))
    yield _finding("vectors", wrong, f"{total:,} unit vectors ({dimensions})" if total else "none", "reembed", bad)

    keys = at.db.execute("SELECT count(DISTINCT key) FROM chunks").fetchone()[0]
    covered = {
        model: at.db.execute(
            "SELECT count(DISTINCT c.key) FROM chunks c JOIN vectors v ON v.key = c.key AND v.model = ?", (model,)
        ).fetchone()[0]
        for model in usual
    }
    best = max(covered.values(), default=keys)
    lacking = (
        ""
        if best == keys or at.written or at.settings.disable_dense
        else f"{keys - best:,} of {keys:,} texts have no vector yet"
    )
    told = ", ".join(f"{model} {count:,} of {keys:,} texts" for model, count in sorted(covered.items()))
    yield _finding("coverage", lacking, told or "no text is embedded", "update")


def _token_codes(at: _Looking) -> Iterator[Finding]:
    """Whole tokens, as wide as the model's vectors say, for each vector of a model that has codes at all."""
    bad = [
        f"{model} {key}"
        for model, key, cut, codes, vector, written in at.db.execute(
            "SELECT t.model, t.key, t.truncated, t.codes, length(v.vector), t.checksum FROM token_codes t"
            " LEFT JOIN vectors v ON v.model = t.model AND v.key = t.key"
        )
        if vector is None
        or not codes
        or len(codes) % max(vector // 4 // PER_BYTE, 1)
        or checksum((model, key, cut, codes)) != written
    ]
    count = at.db.execute("SELECT count(*) FROM token_codes").fetchone()[0]
    if not bad and at.settings.token_codes and not at.written:
        lacking = at.db.execute(
            "SELECT count(*) FROM vectors v WHERE model IN (SELECT DISTINCT model FROM token_codes) AND NOT EXISTS"
            " (SELECT 1 FROM token_codes t WHERE t.model = v.model AND t.key = v.key)"
        ).fetchone()[0]
        if lacking:
            yield Finding("token codes", False, f"{lacking:,} texts have a vector and no codes", "update")
            return
    wrong = f"{len(bad):,} of {count:,} have no vector, or are not what was written" if bad else ""
    yield _finding("token codes", wrong, f"{count:,} texts have whole ones" if count else "none", "reembed", bad)


def _orphans(at: _Looking) -> Iterator[Finding]:
    counts = [
        at.db.execute(f"SELECT count(*) FROM {table} WHERE key NOT IN (SELECT key FROM chunks)").fetchone()[0]
        for table in ("vectors", "token_codes")
    ]
    wrong = f"{counts[0]:,} vectors and {counts[1]:,} token codes are of no chunk" if any(counts) else ""
    yield _finding("orphans", "" if at.written else wrong, "none", "drop")


# -- the folder --------------------------------------------------------------------------------------------------------


def _folder(at: _Looking) -> Iterator[Finding]:
    """Whether the index knows the files of the folder as they are now."""
    if at.fault:
        yield Finding("notes", False, f"{at.fault}; the index is kept")
        return
    known, files = _known(at.db), at.files
    new, missing = sorted(files.keys() - known.keys()), sorted(known.keys() - files.keys())
    gone, kept = sort_out(missing, unreachable(at, at.root, at.seen, known))
    both = sorted(files.keys() & known.keys())
    unread = {path: why for path in both if known[path][0] and (why := unread_reason(files[path].absolute))}
    changed = [path for path in both if path not in unread and not _same(known[path], files[path])]
    behind = [
        f"{len(paths):,} {what} (such as {paths[0]})"
        for what, paths in (("new", new), ("changed", changed), ("gone", gone))
        if paths
    ]
    wrong = f"the index is behind the folder: {', '.join(behind)}" if behind and not at.written else ""
    out_of_reach = "".join(f"; {part}" for part in (*kept, *told(list(unread.items()))))
    right = f"all {len(files):,} files are known as they are{out_of_reach}"
    yield _finding("notes", wrong, right, "recheck" if changed else "update", changed)


def _known(db: sqlite3.Connection) -> dict[str, tuple[str, int, int, str, str]]:
    rows = db.execute("SELECT path, hash, mtime_ns, size, status, chunker FROM notes")
    return {path: (digest, mtime, size, status, chunker) for path, digest, mtime, size, status, chunker in rows}


def _same(known: tuple[str, int, int, str, str], file: FoundFile) -> bool:
    digest, mtime, size, status, _ = known
    if status == UNREADABLE:  # the next update tries again
        return bool(unread_reason(file.absolute))
    if not digest:  # it was never read: too large
        return (mtime, size) == (file.mtime_ns, file.size)
    return size == file.size and digest == digest_of(file.absolute)


def _spans(at: _Looking) -> Iterator[Finding]:
    """Each chunk's text stands in its note where the index says, in the notes that are as they were indexed."""
    known, files = _known(at.db), at.files
    groups = [
        (path, rows)
        for path, rows in _by_note(_read(at.db))
        if path in files and rows[0][2] != "ready-made" and _same(known[path], files[path])
    ]
    wrong: dict[str, str] = {}
    for done, (path, rows) in enumerate(groups):
        text = load(files[path].absolute, path).text
        if fault := next((row[0].uid for row in rows if text[row[0].start : row[0].end] != row[0].text), ""):
            wrong[path] = f"{fault} does not stand in its note where the index says"
        at.progress(Progress("text", done + 1, len(groups), path))
    yield _per_note("spans", wrong, f"the chunks of {_count(len(groups), 'note')} stand where the index says")


def _per_note(name: str, wrong: Mapping[str, str], right: str) -> Finding:
    if not wrong:
        return Finding(name, True, right)
    first = next(iter(wrong.values()))
    more = f", and {_count(len(wrong) - 1, 'more note')} like it" if len(wrong) > 1 else ""
    return Finding(name, False, first + more, "reread", tuple(wrong))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + "s" * (number != 1)
