"""The app as a person has it: the real program with the real models in a real (pseudo-)terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from terminal import DEADLINE, Terminal

from glassbox_tui import Engine
from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.retrieval.trace_json import to_json
from glassbox_tui.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus"
QUESTION = "为什么混合检索要用 RRF 而不是加权分数相加"  # answered by 04-rrf-fusion.md, its first chunk says why
UNANSWERABLE = "zookeeper 怎么选主"  # the notes know nothing of it
STAGES = ("bm25", "dense", "fused", "rerank", "final")
ENTER, ESCAPE, CTRL_C, CTRL_Z = "\r", "\x1b", "\x03", "\x1a"

Open = Callable[..., Terminal]


def environment(data: Path, term: str = "xterm-256color") -> dict[str, str]:
    ours = ("GLASSBOX_", "LC_", "LANG", "COLUMNS", "LINES", "TERM", "TEXTUAL", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    fresh = {"GLASSBOX_CONFIG": os.devnull, "GLASSBOX_RESTORE": "0", "GLASSBOX_ANSWERS": "extract"}
    return kept | fresh | {"GLASSBOX_DATA": str(data), "LANG": "C.UTF-8", "TERM": term}


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "glassbox_tui", *args]


@pytest.fixture
def open_app(data_dir: Path, e5: E5Embedder) -> Iterator[Open]:
    """Opens the app on a folder, ready to be typed into, as often as asked; what runs at the end is killed."""
    opened: list[Terminal] = []

    def start(
        notes: Path, *, data: Path = data_dir, size: tuple[int, int] = (120, 40), term: str = "xterm-256color"
    ) -> Terminal:
        opened.append(Terminal(command(str(notes)), environment(data, term), size=size, cwd=ROOT))
        opened[-1].until("what is found and how shows while you type")  # said once the query box has the focus
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


@pytest.fixture(scope="module")
def corpus(e5: E5Embedder) -> Path:
    """The bundled notes, indexed."""
    with Engine.open(CORPUS, load_settings(), embedder=e5) as engine:
        assert not engine.update().locked
    return CORPUS


def sound(terminal: Terminal) -> None:
    """The program has let go of the terminal: modes as before, the shell's screen, a cursor, no mouse, plain keys."""
    assert terminal.modes() == terminal.modes_before
    last = {name: terminal.sent.rfind(b"\x1b[?%d%c" % (number, letter)) for name, number, letter in _SWITCHES}
    for mode in ("other screen", "mouse", "mouse moves", "mouse urxvt", "mouse sgr", "focus", "paste"):
        assert last[f"{mode} off"] > last[f"{mode} on"] >= 0, mode
    assert last["cursor on"] > last["cursor off"] >= 0
    assert last["wrap on"] > last["wrap off"] >= 0
    assert terminal.sent.rfind(b"\x1b[<u") > terminal.sent.rfind(b"\x1b[>")  # the kitty keyboard


_SWITCHES = [
    (f"{name} {word}", number, letter)
    for name, number in {
        "other screen": 1049,
        "mouse": 1000,
        "mouse moves": 1003,
        "mouse urxvt": 1015,
        "mouse sgr": 1006,
        "focus": 1004,
        "paste": 2004,
        "cursor": 25,
        "wrap": 7,
    }.items()
    for word, letter in (("on", ord("h")), ("off", ord("l")))
]


# -- asking ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("term", ["xterm-256color", "xterm"])
def test_a_typed_question_fills_every_panel_side_by_side(open_app: Open, corpus: Path, term: str) -> None:
    app = open_app(corpus, size=(120, 40), term=term)
    app.type(QUESTION)  # before the index is open: nothing typed is lost
    app.until(r"^│ " + QUESTION)
    app.until(r"round 0/0 .*stands out \+\d?\.\d .*answered here \d+%$", "the verdict")
    app.until(r"^│ +1 04-rrf\S+ +\S.* 1 .*│ +1 ", "the right note first")
    app.until(r"│ +1 +a .*a━+a━+a━+a +04-r", "its way through the stages")
    app.until(r"^│ 1/8  04-rrf-fusion\.md:\d+-\d+", "the evidence")
    app.until(r"混合检索同时问两位裁判", "its text")
    app.until(r"│ bm25 +#1 +\d", "the scores")
    app.until(r"^│ > 0 user +为什么", "the loop")
    app.type(ENTER)
    app.until(r"│ extract: ", "the answer")
    app.until(r"\[1\]", "a citation")
    app.type("5  ")  # the answer's panel, scrolled to its end
    app.until(r"│ (> )?\[1\] 04-rrf-fusion\.md:\d+", "where it is from")


