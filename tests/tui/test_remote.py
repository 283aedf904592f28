"""The engine in its own process: what is asked arrives, what is found comes back, neither end outlives the other."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from samples import sample_trace_hostile

from glassbox_tui import Engine
from glassbox_tui.retrieval.moves import Accept, First, Own
from glassbox_tui.settings import Settings, load_settings
from glassbox_tui.tui.messages import (
    AnswerDone,
    ChunksListed,
    Event,
    FolderOpened,
    ListChunks,
    ListNotes,
    MakeStep,
    NotesListed,
    Opened,
    OpenFolder,
    Refresh,
    Search,
    SearchDone,
    StepDone,
    StepFailed,
    Updated,
    WorkersGone,
)
from glassbox_tui.tui.remote import Place, Remote

LIMIT = 60.0
E = TypeVar("E")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"GLASSBOX_DATA": str(tmp_path / "data")}, embed_model="hashing")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "quagga.md").write_text("# Quagga\n\nA quagga was a zebra.\n", "utf-8")
    (folder / "tea.md").write_text("# Tea\n\nWater at eighty degrees.\n", "utf-8")
    return folder


class Heard:
    """Events as they come in."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.deliver: Callable[[Event], None] = self._events.put

    def next(self, kind: type[E]) -> E:
        """The next event of that kind; those before it are passed over."""
        while True:
            event = self._events.get(timeout=LIMIT)
            if isinstance(event, kind):
                return event


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def remote(notes: Path, settings: Settings, heard: Heard) -> Iterator[Remote]:
    crew = Remote(Place(notes, settings), heard.deliver)
    crew.start()
    yield crew
    assert crew.stop(LIMIT)


def test_a_search_over_the_pipe_finds_what_an_engine_here_finds(
    remote: Remote, heard: Heard, notes: Path, settings: Settings
) -> None:
    assert heard.next(Updated).info.notes == 2
    remote.send(Search(7, "quagga", True))
    found = heard.next(SearchDone)
    with Engine.open(notes, settings) as engine:
        here = engine.search("quagga")
    assert (found.run, found.rounds) == (7, True)
    assert [r.hits for r in found.trace.rounds] == [r.hits for r in here.rounds]
    assert heard.next(AnswerDone).run == 7


def test_what_is_asked_before_the_start_waits_for_it(notes: Path, settings: Settings, heard: Heard) -> None:
    """Keys typed before the first picture, and the question of the last session."""
    crew = Remote(Place(notes, settings), heard.deliver)
    crew.send(Search(3, "quagga", False))
    crew.start()
    assert heard.next(SearchDone).run == 3
    assert crew.stop(LIMIT)


def test_a_child_that_died_is_told_of_and_a_refresh_starts_another(remote: Remote, heard: Heard) -> None:
    heard.next(Updated)
    assert remote._child is not None
    os.kill(remote._child.process.pid, signal.SIGKILL)
    assert "signal 9" in heard.next(WorkersGone).reason
    remote.send(Search(1, "quagga", False))  # nobody is there to hear it
    remote.send(Refresh())
    heard.next(Opened)
    remote.send(Search(2, "quagga", False))
    assert heard.next(SearchDone).run == 2


def test_the_files_and_a_notes_chunks_cross_the_pipe(remote: Remote, heard: Heard) -> None:
    heard.next(Updated)
    remote.send(ListNotes())
    assert [(n.path, n.title, n.chunks, n.vectors) for n in heard.next(NotesListed).notes] == [
        ("quagga.md", "Quagga", 1, 1),
        ("tea.md", "Tea", 1, 1),
    ]
    remote.send(ListChunks("tea.md"))
    listed = heard.next(ChunksListed)
    assert (listed.path, [c.uid for c in listed.chunks]) == ("tea.md", ["tea.md#0"])
    assert listed.opening.split() == ["#", "Tea", "Water", "at", "eighty", "degrees."]
    remote.send(Search(1, "zebra water", False, "tea.md"))
    assert {hit.path for hit in heard.next(SearchDone).trace.hits} == {"tea.md"}


def test_another_folder_is_opened_by_the_same_child_and_a_next_child_begins_there(
    remote: Remote, heard: Heard, notes: Path, settings: Settings, tmp_path: Path
) -> None:
    other = tmp_path / "other \x1b[31m"
    other.mkdir()
    (other / "dodo.md").write_text("# Dodo\n\nA dodo was no zebra.\n", "utf-8")
    heard.next(Updated)
    assert remote._child is not None
    child = remote._child.process.pid
    remote.send(OpenFolder(str(other)))
    assert heard.next(FolderOpened).path == str(other)
    assert heard.next(Updated).info.notes == 1
    remote.send(Search(1, "zebra", False))
    assert [hit.path for hit in heard.next(SearchDone).trace.hits] == ["dodo.md"]
    assert remote._child.process.pid == child
    with Engine.open(notes, settings) as engine:  # the index of the folder before is free for others to write
        assert not engine.update().locked

    os.kill(child, signal.SIGKILL)
    heard.next(WorkersGone)
    remote.send(Refresh())
    assert heard.next(Opened).info.notes == 1


def test_the_child_does_not_outlive_the_app(notes: Path, tmp_path: Path) -> None:
    """However the app goes: here it is killed, and can clean up nothing."""
    app = f"""
import sys, threading
from pathlib import Path
from glassbox_tui.settings import load_settings
from glassbox_tui.tui.messages import Opened
from glassbox_tui.tui.remote import Place, Remote
opened = threading.Event()
settings = load_settings({{"GLASSBOX_DATA": {str(tmp_path / "data")!r}}}, embed_model="hashing")
crew = Remote(Place(Path({str(notes)!r}), settings), lambda event: isinstance(event, Opened) and opened.set())
crew.start()
opened.wait()
print("open", flush=True)
sys.stdin.read()
"""
    running = subprocess.Popen([sys.executable, "-c", app], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert running.stdin and running.stdout
    assert running.stdout.readline() == b"open\n"
    running.kill()
    running.wait()
    assert running.stdout.read() == b""  # the end of the file: nobody holds the other end any more
    running.stdin.close()
    running.stdout.close()


def test_a_trace_survives_the_pipe() -> None:
    trace = sample_trace_hostile()
    assert pickle.loads(pickle.dumps(trace)) == trace


def test_a_step_over_the_pipe_is_the_step_an_engine_here_makes(
    remote: Remote, heard: Heard, notes: Path, settings: Settings
) -> None:
    heard.next(Updated)
    remote.send(MakeStep(3, First("quaga unheard words")))
    first = heard.next(StepDone)
    assert first.run == 3
    assert first.pause.proposal is not None
    remote.send(MakeStep(4, Accept(first.pause.trace, first.pause.proposal), branch=0))
    second = heard.next(StepDone)
    with Engine.open(notes, settings) as engine:
        here = engine.search("quaga unheard words")
    assert [r.hits for r in second.pause.trace.rounds] == [r.hits for r in here.rounds[:2]]
    remote.send(MakeStep(5, Own(second.pause.trace, " ")))
    assert "empty" in heard.next(StepFailed).reason
