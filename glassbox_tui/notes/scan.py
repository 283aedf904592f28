"""Which files of a folder are notes, and why the others are not. Looks at names and links, never into a file.

Real files and folders are taken first and links last, so that a note reached both ways is listed under its own path.
A folder is entered once, by device and inode: link loops end. Nothing outside the root is followed, unless asked for.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from glassbox_tui.errors import GlassboxError
from glassbox_tui.notes.ignore import IGNORE_FILE, NO_RULES, Layer, Rules, file_layer, layer_of, left_out
from glassbox_tui.notes.synonyms import LEFT_OUT, SYNONYMS_FILE

KINDS = {".md": "md", ".markdown": "md", ".txt": "txt", ".pdf": "pdf"}

# Folders that programs fill for themselves. Those that start with a dot (.git, .venv, .obsidian, .trash ...) are hidden
# anyway.
TOOL_FOLDERS = frozenset(
    {
        "__macosx",
        "__pycache__",
        "__pypackages__",
        "#recycle",
        "$recycle.bin",
        "@eadir",
        "bower_components",
        "node_modules",
        "site-packages",
        "system volume information",
    }
)

# What the data folder holds, of which some would pass for notes: copies, exports, a model's licence.
WRITTEN = frozenset({"indexes", "models", "logs", "exports", "copied.txt"})

# Syncthing; Dropbox, Nextcloud and ownCloud in English and Chinese.
_SYNC_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|_conflict-\d{8}-\d{6}|\((?:[^()]*\s)?(?:case )?conflict(?:ed copy)?\b[^()]*\)"
    r"|冲突副本|衝突複本",
    re.IGNORECASE,
)
_ESCAPED_BYTE = re.compile(rb"\\x([89a-f][0-9a-f])")


class NotesError(GlassboxError):
    """The notes folder itself cannot be used; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A note on disk. `path` is relative to the root, with slashes, and always valid Unicode (see `path_text`).

    `ctime_ns`: when its bytes, name or rights last changed, which no program sets back (0: the system does not say).
    """

    path: str
    absolute: Path
    size: int
    mtime_ns: int
    ctime_ns: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder (path with a slash at its end) that is not searched, and why. Reasons are fixed phrases."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What `scan` saw. `other` counts files that are no notes by their suffix.

    `folders` were listed; `unread` (as in `skipped`, folders with a slash at the end) are there and could not be looked
    at, so nobody knows what they hold.
    """

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]
    other: int = 0
    folders: tuple[Path, ...] = field(default=(), compare=False)
    unread: tuple[Skipped, ...] = field(default=(), compare=False)

    def reasons(self) -> dict[str, int]:
        """How often each reason was given, the most frequent first."""
        return dict(Counter(skip.reason for skip in self.skipped).most_common())


def kind_of(name: str) -> str | None:
    """'md', 'txt' or 'pdf' by the name's suffix, in either case; None for what is no note."""
    return KINDS.get(os.path.splitext(name)[1].lower())  # noqa: PTH122 - a name, not a path


def path_text(path: str) -> str:
    """A path as the index, JSON and the screen may carry it: bytes that are no UTF-8 become `\\xNN`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def locate(root: Path, path: str) -> Path:
    """The file that a scanned `path` stands for: `path_text` undone, whatever the locale's encoding of names is."""
    base = root.parent if root.is_file() else root
    name = path.encode()
    plain = base / os.fsdecode(name)
    if os.path.lexists(plain):
        return plain
    return base / os.fsdecode(_ESCAPED_BYTE.sub(lambda match: bytes.fromhex(match[1].decode()), name))


