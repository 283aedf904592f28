"""Brings the index up to date with a folder: first the text of changed notes, then the embeddings that are missing.

BM25 is searchable after the first step, before any vector exists. Each note is replaced in one transaction and each
embedding is stored as it is made, so a killed process resumes where it was and ends where a cold build would.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from glassbox_tui.index.reach import Kept, remember_mounts, sort_out, unreachable
from glassbox_tui.index.rows import ChunkRecord, ChunkRow, NoteRecord
from glassbox_tui.index.store import Store
from glassbox_tui.index.unread import is_unread, still_unread, told, unmarked
from glassbox_tui.models.protocols import Embedder
from glassbox_tui.models.truncation import CountsTokens
from glassbox_tui.notes.ignore import rules_of
from glassbox_tui.notes.lines import line_ranges, page_of
from glassbox_tui.notes.load import UNREADABLE, LoadedNote, digest_of, load
from glassbox_tui.notes.scan import FoundFile, Scan, Skipped, scan
from glassbox_tui.progress import Cancelled, CancelledFn, Progress, ProgressFn
from glassbox_tui.settings import Settings
from glassbox_tui.text.chunks import ChunkOptions, ChunkSpan, chunk
from glassbox_tui.text.language import language_of
from glassbox_tui.text.tokens import terms
from glassbox_tui.text.visible import has_visible

# Raise it when text/ or notes/ change what comes out for the same file: every note is then read again.
CHUNKER_VERSION = 3
# A file may change twice within one tick of the clock. One indexed this soon after its last change is checked by hash.
SETTLED_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What an update did. `skipped` are files left out at the scan; `problems` the ones read but not searchable.

    `pending` chunks still lack their embedding; `kept` are notes that are out of reach, or cannot be read, and stay as
    they were.
    `warnings` (path, sentence) are of notes that are searchable although something in them was mended or guessed.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    parsed: int = 0
    chunks: int = 0
    embedded: int = 0
    pending: int = 0
    seconds: float = 0.0
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    kept: tuple[Kept, ...] = ()
    locked: bool = False


@dataclass(slots=True)
class _Tally:
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    parsed: int = 0
    chunks: int = 0
    unread: list[tuple[str, str]] = field(default_factory=list)  # path, reason


def chunker_fingerprint(settings: Settings, embedder: Embedder) -> str:
    """Names everything that decides how a note is cut: notes with another fingerprint are cut again."""
    limit = embedder.token_limit if isinstance(embedder, CountsTokens) else 0
    tokenizer = embedder.name if limit else ""
    return (
        f"{CHUNKER_VERSION}/{settings.chunk_strategy}/{settings.chunk_chars}/{settings.chunk_overlap}"
        f"/{settings.min_token_len}/{limit}/{tokenizer}"
    )


@dataclass(frozen=True, slots=True)
class Calls:
    """How an update talks with whoever asked for it.

    `cancelled` stops it with Cancelled; `hold` leaves the rest of the embedding for later; `changed` is called whenever
    searches would see something new, `saw` when the folder was scanned, `between` before each chunk that is embedded.
    A note must be missing for `grace` seconds to count as gone: editors save by taking the old file away first.
    """

    progress: ProgressFn = lambda _: None
    cancelled: CancelledFn = lambda: False
    hold: CancelledFn = lambda: False
    changed: Callable[[], None] = lambda: None
    saw: Callable[[Scan], None] = lambda _: None
    between: Callable[[], None] = lambda: None
    grace: float = 0.0


@dataclass(slots=True)
class Books:
    """What the store holds of notes, by path, without asking it: kept in step by the one process that writes.

    `dirty`: paths of notes that were written or removed since somebody last emptied it.
    """

    notes: dict[str, NoteRecord]
    dirty: set[str] = field(default_factory=set)


def update_text(
    store: Store, root: Path, settings: Settings, embedder: Embedder, books: Books, calls: Calls
) -> UpdateReport:
    """Scan `root`, read what changed, forget what is gone. Raises Cancelled between notes; finished notes stay.

    What cannot be looked at is not gone: its notes stay as they were, and the report says so under `kept`.
    """
    calls.progress(Progress("scan", 0, 0, str(root)))
    began = time.monotonic()
    found = scan(root, rules_of(settings))
    calls.saw(found)
    fingerprint = chunker_fingerprint(settings, embedder)
    known, tally = set(books.notes), _Tally()
    for done, file in enumerate(found.files):
        if calls.cancelled():
            raise Cancelled
        _update_file(store, file, books, fingerprint, settings, embedder, tally)
        calls.progress(Progress("text", done + 1, len(found.files), file.path))
    gone = sorted(books.notes.keys() - {file.path for file in found.files})
    if gone and calls.grace:
        gone = _still_gone(gone, root, settings, began + calls.grace, calls.cancelled)
    out_of_reach = unreachable(store, root, found, known)
    gone, kept = sort_out(gone, out_of_reach)
    if gone:
        store.remove_notes(gone)
        books.dirty.update(gone)
        for path in gone:
            del books.notes[path]
    remember_mounts(store, root, kept)
    return _report(tally, found, len(gone), kept, books.notes)


def _still_gone(
    paths: Sequence[str], root: Path, settings: Settings, until: float, cancelled: CancelledFn
) -> list[str]:
    """Those of `paths` that have not come back at the time `until`, by a clock that only runs forward."""
    while (left := until - time.monotonic()) > 0:
        if cancelled():
            raise Cancelled
        time.sleep(min(left, 0.05))
    back = {
        file.path for file in scan(root, rules_of(settings)).files
    }  # by a scan: on some systems a.md and A.md are one file
    return [path for path in paths if path not in back]


def index_texts(
    store: Store,
    notes: Sequence[tuple[LoadedNote, str, Sequence[ChunkSpan] | None]],
    settings: Settings,
    embedder: Embedder,
) -> None:
    """Index notes that are not files: (note, id, its chunks or None to have it cut). What is there as it is, stays."""
    fingerprint = chunker_fingerprint(settings, embedder)
    known = {(note.path, note.digest, note.chunker) for note in store.notes()}
    for note, path, spans in notes:
        if spans is None and (path, note.digest, fingerprint) in known:
            continue
        chunker = fingerprint if spans is None else "ready-made"
        record = _note_record(note, FoundFile(path, Path(path), len(note.text), 0), chunker)
        chunks = _chunk_records(note, spans, settings, embedder)
        store.replace_note(record, chunks, _note_counts(note.title, chunks, settings.min_token_len))


def _report(
    tally: _Tally, found: Scan, removed: int, kept: tuple[Kept, ...], known: Mapping[str, NoteRecord]
) -> UpdateReport:
    notes = [known[path] for path in sorted(known)]
    return UpdateReport(
        added=tally.added,
        changed=tally.changed,
        removed=removed,
        unchanged=tally.unchanged,
        parsed=tally.parsed,
        chunks=tally.chunks,
        skipped=found.skipped,
        kept=(*kept, *told(tally.unread)),
        problems=tuple((note.path, note.reason or note.status) for note in notes if note.status != "ok"),
        warnings=tuple((note.path, warning) for note in notes for warning in note.warnings),
    )


def _update_file(
    store: Store,
    file: FoundFile,
    books: Books,
    fingerprint: str,
    settings: Settings,
    embedder: Embedder,
    tally: _Tally,
) -> None:
    seen = time.time_ns()  # before the file is read: what is written to it meanwhile is newer
    known = books.notes.get(file.path)
    if known is not None and known.chunker == fingerprint:
        same_times = (known.mtime_ns, known.size) == (file.mtime_ns, file.size)
        # An edit may keep the size and put the time back; what it cannot put back is the time of that.
        settled = known.seen_ns - max(known.mtime_ns, file.ctime_ns) > SETTLED_NS
        if same_times and settled and not is_unread(known):
            tally.unchanged += 1
            return
        if known.digest and known.digest == digest_of(file.absolute):
            same = replace(unmarked(known), mtime_ns=file.mtime_ns, size=file.size, seen_ns=seen)
            _keep(store, books, known, same, tally)
            return
    note = load(file.absolute, file.path)
    if known is not None and note.status == UNREADABLE:
        _keep(store, books, known, still_unread(known, note.reason), tally)
        if known.status != UNREADABLE:
            tally.unread.append((file.path, note.reason))
        return
    chunks = _chunk_records(note, None, settings, embedder)
    if note.status == "ok" and not chunks:
        note = replace(note, status="empty", reason="has no text")
    counts = _note_counts(note.title, chunks, settings.min_token_len)
    record = _note_record(note, file, fingerprint, seen)
    store.replace_note(record, chunks, counts)
    books.notes[file.path] = record
    books.dirty.add(file.path)
    tally.parsed += 1
    tally.chunks += len(chunks)
    if known is None:
        tally.added += 1
    else:
        tally.changed += 1


def _keep(store: Store, books: Books, known: NoteRecord, now: NoteRecord, tally: _Tally) -> None:
    """The note keeps its text; what else is known of it changes from `known` to `now`."""
    if now != known:
        store.touch_note(now)
        books.notes[now.path] = now
    if now.warnings != known.warnings or now.reason != known.reason:  # else nobody sees a difference
        books.dirty.add(now.path)
    tally.unchanged += 1


def _note_record(note: LoadedNote, file: FoundFile, fingerprint: str, seen_ns: int = 0) -> NoteRecord:
    return NoteRecord(
        file.path, note.digest, file.mtime_ns, file.size, seen_ns, note.kind, note.encoding, note.title, note.status,
        note.reason, note.warnings, fingerprint,
    )  # fmt: skip


def _chunk_records(
    note: LoadedNote, spans: Sequence[ChunkSpan] | None, settings: Settings, embedder: Embedder
) -> list[ChunkRecord]:
    if spans is None:
        cut = chunk(note.text, chunk_options(settings, embedder, note.kind), start=note.body_start, title=note.title)
        spans = [span for span in cut if has_visible(span.text)]  # a rule, or blanks of any kind, answer nothing
    lines = line_ranges(note.text, [(span.start, span.end) for span in spans])
    return [
        ChunkRecord(
            ordinal=i,
            start=span.start,
            end=span.end,
            lines=lines[i],
            page=page_of(note.pages, span.start),
            heading=span.heading,
            language=language_of(span.index_text),
            text=span.text,
            index_text=span.index_text,
            counts=Counter(terms(span.index_text, settings.min_token_len)),
        )
        for i, span in enumerate(spans)
    ]


def _note_counts(title: str, chunks: Sequence[ChunkRecord], min_token_len: int) -> Mapping[str, int]:
    return (
        chunks[0].counts
        if len(chunks) == 1
        else note_counts(title, chunks, partial(terms, min_token_len=min_token_len))
    )


def note_counts(
    title: str, chunks: Sequence[ChunkRecord | ChunkRow], read: Callable[[str], Iterable[str]]
) -> Counter[str]:
    """The whole note's terms, as `read` finds them in its chunks: what neighbours share counts once, the title once."""
    if len(chunks) == 1:
        return Counter(read(chunks[0].index_text))
    counts, end = Counter(read(title)), 0
    for c in chunks:
        plain = c.index_text.endswith(c.text)  # else a picture's data was left out of it
        counts.update(read(c.text[max(0, end - c.start) :] if plain else c.index_text))
        end = max(end, c.end)
    return counts


def chunk_options(settings: Settings, embedder: Embedder, kind: str) -> ChunkOptions:
    """How to cut a note of this kind so that no chunk is over what the embedder can read."""
    limited = embedder if isinstance(embedder, CountsTokens) and embedder.token_limit else None
    return ChunkOptions(
        chars=settings.chunk_chars,
        overlap=settings.chunk_overlap,
        strategy=settings.chunk_strategy,
        token_limit=limited.token_limit if limited else None,
        count_tokens=limited.count_tokens if limited else None,
        markdown=kind == "md",
    )