def test_in_80x24_each_panel_is_one_key_away(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus, size=(80, 24))
    app.type(QUESTION)
    app.until(r"^ / +" + QUESTION)
    app.until(r"round 0/0 .*answered here \d+%$")
    app.until(r"^ +1 04-rrf\S+ +\S.* 1 ", "the right note first")
    app.until(r"^ 1/8  04-rrf-fusion\.md:\d+-\d+", "the evidence below the hits")
    app.type(ENTER)
    app.until_quiet(0.3)  # the query box is left
    app.type("2")
    app.until(r"^ +1 +a .*a━+a━+a━+a +04-rrf-fusion\.md#\d", "the rank flow")
    app.type("3")
    app.until(lambda: all(app.shows(rf"^ {stage} +#\d+ +-?\d*\.\d") for stage in STAGES), "five scores")
    app.until("混合检索同时问两位裁判")
    app.type("4")
    app.until(r"^ > 0 user +为什么.*answered here \d+%$", "the loop")
    app.type("5")
    app.until(r"^ (> )?\[1\] 04-rrf-fusion\.md:\d+", "the answer's source")
    assert app.shows(r"^ extract: ")


@pytest.mark.tmux
def test_inside_tmux_it_looks_and_answers_as_outside(corpus: Path, data_dir: Path, tmp_path: Path) -> None:
    app = Terminal(
        ["/usr/bin/env", "tmux", "-S", str(tmp_path / "s"), "-f", "/dev/null", "new", *command(str(corpus))],
        {name: value for name, value in environment(data_dir).items() if name != "TMUX"},
        cwd=ROOT,
    )
    try:
        app.until("what is found and how shows while you type")
        app.type(QUESTION)
        app.until(r"round 0/0 .*answered here \d+%$")
        app.type("\x1b")
        app.until_quiet(0.7)  # tmux holds an escape back for half a second
        app.type("j")
        app.until(r"^│ 2/8  ", "the second hit's evidence")
        app.resize(80, 24)
        app.until(r"1 hits +2 flow", "one panel at a time")
        assert re.search(rb"\x1b\[(\d+;)*3[1-6]m", app.sent), "colours"
        app.type("q")
        app.until(lambda: app.process.poll() is not None, "tmux ends with its only program")
    finally:
        app.close()
        subprocess.run(["/usr/bin/env", "tmux", "-S", str(tmp_path / "s"), "kill-server"], capture_output=True)


def test_brackets_step_through_the_rounds_of_a_question_the_notes_do_not_answer(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus)
    app.type(UNANSWERABLE)
    app.until(r"round 0/0 .*(related|nothing) \d+%$")
    app.until(r"not in the evidence: .*zookeep")
    app.type(ENTER)
    app.until(r"round ([1-9])/\1 .*(related|nothing) \d+%$", "a rewritten round")
    app.until("The evidence was graded insufficient", "said beside the answer")
    app.type("[[")
    app.until(r"round 0/[1-9] .*(related|nothing) \d+%$")
    app.until(r"^│ > 0 user ")
    app.type("]")
    app.until(r"round 1/[1-9] .*(related|nothing) \d+%$")
    app.until(r"^│ > 1 ")


def test_three_pasted_lines_are_one_query_and_nothing_is_lost(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus)
    app.until("30 notes")
    app.paste("rank fusion\r\n倒数 排名\nbm25 scores")
    app.until(r"^│ rank fusion 倒数 排名 bm25 scores +│")
    app.until(r"round 0/0 ")
    app.until(r"^│ > 0 user +rank fusion")


def test_too_small_a_terminal_says_so_and_a_larger_one_shows_everything_again(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus, size=(80, 24))
    app.type("bm25")
    app.until(r"round 0/0 ")
    app.until_quiet(0.5)
    before = app.text
    app.resize(20, 5)
    app.until(r"\Aglassbox: too small\n20x5, needs 60x16\nctrl\+c quits$")
    app.resize(80, 24)
    app.until(lambda: app.text == before, "the screen as it was")
    app.resize(120, 40)
    app.until(r"2 rank flow.*\n(.*\n)+.*4 loop.*5 answer", "the wide layout")


def test_nothing_is_sent_while_nothing_happens(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus)
    app.type("bm25")  # the cursor stands in the query box
    app.until(r"round 0/0 ")
    app.until_quiet(1.0)
    assert app.bytes_within(2.0) == b""


# -- hostile notes -----------------------------------------------------------------------------------------------------

HOSTILE = {
    "window title": "\x1b]0;pwned-title\x07",
    "clipboard": "\x1b]52;c;cHduZWQ=\x07",
    "colour": "\x1b[5;31;47m",
    "main screen": "\x1b[?1049l",
    "device string": "\x1bP+q544e\x1b\\",
    "8-bit colour": "\x9b5;31m",
    "8-bit command": "\x9d52;c;OGJpdA==\x9c",
    "bidi": "\u202eesrever\u202c",
    "isolate": "\u2067etalosi\u2069",
    "bell": "\x07",
    "backspace": "over\x08\x08\x08\x08",
}


