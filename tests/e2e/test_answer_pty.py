"""Answers of a language model in a real terminal: the real program with the small model, streamed, stopped, opened."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminal import Terminal
from test_app_pty import CTRL_C, ENTER, ESCAPE, ROOT, command, environment, sound

from glassbox_tui.models.e5 import E5Embedder

pytestmark = pytest.mark.llm

PROMISED = 2.0  # seconds from the key that stops to an answer that has stopped
NOTES = {
    "nimbus.md": "# Nimbus\n\nThe Nimbus cache server listens on port 7423.\n",
    "garden.md": "# Garden\n\nThe tomato plants need water every second day in July.\n",
    "bread.md": "# Bread\n\nThe sourdough bread is baked for fifty minutes at 230 degrees.\n",
}
# Which of them the small model answers well depends on the CPU's rounding. It seldom cites by itself; then what its
# sentences rest on stands in the citations' place, with a ~ for a number.
QUESTIONS = (
    "Which port does the Nimbus cache server listen on?",
    "When do the tomato plants need water?",
    "How long is the sourdough bread baked?",
    "What does the Nimbus cache server listen on?",
    "At how many degrees is the sourdough bread baked?",
)
LONG = "Tell me everything about the lighthouse keeper of Skerry island"
DONE = r"generated from the|extract: sentences"
NATIVE = re.compile(r"llama_|ggml_|gguf|n_ctx|load_tensors|print_info|sampler|Traceback")

Open = Callable[..., Terminal]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def long_notes(tmp_path: Path) -> Path:
    """So much to read that there is time to do something meanwhile."""
    folder = tmp_path / "long"
    folder.mkdir()
    for number in range(12):
        days = " ".join(
            f"On day {day} of month {number + 1} the lighthouse keeper of Skerry island counted {day * 7} gulls, lit "
            f"lamp {day} and wrote page {number * 30 + day} of his journal."
            for day in range(1, 6)
        )
        (folder / f"month-{number + 1}.md").write_text(f"# Month {number + 1} on Skerry island\n\n{days}\n")
    return folder


@pytest.fixture
def open_app(data_dir: Path, e5: E5Embedder) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(folder: Path, size: tuple[int, int] = (80, 24)) -> Terminal:
        env = environment(data_dir) | {"GLASSBOX_ANSWERS": "auto"}
        opened.append(Terminal(command(str(folder)), env, size=size, cwd=ROOT))
        opened[-1].until("what is found and how shows while you type")
        return opened[-1]

    yield start
    for terminal in opened:
        assert not NATIVE.search(terminal.sent.decode("utf-8", "replace")), "something else wrote on the screen"
        terminal.close()


def ask(app: Terminal, question: str) -> None:
    app.type(question)
    app.until(r"round 0/0 ")
    app.until(lambda: question[-12:] in app.text, "all that was typed")
    app.type(ENTER)


def until_over(app: Terminal) -> None:
    """The answer is whole: the key that stops it has left the hints."""
    app.until(lambda: not app.shows(r" \. stop ") and app.shows("answer"), "the end of the answer")


def stopped_within(app: Terminal, key: str) -> float:
    began = time.monotonic()
    app.type(key)
    app.until(lambda: not app.shows(r" \. stop "), "the answer has stopped")
    return time.monotonic() - began


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_an_answer_streams_and_its_citation_opens_the_line(open_app: Open, notes: Path, size: tuple[int, int]) -> None:
    app = open_app(notes, size)
    for question in QUESTIONS:
        ask(app, question)
        app.until(r" \. stop ", "the model at work")
        app.type("5")
        until_over(app)
        app.until("generated from the")
        app.type("zjk")  # the panel alone, its first source in sight
        app.until_quiet(0.3)
        cited = re.search(r"^ ?> (?:\[\d\]|~) (\w+\.md):(\d+)", app.text, re.MULTILINE)
        if cited is not None:
            break
        app.type("z1/")
        app.until_quiet(0.3)
    assert cited is not None, "no answer has a source that can be opened"
    app.type(ENTER)
    said = NOTES[cited[1]].splitlines()
    app.until(re.escape(said[-1][:40]), "the note, at the line")
    app.type("q")
    app.until("generated from the")


def test_stopped_while_the_evidence_is_read_the_extract_stays(open_app: Open, long_notes: Path) -> None:
    app = open_app(long_notes)
    ask(app, LONG)
    app.until(r"reading the evidence \d+ of \S+ tokens")
    app.type("5")
    app.until("extract: sentences", "the extract below")
    assert stopped_within(app, ".") <= PROMISED
    app.until("this is an extract", "why there is no more")


def test_stopped_while_it_writes_what_is_written_stays_and_the_next_question_is_answered(
    open_app: Open, notes: Path
) -> None:
    app = open_app(notes)
    ask(app, QUESTIONS[0])
    app.type("5")
    app.until(r"^ ?writing the answer \.\.\.", "the first words")
    assert stopped_within(app, ".") <= PROMISED
    app.until(DONE)
    app.type("/")
    ask(app, QUESTIONS[1])
    app.until(r" \. stop ", "the model at work again")
    until_over(app)
    app.until(DONE)


def test_a_second_question_in_the_middle_of_an_answer_is_the_one_that_is_answered(
    open_app: Open, long_notes: Path
) -> None:
    app = open_app(long_notes)
    ask(app, LONG)
    app.until(r"reading the evidence \d+ of \S+ tokens")
    app.type("/")
    app.until_quiet(0.2)
    ask(app, "How many gulls were counted on day 5 of month 3?")
    app.until(r"month 3\?[\s\S]* \. stop ", "the model at work on the second")
    app.type("5")
    app.until(r"month 3\?[\s\S]*(reading the|waiting for|is called|writing)", "how far it is")
    assert stopped_within(app, ".") <= PROMISED


@pytest.mark.parametrize("key", ["q", CTRL_C])
def test_quitting_in_the_middle_of_an_answer_is_instant_and_leaves_the_terminal_as_it_was(
    open_app: Open, long_notes: Path, key: str
) -> None:
    app = open_app(long_notes)
    ask(app, LONG)
    app.until(r"reading the evidence \d+ of \S+ tokens")
    began = time.monotonic()
    app.type(key)
    assert app.ended() == 0
    assert time.monotonic() - began <= PROMISED
    sound(app)


def test_escape_stops_too_and_the_prompt_can_be_read(open_app: Open, notes: Path) -> None:
    app = open_app(notes)
    ask(app, QUESTIONS[0])
    app.type("5")
    app.until(r"^ ?writing the answer \.\.\.", "the first words")
    assert stopped_within(app, ESCAPE) <= PROMISED
    app.until_quiet(0.3)
    app.type("P")
    app.until("was sent, word for word")
    app.until("an example, not of your notes")
    for _ in range(10):
        if app.shows("listens on port 7423"):
            break
        app.type(" ")  # a page on
        app.until_quiet(0.3)
    assert app.shows("listens on port 7423")
