"""Nothing leaves the machine, and nothing is written outside the data folder: every system call is looked at.

Whole programs run traced, with their native libraries, in a network namespace without interfaces. Asking Python's own
sockets (tests/models/test_no_sockets.py) does not see what a compiled library does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from terminal import Terminal
from tracing import Seen, read_trace, traced, why_not

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "when does the ferry leave"
CTRL_C = "\x03"
PROGRAM = (sys.executable, "-m", "glassbox_tui")

pytestmark = pytest.mark.strace


@dataclass(frozen=True)
class Cell:
    """A home, a temporary folder and a working folder that are to stay empty; notes; a data folder; the traces."""

    place: Path

    @property
    def env(self) -> dict[str, str]:
        ours = ("GLASSBOX_", "XDG_", "LC_", "LANG", "COLUMNS", "LINES", "TERM", "TEXTUAL", "NO_COLOR", "HF_", "ORT_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        own = {"HOME": "home", "TMPDIR": "tmp", "GLASSBOX_DATA": "data"}
        # Where the interpreter keeps compiled modules is its own affair: it need not happen while we look.
        fixed = {"LANG": "C.UTF-8", "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        return kept | {name: str(self.place / folder) for name, folder in own.items()} | fixed

    @property
    def notes(self) -> Path:
        return self.place / "notes"

    def run(self, *command: str, code: int = 0, **env: str) -> str:
        """Run to the end, traced; what it wrote to standard output."""
        done = subprocess.run(
            traced(command, self._log()),
            env=self.env | env,
            cwd=self.place / "cwd",
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    def open_app(self) -> Terminal:
        return Terminal(
            ["/usr/bin/env", *traced([*PROGRAM, str(self.notes)], self._log())],
            self.env,
            size=(120, 40),
            cwd=self.place / "cwd",
        )

    def _log(self) -> Path:
        return self.place / "traces" / f"{len(self.traces)}.trace"

    @property
    def traces(self) -> list[Path]:
        return sorted((self.place / "traces").iterdir())

    def seen(self) -> Seen:
        every = [read_trace(log) for log in self.traces]
        parts = ("sockets", "addresses", "changed")
        return Seen(*(tuple(item for one in every for item in getattr(one, part)) for part in parts))

    def holds(self) -> None:
        """No socket but local ones; no call that changes a file outside; and no file that is there all the same."""
        assert self.seen().sockets == ()
        self.reached_nobody()

    def reached_nobody(self) -> None:
        """As `holds`, but a socket may have been made that was told no address beyond this machine."""
        seen = self.seen()
        assert seen.addresses == ()
        assert any(str(self.place / "data") in path for path in seen.changed)  # the trace is no empty one
        assert seen.outside(self.place / "data") == []
        assert contents(self.place, "home", "tmp", "cwd") == {}
        assert contents(self.place, "notes") == NOTES


NOTES = {
    "notes/ferry.md": "# Ferry\n\nThe ferry leaves at noon. 轮渡中午出发。\n",
    "notes/bread.txt": "Bread is baked before sunrise.\n",
}


def contents(place: Path, *folders: str) -> Mapping[str, str]:
    files = [path for folder in folders for path in (place / folder).rglob("*") if not path.is_dir()]
    return {path.relative_to(place).as_posix(): path.read_text("utf-8", "replace") for path in files}


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    if reason := why_not():
        pytest.skip(f"nothing can be traced here: {reason}")
    for name in ("home", "tmp", "cwd", "notes", "traces"):
        (tmp_path / name).mkdir()
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text, "utf-8")
    return Cell(tmp_path)


STRAYS = """
import os, pathlib, socket, subprocess, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.connect_ex(("192.0.2.1", 53))
os.chdir(os.environ["HOME"])
pathlib.Path("relative").touch()
os.mkdir(os.environ["TMPDIR"] + "/made")
os.rename("relative", os.environ["GLASSBOX_DATA"])
subprocess.run([sys.executable, "-c", "open('by a child', 'w')"])
os.path.exists(os.environ["HOME"] + "/only looked for")
"""


def test_the_trace_sees_what_strays(cell: Cell) -> None:
    cell.run(sys.executable, "-c", STRAYS)
    seen = cell.seen()
    assert ["AF_INET" in line for line in seen.sockets] == [True]
    assert seen.addresses == ("192.0.2.1",)
    strays = ["home/by a child", "home/relative", "tmp/made"]
    assert seen.outside(cell.place / "data") == [*(str(cell.place / name) for name in strays), "relative"]


def test_a_first_start_of_the_app_then_retrieve_and_ask(cell: Cell) -> None:
    """The first start makes the model from its wheel, which takes most of this test's time."""
    app = cell.open_app()
    try:
        app.until("what is found and how shows while you type")
        app.type(QUESTION)
        app.until(r"round 0/0 .*stands out .*answered here \d+%$", "the verdict, once the model is made")
        app.type("\r")
        app.until(r"\[1\]", "an answer with its citation")
        app.type(CTRL_C)
        assert app.ended() == 0
    finally:
        app.close()
    assert "ferry.md" in cell.run(*PROGRAM, "retrieve", "轮渡几点出发", "--notes", str(cell.notes))
    assert "noon" in cell.run(*PROGRAM, "ask", QUESTION, "--notes", str(cell.notes))
    cell.holds()


RUNTIME = "from glassbox_tui.models.runtime import session_options; session_options()"
FASTEMBED = "from glassbox_tui.models import fastembed_models as f; f.embedder_entries(); import onnxruntime"


@pytest.mark.parametrize(("door", "switch"), [(RUNTIME, None), (RUNTIME, "0"), (FASTEMBED, None)])
def test_a_part_imported_by_itself_is_as_silent(cell: Cell, door: str, switch: str | None) -> None:
    """Also where the environment asks for telemetry: the promise has no exception.

    fastembed brings urllib3, which tries on import whether this machine could bind an IPv6 address of its own.
    """
    (cell.place / "data").mkdir()
    waits = f"open({str(cell.place / 'data' / 'touched')!r}, 'w'); {door}; import time; time.sleep(1)"
    cell.run(sys.executable, "-c", waits, **({} if switch is None else {"ORT_DISABLE_TELEMETRY": switch}))
    cell.holds() if door is RUNTIME else cell.reached_nobody()


@pytest.mark.full
def test_an_idle_app_for_ninety_seconds_a_selftest_and_the_python_door(cell: Cell) -> None:
    assert "2 added" in cell.run(*PROGRAM, "index", str(cell.notes))
    app = cell.open_app()
    try:
        app.until("what is found and how shows while you type")
        app.type(QUESTION)
        app.until(r"round 0/0 .*stands out .*answered here \d+%$", "the verdict")
        began = time.monotonic()
        while time.monotonic() - began < 90:
            app.bytes_within(1.0)
        assert app.process.poll() is None
        app.type(CTRL_C)
        assert app.ended() == 0
    finally:
        app.close()
    assert "hold" in cell.run(*PROGRAM, "selftest")
    assert "nothing is wrong" in cell.run(*PROGRAM, "doctor", str(cell.notes))
    door = "from glassbox_tui import Engine; print(Engine().build({'a': 'bread at noon'}).search('bread').decision)"
    assert cell.run(sys.executable, "-c", door)
    cell.holds()


@pytest.mark.llm
def test_a_language_model_that_runs_in_the_process_reaches_nobody(cell: Cell) -> None:
    said = cell.run(*PROGRAM, "ask", QUESTION, "--notes", str(cell.notes), "--json")
    assert json.loads(said)["answer"]["model"]  # llama.cpp has written it
    cell.holds()