def test_what_notes_hold_is_shown_and_never_obeyed(open_app: Open, tmp_path: Path, e5: E5Embedder) -> None:
    folder = tmp_path / "notes [bold]"
    folder.mkdir()
    attacks = "\n".join(f"quagga {name}: {attack} [bold red]quagga[/] [link=x]" for name, attack in HOSTILE.items())
    (folder / "quagga\x1b]0;pwned\x07.md").write_text(
        f"# [blink]quagga[/blink] \x1b]0;head\x07\n\n{attacks}\n", "utf-8"
    )
    (folder / "plain.txt").write_text("A quagga was a zebra.\n", "utf-8")
    with Engine.open(folder, load_settings(), embedder=e5) as engine:
        engine.update()
    app = open_app(folder, size=(80, 50))
    app.type(f"quagga clipboard colour{ENTER}")
    app.until(r"round \d/\d ")
    app.until_quiet(0.3)
    # ESC and BEL stand there as their pictures, markup as it is written; in every panel.
    app.until(r"^ +1 quagga␛\]0;", "the file's name among the hits")
    app.type("2")
    app.until(r"a +quagga␛\]0;pwned␇\.md#0", "and in the rank flow")
    app.type("3")
    app.until(r"clipboard: ␛\]52;c;cHduZWQ=␇ \[bold red\]quagga\[/\]")
    app.until(r"colour: ␛\[5;31;47m")
    app.until(r"over␈␈␈␈")
    app.type("4")
    app.until(r"^ [> ] 0 user +quagga clipboard")
    app.type("5")
    app.until(r"^ extract: ")
    app.until(r"␛\]52;c;cHduZWQ=␇")
    app.type("q")
    assert app.ended() == 0
    sent = app.sent.replace(b"\x1b]22;default\x07", b"")  # textual's own: the shape of the mouse pointer
    for payload in (rb"\]0;", rb"\]52;", rb"\[5;31;47m", rb"P\+q544e"):
        assert re.search(rb"\x1b" + payload, sent) is None, payload
    assert sent.count(b"\x1b[?1049l") == 1  # our own, at the end
    assert b"\x1b]" not in sent
    assert not set("\x07\x08\x9b\x9c\x9d\u202e\u202c\u2067\u2069") & set(sent.decode("utf-8"))


# -- leaving, stopping, coming back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["q", CTRL_C])
def test_quit_gives_the_terminal_back(open_app: Open, corpus: Path, keys: str) -> None:
    app = open_app(corpus)
    app.until("dense 100%")
    app.type(f"bm25{ENTER}")
    app.until(r"\[1\]")
    assert app.modes() != app.modes_before
    app.type(keys)
    assert app.ended() == 0
    sound(app)
    assert app.text.strip() == ""  # nothing is left on the shell's screen, no message either


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_hang_up_or_a_termination_leaves_the_terminal_sane_and_the_lock_free(
    open_app: Open, corpus: Path, data_dir: Path, number: signal.Signals
) -> None:
    app = open_app(corpus)
    app.until("dense 100%")
    app.signal(number)
    assert app.ended() == 128 + number
    sound(app)
    with Engine.open(corpus, load_settings({"GLASSBOX_DATA": str(data_dir)}, embed_model="hashing")) as engine:
        assert not engine.update().locked


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGINT])
def test_no_other_signal_that_ends_it_leaves_the_terminal_in_disorder(
    open_app: Open, corpus: Path, number: signal.Signals
) -> None:
    app = open_app(corpus)
    app.until("dense 100%")
    app.signal(number)
    assert app.ended() == 128 + number
    sound(app)
    assert app.text.strip() == ""


def test_keys_typed_before_the_first_picture_are_not_lost(corpus: Path, data_dir: Path) -> None:
    app = Terminal(command(str(corpus)), environment(data_dir), cwd=ROOT)
    try:
        app.until(lambda: b"\x1b[?1049h" in app.sent, "the app has the terminal")
        app.type("okapi")
        app.until(r"^│ okapi +│")
        app.until(r"round 0/0 ")
    finally:
        app.close()


def test_quit_does_not_wait_for_models_that_are_still_loading(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus)
    app.type(CTRL_C)
    assert app.ended() == 0
    sound(app)
    assert b"30 notes" not in app.sent  # the index had not been opened yet


def test_ctrl_z_stops_with_the_terminal_given_back_and_sigcont_brings_the_screen_again(
    open_app: Open, corpus: Path
) -> None:
    app = open_app(corpus)
    app.type("bm25")
    app.until(r"round 0/0 ")
    app.until_quiet(0.5)
    before, modes = app.text, app.modes()
    app.type(CTRL_Z)
    app.until(app.stopped, "the program stopped")
    app.until_quiet(0.1)
    sound(app)
    assert app.text.strip() == ""
    app.signal(signal.SIGCONT)
    app.until(lambda: app.text == before, "the screen as it was")
    assert app.modes() == modes
    app.type(" okapi")
    app.until(r"^│ bm25 okapi +│")
    app.type(CTRL_C)
    assert app.ended() == 0
    sound(app)