def scan(root: Path, rules: Rules = NO_RULES) -> Scan:
    """The notes under `root` (a folder, a link to one, or one file), sorted by path, and what was skipped.

    Raises NotesError when the root is missing, cannot be listed, or is a file that is no note; anything below it is
    reported, not raised.
    """
    try:
        info = root.stat()
    except (OSError, ValueError) as error:
        raise NotesError(_cannot("open", root, error)) from None
    if not stat.S_ISDIR(info.st_mode):
        return _scan_file(root, info)
    root = root.absolute()
    walk = _Walk(Path(os.path.realpath(root)), rules)
    try:
        walk.enter(root, "", info)
    except OSError as error:
        raise NotesError(_cannot("list", root, error)) from None
    walk.run()
    return Scan(
        files=tuple(sorted(walk.files.values(), key=lambda file: file.path)),
        skipped=tuple(sorted(walk.skipped, key=lambda skip: (skip.path, skip.reason))),
        other=walk.other,
        folders=tuple(walk.folders),
        unread=tuple(walk.unread),
    )


def check_file(root: Path) -> None:
    """Raise NotesError if `root` is a file that cannot be a note. Raises nothing for a folder, or for what is gone."""
    if os.path.lexists(root) and not root.is_dir():
        name = path_text(root.name)
        if kind_of(name) is None:
            raise NotesError(f"{name!r} is not a note: name a folder, or a .md, .markdown, .txt or .pdf file")
        if root.exists() and not root.is_file():
            raise NotesError(f"{name!r} is not a regular file")


def _scan_file(root: Path, info: os.stat_result) -> Scan:
    check_file(root)
    return Scan((_found(path_text(root.name), root.absolute(), info),), ())


def _found(path: str, absolute: Path, info: os.stat_result) -> FoundFile:
    ctime = info.st_ctime_ns if os.name == "posix" else 0  # elsewhere: when the file was made
    return FoundFile(path, absolute, info.st_size, _storable(info.st_mtime_ns), _storable(ctime))


def _storable(time_ns: int) -> int:
    """A time that a database's 64 bits hold, from 1677 to 2262: a file of the year 2300 is one of their last."""
    return max(-(2**63), min(time_ns, 2**63 - 1))


