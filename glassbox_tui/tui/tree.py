"""The notes folder as a tree of rows: pure functions over the engine's list of files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from glassbox_tui.retrieval.listing import SKIPPED, UNREAD, NoteInfo


class Standing(StrEnum):
    """What a search can make of a file."""

    INDEXED = "indexed"
    WAITING = "waiting"  # to be read, or for some of its vectors
    MISSING = "missing"  # no search finds it; its reason says why


def standing(note: NoteInfo) -> Standing:
    if note.status == UNREAD or (note.status == "ok" and note.vectors < note.chunks):
        return Standing.WAITING
    return Standing.INDEXED if note.status == "ok" else Standing.MISSING


@dataclass(frozen=True, slots=True)
class Counts:
    """Of a folder and everything below it. `notes` are the searchable ones, those that wait for vectors included."""

    notes: int = 0
    chunks: int = 0
    waiting: int = 0
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder; `path` has no slash at its end, the root's is ""."""

    path: str
    counts: Counts
    folders: tuple[Folder, ...] = ()
    files: tuple[NoteInfo, ...] = ()

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree: a folder (`open` or not) or a file. `depth` 0 stands at the left."""

    item: Folder | NoteInfo
    depth: int
    open: bool = False

    @property
    def path(self) -> str:
        return self.item.path

    @property
    def name(self) -> str:
        """The last part of the path; a folder that is left out keeps the slash at its end."""
        path = self.path
        return path[path.rstrip("/").rfind("/") + 1 :]


EMPTY = Folder("", Counts())


def parent(path: str) -> str:
    """The folder that holds `path`; "" for what stands at the top."""
    return path.rstrip("/").rpartition("/")[0]


def grown(notes: Iterable[NoteInfo]) -> Folder:
    """The root of the tree of `notes`; folders come before files, each by name."""
    files: dict[str, list[NoteInfo]] = {"": []}
    for note in notes:
        files.setdefault(parent(note.path), []).append(note)
    for path in list(files):
        for outer in above(path):
            files.setdefault(outer, [])
    inside: dict[str, list[Folder]] = {path: [] for path in files}
    # The deepest first, so that every folder finds those inside it made; a loop, for paths may be a thousand deep.
    root = EMPTY
    for path in sorted(files, key=lambda path: (-path.count("/"), path == "", _order(path))):
        own = tuple(sorted(files[path], key=lambda note: _order(note.path)))
        root = Folder(path, _counted(inside[path], own), tuple(inside[path]), own)
        if path:
            inside[parent(path)].append(root)
    return root


def _order(path: str) -> tuple[str, str]:
    return path.casefold(), path


def _counted(folders: Sequence[Folder], files: Sequence[NoteInfo]) -> Counts:
    standings = [standing(note) for note in files]
    return Counts(
        notes=sum(note.status == "ok" for note in files) + sum(f.counts.notes for f in folders),
        chunks=sum(note.chunks for note in files) + sum(f.counts.chunks for f in folders),
        waiting=standings.count(Standing.WAITING) + sum(f.counts.waiting for f in folders),
        missing=standings.count(Standing.MISSING) + sum(f.counts.missing for f in folders),
    )


def rows_of(root: Folder, opened: frozenset[str]) -> tuple[Row, ...]:
    """The lines of the tree from top to bottom, with the folders in `opened` open; the root has no line."""
    rows: list[Row] = []
    ahead: list[tuple[Folder | NoteInfo, int]] = [(item, 0) for item in _reversed(root)]
    while ahead:
        item, depth = ahead.pop()
        is_open = isinstance(item, Folder) and item.path in opened
        rows.append(Row(item, depth, is_open))
        if isinstance(item, Folder) and is_open:
            ahead += ((inner, depth + 1) for inner in _reversed(item))
    return tuple(rows)


def _reversed(folder: Folder) -> Sequence[Folder | NoteInfo]:
    return (*reversed(folder.files), *reversed(folder.folders))


def folders_of(root: Folder) -> frozenset[str]:
    """The paths of all folders below the root."""
    found, ahead = set[str](), list(root.folders)
    while ahead:
        folder = ahead.pop()
        found.add(folder.path)
        ahead += folder.folders
    return frozenset(found)


def above(path: str) -> frozenset[str]:
    """The folders that must be open for `path` to be in sight."""
    found = set[str]()
    while path := parent(path):
        found.add(path)
    return frozenset(found)


def is_skipped(note: NoteInfo) -> bool:
    return note.status == SKIPPED
