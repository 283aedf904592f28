"""What happens in a folder is told, once it is over, whichever way it happens; and how it is noticed is said."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glassbox_tui.notes import mounts
from glassbox_tui.notes import watch as watching
from glassbox_tui.notes.scan import NotesError, scan
from glassbox_tui.notes.watch import GONE, LIMIT, NETWORK, WATCHING, Mode, OpenNotify, watch

LIMIT_SECONDS = 30.0


class Watched:
    """A watch in a thread. `until` waits for the next told change after which something holds."""

    def __init__(self, root: Path, open_notify: OpenNotify | None = None) -> None:
        self.told: queue.Queue[None] = queue.Queue()
        self.modes: queue.Queue[Mode] = queue.Queue()
        self._stop = threading.Event()
        how = {} if open_notify is None else {"open_notify": open_notify}
        self._thread = threading.Thread(
            target=watch, args=(root, lambda: self.told.put(None), self.modes.put, self._stop), kwargs=how
        )
        self._thread.start()

    def mode(self) -> Mode:
        return self.modes.get(timeout=LIMIT_SECONDS)

    def until(self, holds: Callable[[], bool]) -> None:
        self.told.get(timeout=LIMIT_SECONDS)
        while not holds():
            self.told.get(timeout=LIMIT_SECONDS)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(LIMIT_SECONDS)
        assert not self._thread.is_alive()


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Watched]]:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.1)
    running: list[Watched] = []

    def begin(root: Path, open_notify: OpenNotify | None = None) -> Watched:
        running.append(Watched(root, open_notify))
        return running[-1]

    yield begin
    for one in running:
        one.stop()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub" / "deep").mkdir(parents=True)
    for name in ("a.md", "sub/b.md", "sub/deep/c.txt"):
        (folder / name).write_text(name)
    return folder


def names(root: Path) -> set[str]:
    try:
        return {file.path for file in scan(root).files}
    except NotesError:
        return set()


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def vim(path: Path, words: str) -> None:
    backup = path.with_name(path.name + "~")
    (path.parent / "4913").write_text("")
    (path.parent / "4913").unlink()
    path.rename(backup)
    path.write_text(words)
    backup.unlink()


def emacs(path: Path, words: str) -> None:
    lock = path.with_name(".#" + path.name)
    lock.symlink_to("me@host.1:2")
    shutil.copy2(path, path.with_name(path.name + "~"))
    path.write_text(words)
    lock.unlink()


def in_place(path: Path, words: str) -> None:
    path.write_text(words)


def atomic(path: Path, words: str) -> None:
    new = path.with_name(f".{path.name}.tmp")
    new.write_text(words)
    new.replace(path)


@pytest.mark.parametrize("save", [vim, emacs, in_place, atomic])
def test_each_save_of_an_editor_is_told(
    save: Callable[[Path, str], None], notes: Path, start: Callable[..., Watched]
) -> None:
    """W1: in place, by rename, by delete and create."""
    watched = start(notes)
    assert watched.mode() == WATCHING
    for path in (notes / "a.md", notes / "sub" / "deep" / "c.txt"):
        for i in range(3):
            save(path, f"words {i}")
            watched.until(lambda path=path, i=i: text(path) == f"words {i}")  # type: ignore[misc]


STEPS: dict[str, Callable[[Path], object]] = {
    "a note is new": lambda n: (n / "new.md").write_text("x"),
    "a note is gone": lambda n: (n / "a.md").unlink(),
    "a note has another name": lambda n: (n / "a.md").rename(n / "z.md"),
    "a note has another case": lambda n: (n / "a.md").rename(n / "A.md"),
    "a note moves to another folder": lambda n: (n / "a.md").rename(n / "sub" / "a.md"),
    "a folder is gone": lambda n: shutil.rmtree(n / "sub"),
    "a folder moves out": lambda n: (n / "sub").rename(n.parent / "elsewhere"),
    "a folder has another name": lambda n: (n / "sub").rename(n / "other"),
    "a folder has another case": lambda n: (n / "sub").rename(n / "SUB"),
    "a folder comes with notes": lambda n: shutil.copytree(n / "sub", n / "copy"),
    "an ignore file is new": lambda n: (n / ".glassboxignore").write_text("a.md\n"),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_happens_in_a_folder_is_told(step: str, notes: Path, start: Callable[..., Watched]) -> None:
    watched = start(notes)
    watched.until(lambda: True)
    before = names(notes)
    STEPS[step](notes)
    after = names(notes)
    assert after != before
    watched.until(lambda: names(notes) == after)


@pytest.mark.parametrize("rename", ["other", "SUB"])
def test_a_folder_is_watched_after_it_was_renamed_and_a_new_one_from_the_start(
    rename: str, notes: Path, start: Callable[..., Watched]
) -> None:
    watched = start(notes)
    watched.until(lambda: True)
    (notes / "sub").rename(notes / rename)
    watched.until(lambda: True)
    (notes / rename / "deep" / "c.txt").write_text("after the rename")
    watched.until(lambda: True)
    (notes / "x" / "y").mkdir(parents=True)
    watched.until(lambda: True)
    (notes / "x" / "y" / "new.md").write_text("in a new folder")
    watched.until(lambda: True)


def test_a_storm_is_told_when_it_is_over(notes: Path, start: Callable[..., Watched]) -> None:
    """W2: a checkout that touches 5,000 notes."""
    watched = start(notes)
    watched.until(lambda: True)
    for i in range(5_000):
        (notes / "sub" / f"{i}.md").write_text(str(i))
    everything = names(notes)
    seen: set[str] = set()

    def told() -> bool:
        seen.update(names(notes))
        return seen == everything

    watched.until(told)
    (notes / "a.md").write_text("after the storm")
    watched.until(lambda: True)


def test_what_no_scan_enters_is_not_watched(notes: Path, tmp_path: Path) -> None:
    (notes / ".git" / "objects").mkdir(parents=True)
    (notes / "node_modules" / "x").mkdir(parents=True)
    (tmp_path / "big").mkdir()
    (notes / "link").symlink_to(tmp_path / "big")
    (notes / "loop").symlink_to(notes)
    folders: list[str] = []
    stop = threading.Event()

    class Nothing:
        def watch(self, *_: object) -> str:
            stop.set()
            return "stop"

        def close(self) -> None: ...

    def opened(given: list[str]) -> Nothing:
        folders.extend(given)
        return Nothing()

    watch(notes, lambda: None, lambda _: None, stop, open_notify=opened)
    assert set(folders) == {str(notes), str(notes / "sub"), str(notes / "sub" / "deep")}


def test_a_root_that_goes_away_is_waited_for(notes: Path, start: Callable[..., Watched]) -> None:
    watched = start(notes)
    assert watched.mode() == WATCHING
    away = notes.with_name("away")
    notes.rename(away)
    assert watched.mode() == GONE
    away.rename(notes)
    assert watched.mode() == WATCHING
    (notes / "a.md").write_text("back")
    watched.until(lambda: text(notes / "a.md") == "back")


def test_a_linked_root_and_its_new_target_are_watched(
    notes: Path, tmp_path: Path, start: Callable[..., Watched]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(notes)
    watched = start(link)
    watched.until(lambda: True)
    (notes / "a.md").write_text("through the link")
    watched.until(lambda: True)
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "link2").symlink_to(other)
    (tmp_path / "link2").replace(link)
    watched.until(lambda: True)
    (other / "new.md").write_text("in the new target")
    watched.until(lambda: names(link) == {"new.md"})


def test_one_file_is_watched_although_editors_replace_it(notes: Path, start: Callable[..., Watched]) -> None:
    note = notes / "a.md"
    watched = start(note)
    watched.until(lambda: True)
    for i in range(2):
        vim(note, f"save {i}")
        watched.until(lambda i=i: text(note) == f"save {i}")  # type: ignore[misc]


@pytest.mark.parametrize(
    ("error", "mode"),
    [
        (OSError('OS file watch limit reached. about ["/notes"]'), LIMIT),
        (RuntimeError("Error creating recommended watcher: Too many open files (os error 24)"), LIMIT),
        (OSError("No space left on device (os error 28)"), LIMIT),
        (RuntimeError("something else"), Mode("polling", "watching failed: something else")),
    ],
)
def test_who_may_not_watch_polls_and_says_why(
    error: Exception, mode: Mode, notes: Path, start: Callable[..., Watched]
) -> None:
    """W4: no watches left, or none to be had."""

    def refuse(_: list[str]) -> watching.Notify:
        raise error

    watched = start(notes, refuse)
    assert watched.mode() == mode
    watched.until(lambda: True)
    (notes / "sub" / "b.md").write_text("seen by polling")
    watched.until(lambda: True)
    shutil.rmtree(notes)
    assert watched.mode() == GONE


def test_a_network_mount_is_polled(notes: Path, start: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch) -> None:
    table = notes.parent / "mounts"
    table.write_text(f"/dev/x / ext4 rw 0 0\nnas:/n {os.path.realpath(notes)} nfs4 rw 0 0\n")
    monkeypatch.setattr(mounts, "TABLE", table)
    watched = start(notes)
    assert str(watched.mode()) == str(NETWORK) == "polling (network mount)"
    watched.until(lambda: True)
    (notes / "new.md").write_text("from another machine")
    watched.until(lambda: True)
