"""Around the app, in a real terminal: config, session, history, replay, colours; with the real models."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from samples import sample_trace_two_rounds
from terminal import Terminal

from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval.trace_json import to_json
from glassbox_tui.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
ENTER, ESCAPE, CTRL_R = "\r", "\x1b", "\x12"
COLOURED = re.compile(rb"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[\d;]*)?m")
RICH = re.compile(rb"\x1b\[[\d;]*[34]8;[25];")  # 256 colours and more
Open = Callable[..., Terminal]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "locks.md").write_text("# Locks\n\nA lease ends by itself; a lock that is never released stays.\n")
    (folder / "tea.md").write_text("# Tea\n\nGreen tea is steamed, black tea is oxidised.\n")
    return folder


@pytest.fixture
def open_app(tmp_path: Path, e5: E5Embedder) -> Iterator[Open]:
    """The program in a terminal, with a data folder of the test's own (the converted model is linked in)."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "models").symlink_to(load_settings().models_dir)
    opened: list[Terminal] = []

    def start(*args: str, size: tuple[int, int] = (80, 24), **environ: str) -> Terminal:
        ours = ("GLASSBOX_", "LC_", "LANG", "COLUMNS", "LINES", "TERM", "TEXTUAL", "NO_COLOR", "COLORTERM")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        own = {"GLASSBOX_CONFIG": os.devnull, "GLASSBOX_DATA": str(data), "GLASSBOX_ANSWERS": "extract"}
        own |= {"LANG": "C.UTF-8", "TERM": "xterm-256color"}
        command = [sys.executable, "-m", "glassbox_tui", *args]
        opened.append(Terminal(command, kept | own | environ, size=size, cwd=ROOT))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def quit_by_q(terminal: Terminal) -> None:
    terminal.type("q")
    assert terminal.ended() == 0


def test_the_first_start_welcomes_the_second_goes_on_and_the_history_knows(open_app: Open, notes: Path) -> None:
    first = open_app(str(notes))
    first.until("Welcome. Type a question")
    first.until("2 notes .* dense 100%")
    first.type("when does a lease end")
    first.until("locks.md")
    first.type(ENTER)
    first.until("extract|no answer|a lease end", "the run")
    first.type("5")
    first.until("word for word")
    quit_by_q(first)
    second = open_app(str(notes))
    second.until("when does a lease end")
    second.until("5 answer")
    second.until(r"round 0/0")
    assert not second.shows("Welcome")
    second.type(CTRL_R)
    second.until(r"when does a lease end .*(answered here|related|nothing) \d+%  20\d\d-")
    second.type(ESCAPE)
    second.until("round 0/0")
    second.type("green tea")  # the old question stood selected
    second.until(r"^ /  green tea")
    second.type(ESCAPE)
    second.until_quiet(0.3)
    quit_by_q(second)
    for name in ("session.json", "history.jsonl"):
        (file,) = (notes.parent / "data").glob(f"indexes/*/{name}")
        assert file.stat().st_mode & 0o077 == 0


def test_a_saved_trace_opens_without_notes_or_engine(open_app: Open, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(to_json(sample_trace_two_rounds()))
    terminal = open_app("open", str(file), size=(120, 40))
    terminal.until("round 1/1")
    terminal.type("[")
    terminal.until("round 0/1")
    terminal.type("/")
    terminal.until("a saved trace is replayed")
    quit_by_q(terminal)


@pytest.mark.parametrize(
    ("args", "config", "status", "said"),
    [
        (["open", "{tmp}/damaged.json"], "", 1, "damaged.json: not JSON"),
        (["open", "{tmp}/nowhere.json"], "", 2, "no such file or folder"),
        (["{tmp}/notes"], "[ui]\ntheme = 'pink'\n", 2, "line 2: [ui] theme: 'pink' is not one of terminal, 16, mono"),
        (["{tmp}/notes"], "[keys]\nquit = 'v'\n", 2, "line 2: [keys] quit: the key 'v' is columns's"),
    ],
)
def test_what_is_wrong_is_said_on_the_screen_where_it_was_typed(
    open_app: Open, notes: Path, tmp_path: Path, args: list[str], config: str, status: int, said: str
) -> None:
    (tmp_path / "damaged.json").write_text('{"version": 1, \x1b[31m')
    (tmp_path / "config.toml").write_text(config)
    environ = {"GLASSBOX_CONFIG": str(tmp_path / "config.toml")}
    terminal = open_app(*(a.format(tmp=tmp_path) for a in args), size=(200, 24), **environ)
    assert terminal.ended() == status
    assert said in terminal.text
    # Nothing came, or the first picture, which was taken away before the sentence.
    _, left, after = terminal.sent.rpartition(b"\x1b[?1049l")
    assert left or b"\x1b" not in terminal.sent
    assert said.encode() in after and b"\x1b" not in after


@pytest.mark.parametrize(
    ("term", "environ"),
    [
        ("xterm", {}),
        ("linux", {}),
        ("screen", {}),
        ("tmux-256color", {}),
        ("dumb", {}),
        ("xterm", {"GLASSBOX_THEME": "dark"}),
        ("xterm-256color", {"NO_COLOR": "1"}),
        ("xterm-256color", {"COLORTERM": "truecolor", "GLASSBOX_THEME": "light"}),
        ("xterm-256color", {"LANG": "zh_CN.UTF-8"}),
        ("xterm-256color", {"LANG": "C"}),
        ("xterm-256color", {"GLASSBOX_MOUSE": "0", "GLASSBOX_AMBIGUOUS": "wide"}),
    ],
)
def test_it_looks_right_in_every_terminal(open_app: Open, tmp_path: Path, term: str, environ: dict[str, str]) -> None:
    file = tmp_path / "trace.json"
    file.write_text(to_json(sample_trace_two_rounds()))
    terminal = open_app("open", str(file), **({"TERM": term} | environ))
    terminal.until("第 1/1 轮" if "zh" in environ.get("LANG", "") else "round 1/1")
    terminal.type("2")
    terminal.until_quiet(0.3)
    if "NO_COLOR" in environ:
        assert not COLOURED.search(terminal.sent)
    elif term != "dumb":
        assert COLOURED.search(terminal.sent)
    # Truecolour only where it was asked for, and only as far as the terminal goes.
    assert bool(RICH.search(terminal.sent)) == ("COLORTERM" in environ)
    if environ.get("LANG") == "C" or term in {"linux", "dumb"}:
        drawn = {c for c in terminal.text if not c.isascii()}
        assert {c for c in drawn if not "\u2e80" <= c <= "\uffef"} == set()
    assert (b"\x1b[?1000h" in terminal.sent) == (environ.get("GLASSBOX_MOUSE") != "0")
    assert b"\x1b[5m" not in terminal.sent  # nothing blinks
    quit_by_q(terminal)


def test_config_says_what_is_wrong_with_the_keys(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[keys]\nhelp = "ctrl+c"\n')
    run = subprocess.run(
        [sys.executable, "-m", "glassbox_tui", "config"],
        env=dict(os.environ) | {"GLASSBOX_CONFIG": str(tmp_path / "config.toml")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert "line 2: [keys] help: ctrl+c quits from anywhere and cannot be given to a command" in run.stderr