class _Walk:
    """The state of one walk: what is still to be listed, what was found, and which inodes were seen."""

    def __init__(self, root: Path, rules: Rules) -> None:
        self.root = root
        self.follow_links = rules.follow_links
        self._ours = _identity(rules.ours)
        layer, _ = layer_of(rules.patterns) if rules.patterns else (None, ())
        self._layers: tuple[Layer, ...] = (layer,) if layer is not None else ()  # of the folder that is being listed
        self.files: dict[str, FoundFile] = {}
        self.skipped: list[Skipped] = []
        self.other = 0
        self.folders: list[Path] = []
        self.unread: list[Skipped] = []
        self._seen: set[tuple[int, int]] = set()
        self._folders: deque[tuple[Path, str, tuple[Layer, ...]]] = deque()
        self._links: deque[tuple[Path, str, tuple[Layer, ...]]] = deque()

    def enter(self, folder: Path, path: str, info: os.stat_result) -> None:
        """Queue a folder. The root is listed at once, so that its errors reach the caller."""
        self._seen.add((info.st_dev, info.st_ino))
        if path:
            self._folders.append((folder, path, self._layers))
        else:
            self._take(folder, "", list(_entries(folder)))

    def run(self) -> None:
        while self._folders or self._links:
            if not self._folders:
                absolute, path, self._layers = self._links.popleft()
                self._follow(absolute, path)
                continue
            folder, path, self._layers = self._folders.popleft()
            try:
                entries = list(_entries(folder))
            except OSError as error:
                self._miss(path, f"folder cannot be read: {error.strerror or error}")
                continue
            self._take(folder, path, entries)

    def _take(self, folder: Path, prefix: str, entries: list[os.DirEntry[str]]) -> None:
        if any(entry.name == IGNORE_FILE for entry in entries):
            layer, faults = file_layer(folder, prefix)
            self._layers += (layer,) if layer is not None else ()
            if faults:
                self._skip(prefix + IGNORE_FILE, "; ".join(faults))
        self.folders.append(folder)
        own = WRITTEN if not prefix and self._ours in self._seen else frozenset[str]()  # the notes are the data folder
        for entry in entries:
            path = prefix + path_text(entry.name)
            absolute = folder / entry.name
            if entry.name in own:
                self._skip(path, "written by this program")
                continue
            try:
                if entry.is_symlink():
                    if not self._left_out_link(entry.name, path):
                        self._links.append((absolute, path, self._layers))
                elif entry.is_dir(follow_symlinks=False):
                    self._folder(absolute, path + "/", entry.name, entry.stat(follow_symlinks=False))
                else:
                    self._file(absolute, path, entry.name, entry.stat(follow_symlinks=False))
            except OSError as error:
                self._miss(path, f"cannot be looked at: {error.strerror or error}")

    def _folder(self, absolute: Path, path: str, name: str, info: os.stat_result) -> None:
        reason = _folder_reason(absolute, name)
        if (info.st_dev, info.st_ino) == self._ours:
            reason = "written by this program"
        if reason is None and self._layers:
            reason = left_out(self._layers, path)
        if reason is None and (info.st_dev, info.st_ino) in self._seen:
            reason = "link to a folder that is searched already"
        if reason is not None:
            self._skip(path, reason)
        else:
            self.enter(absolute, path, info)

    def _file(self, absolute: Path, path: str, name: str, info: os.stat_result) -> None:
        if kind_of(name) is None:
            self.other += name != IGNORE_FILE
            return
        reason = LEFT_OUT if path == SYNONYMS_FILE else _file_reason(path_text(name), info)
        if reason is None and self._layers:
            reason = left_out(self._layers, path)
        if reason is None and path in self.files:
            reason = "its name cannot be told from another file's"
        if reason is not None:
            self._skip(path, reason)
            return
        self._seen.add((info.st_dev, info.st_ino))
        self.files[path] = _found(path, absolute, info)

    def _left_out_link(self, name: str, path: str) -> bool:
        if name.startswith("."):
            self._skip(path, "hidden link")
            return True
        return False

    def _follow(self, absolute: Path, path: str) -> None:
        try:
            target = Path(os.path.realpath(absolute, strict=True))
            info = target.stat()
        except (OSError, ValueError) as error:
            # A loop of links ends here too (ELOOP).
            self._skip(path, f"broken link: {getattr(error, 'strerror', None) or error}")
            return
        folder = stat.S_ISDIR(info.st_mode)
        if not folder and kind_of(absolute.name) is None:
            self.other += 1
        elif not self.follow_links and target != self.root and self.root not in target.parents:
            self._skip(path + "/" * folder, "link that leads outside the notes folder")
        elif folder:
            self._folder(absolute, path + "/", absolute.name, info)
        elif (info.st_dev, info.st_ino) in self._seen:
            self._skip(path, "link to a note that is searched already")
        else:
            self._file(absolute, path, absolute.name, info)

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path, reason))

    def _miss(self, path: str, reason: str) -> None:
        self._skip(path, reason)
        self.unread.append(self.skipped[-1])


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from sorted(entries, key=lambda entry: entry.name)


def _identity(folder: Path | None) -> tuple[int, int] | None:
    with suppress(OSError, ValueError):
        if folder is not None:
            info = folder.stat()
            return info.st_dev, info.st_ino
    return None


def _folder_reason(absolute: Path, name: str) -> str | None:
    if name.startswith("."):
        return "hidden folder"
    # Not Path.is_file, which raises for a folder that may not be entered.
    if name.lower() in TOOL_FOLDERS or os.path.isfile(absolute / "pyvenv.cfg"):  # noqa: PTH113
        return "tool folder"
    return None


def _file_reason(name: str, info: os.stat_result) -> str | None:
    if name.startswith("."):
        return "hidden file"
    if _SYNC_CONFLICT.search(name):
        return "sync-conflict copy"
    if not stat.S_ISREG(info.st_mode):
        return "not a regular file"
    return None


def _cannot(verb: str, root: Path, error: Exception) -> str:
    why = getattr(error, "strerror", None) or str(error)
    return f"cannot {verb} the notes folder {path_text(str(root))!r}: {why}"