def test_a_stop_from_outside_does_no_harm(open_app: Open, corpus: Path) -> None:
    app = open_app(corpus)
    app.until("30 notes")
    app.until_quiet(0.5)
    app.signal(signal.SIGSTOP)
    app.until(app.stopped, "the program stopped")
    seen = len(app.sent)
    app.signal(signal.SIGCONT)
    app.until(lambda: b"glassbox" in app.sent[seen:], "the screen drawn again")
    app.type("okapi")
    app.until(r"^│ okapi +│")  # each key once
    app.type(CTRL_C)
    assert app.ended() == 0
    sound(app)


# -- while a folder is indexed for the first time ----------------------------------------------------------------------

QUERIES = ("topic 17 harbour", "灯塔 第 42 篇", "storm", "no such word anywhere")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 small notes, all different."""
    folder = tmp_path_factory.mktemp("many")
    words = ("harbour", "ferry", "storm", "lantern", "灯塔", "潮水", "缆绳", "bread")
    for n in range(300):
        some = " ".join(words[(n * k) % len(words)] for k in range(1, 5))
        (folder / f"note-{n:03}.md").write_text(f"# Topic {n}\n\n{some}: 第 {n} 篇, number {n * n}.\n", "utf-8")
    return folder


@pytest.fixture
def fresh(tmp_path: Path, data_dir: Path, e5: E5Embedder) -> Path:
    """A data folder without indexes that shares the converted model."""
    data = tmp_path / "fresh-data"
    data.mkdir()
    (data / "models").symlink_to(data_dir / "models", target_is_directory=True)
    return data


def traces(notes: Path, settings: Settings, e5: E5Embedder) -> list[str]:
    with Engine.open(notes, settings, embedder=e5) as engine:
        assert engine.info().dense_coverage == 1.0
        return [to_json(engine.search(query), timings=False) for query in QUERIES]


@pytest.fixture(scope="module")
def cold(many: Path, e5: E5Embedder, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What searches find in an index that was built in one go."""
    settings = load_settings(data=str(tmp_path_factory.mktemp("cold")))
    with Engine.open(many, settings, embedder=e5) as engine:
        assert engine.update().embedded == 300
    return traces(many, settings, e5)


def embedding(app: Terminal) -> None:
    app.until(r"embedding [1-9]\d*/300")


LEAVING: dict[str, tuple[Callable[[Terminal], Any], int]] = {
    "quit": (lambda app: app.type(CTRL_C), 0),
    "SIGTERM": (lambda app: app.signal(signal.SIGTERM), 128 + signal.SIGTERM),
    "SIGHUP": (lambda app: app.signal(signal.SIGHUP), 128 + signal.SIGHUP),
    "the window closed": (lambda app: app.hang_up(), 128 + signal.SIGHUP),
}


@pytest.mark.parametrize("way", LEAVING)
def test_leaving_while_indexing_leaves_an_index_that_the_next_run_completes(
    open_app: Open, many: Path, fresh: Path, e5: E5Embedder, cold: list[str], way: str
) -> None:
    leave, status = LEAVING[way]
    app = open_app(many, data=fresh)
    embedding(app)
    leave(app)
    assert app.ended() == status
    if way != "the window closed":
        sound(app)
    settings = load_settings(data=str(fresh))
    with Engine.open(many, settings, embedder=e5) as engine:
        assert engine.info().notes == 300  # all text is there
        assert engine.info().dense_coverage < 1.0
    done = subprocess.run(
        command("index", str(many), "--json"), env=environment(fresh), cwd=ROOT, capture_output=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b'"locked": false' in done.stdout
    assert b'"parsed": 0' in done.stdout  # no note is read a second time
    assert traces(many, settings, e5) == cold


def test_a_question_entered_while_the_index_is_empty_is_asked_again(open_app: Open, many: Path, fresh: Path) -> None:
    app = open_app(many, data=fresh)
    app.type(f"storm{ENTER}")
    app.until(r"^│ +1 note-\d+\.md#0 ")


def test_a_second_copy_says_that_the_first_one_is_indexing(open_app: Open, many: Path, fresh: Path) -> None:
    first = open_app(many, data=fresh)
    embedding(first)
    first.hold()  # it would be done too soon
    first.until(first.stopped, "the first copy is held")
    second = open_app(many, data=fresh)
    second.until("another process is indexing")
    second.type("storm")
    second.until(r"round 0/0 ")  # and what there is can be searched
    second.type(CTRL_C)
    assert second.ended() == 0
