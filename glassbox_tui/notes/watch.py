"""Says when a folder of notes may have changed, and how well it can know.

An event is only a reason to look: what changed is found by a scan, so lost, doubled and overtaken events do no harm.
Each folder that a scan enters is watched by itself and not its whole tree: `.git`, `node_modules` and what links lead
to cost no watches. After a change of folders, and after a storm in which the kernel's queue may have overflowed, all
watches are laid anew before the change is told; so a new folder never goes unwatched.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from glassbox_tui.notes.ignore import NO_RULES, Rules
from glassbox_tui.notes.mounts import Mount, mount_of, mounts, mounts_within
from glassbox_tui.notes.scan import NotesError, Scan, kind_of, scan

STEP_MS = 50  # a burst is over when nothing has come for this long
DEBOUNCE_MS = 1_600  # a storm is told in between, this often
STORM = 1_000  # changes told at once, after which the kernel's queue (16,384 by default) is not trusted
LOOK_SECONDS = 1.0  # how often we look whether the folder is still the same one
RECONCILE_SECONDS = 300.0  # a scan now and then all the same
POLL_SECONDS = 2.0
POLL_SHARE = 10  # polling looks for at most a tenth of the time


@dataclass(frozen=True, slots=True)
class Mode:
    """`kind`: watching, polling or off; `why` says what keeps it from watching."""

    kind: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind} ({self.why})" if self.why else self.kind


WATCHING = Mode("watching")
NETWORK = Mode("polling", "network mount")
LIMIT = Mode("polling", "watch limit reached")
GONE = Mode("off", "the notes cannot be reached")


class Notify(Protocol):
    """The part of watchfiles' RustNotify that is used here."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event
    ) -> set[tuple[int, str]] | str: ...

    def close(self) -> None: ...


OpenNotify = Callable[[list[str]], Notify]


def watch(
    root: Path,
    changed: Callable[[], None],
    mode: Callable[[Mode], None],
    stop: threading.Event,
    rules: Rules = NO_RULES,
    open_notify: OpenNotify | None = None,
) -> None:
    """Call `changed` whenever `root` (a folder, a link to one, or one file) may have changed, until `stop` is set.

    Also when watching begins: what happened before went unseen. `mode` hears how changes are noticed, each time that
    becomes another. Both are called from this thread. A folder that goes away is waited for.
    """
    tell = _once(mode)
    while not stop.is_set():
        try:
            same, seen = _identity(root), scan(root, rules)
        except NotesError:
            tell(GONE)
            changed()
            _wait_for(root, rules, stop)
            continue
        if any(mount.remote for mount in _mounts_of(root)):
            tell(NETWORK)
            _poll(root, rules, seen, changed, stop)
            continue
        try:
            notify = (open_notify or _open_notify)(_watched(root, seen))
        except FileNotFoundError:  # a folder went in between: look again
            stop.wait(STEP_MS / 1000)
            continue
        except Exception as error:
            refused: Exception | None = error
        else:
            tell(WATCHING)
            changed()
            refused = _follow(notify, root, seen, same, changed, stop)
            notify.close()
        if refused is not None:
            tell(_refused(refused))
            _poll(root, rules, seen, changed, stop)


def _follow(
    notify: Notify, root: Path, seen: Scan, same: object, changed: Callable[[], None], stop: threading.Event
) -> Exception | None:
    """Tell of changes until all watches must be laid anew: folders changed, a storm passed, another root came.

    Returns the error if a watch was refused.
    """
    folders, reconciled = set(map(str, seen.folders)), time.monotonic()
    while not stop.is_set():
        try:
            got = notify.watch(DEBOUNCE_MS, STEP_MS, int(LOOK_SECONDS * 1000), stop)
        except Exception as error:  # watchfiles raises classes of its own
            return error
        if isinstance(got, str):  # nothing came
            if _identity(root) != same:
                break
            if time.monotonic() - reconciled < RECONCILE_SECONDS:
                continue
            got = set()
        paths = {path for _, path in got}
        if len(paths) >= STORM or any(path in folders or os.path.isdir(path) for path in paths):  # noqa: PTH112 - a str
            break
        if not paths or any(map(_is_ours, paths)):
            changed()
            reconciled = time.monotonic()
    return None


def _is_ours(path: str) -> bool:
    """Whether this file may be a note, or says which files are."""
    name = os.path.basename(path)  # noqa: PTH119 - a str, many of them
    return name.endswith("ignore") if name.startswith(".") else kind_of(name) is not None


def _poll(root: Path, rules: Rules, seen: Scan, changed: Callable[[], None], stop: threading.Event) -> None:
    """Look again and again; ends when the folder is gone, or another one."""
    changed()
    same, took = _identity(root), 0.0
    while not stop.wait(max(POLL_SECONDS, POLL_SHARE * took)):
        began = time.monotonic()
        try:
            now = scan(root, rules)
        except NotesError:
            return
        took = time.monotonic() - began
        if now != seen:
            seen = now
            changed()
        if _identity(root) != same:
            return


def _wait_for(root: Path, rules: Rules, stop: threading.Event) -> None:
    while not stop.wait(LOOK_SECONDS):
        try:
            scan(root, rules)
        except NotesError:
            continue
        return


def _identity(root: Path) -> object:
    """Changes when another folder stands at this path, or when something is mounted or unmounted in it."""
    try:
        info = root.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino if root.is_dir() else 0, mounts_within(root, mounts())


def _mounts_of(root: Path) -> Iterable[Mount]:
    table = mounts()
    over = mount_of(root, table)
    return (*((over,) if over else ()), *mounts_within(root, table).values())


def _watched(root: Path, seen: Scan) -> list[str]:
    """What to watch: for one file the folder it lies in (editors replace files), and that of what it links to."""
    if seen.folders:
        return [str(folder) for folder in seen.folders]
    return sorted({str(root.absolute().parent), os.path.dirname(os.path.realpath(root))})  # noqa: PTH120 - a str


def _open_notify(folders: list[str]) -> Notify:
    # The public `watchfiles.watch` does not say when its watches are laid, and what comes before that goes unseen.
    from watchfiles._rust_notify import RustNotify

    # macOS has one stream for a tree and lays it anew for each folder; it follows no links.
    tree = sys.platform == "darwin"
    return RustNotify(folders[:1] if tree else folders, False, False, 0, tree, True)


def _refused(error: Exception) -> Mode:
    said = str(error).lower()
    if any(words in said for words in ("limit reached", "no space left", "too many open files")):
        return LIMIT
    return Mode("polling", f"watching failed: {' '.join(str(error).split())[:100]}")


def _once(mode: Callable[[Mode], None]) -> Callable[[Mode], None]:
    """`mode`, but only when it is another one."""
    told: Mode | None = None

    def tell(now: Mode) -> None:
        nonlocal told
        if now != told:
            told = now
            mode(now)

    return tell
