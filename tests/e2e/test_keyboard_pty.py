"""The app on keyboards that send what no keyboard should, and with keyword search alone; in a pseudo-terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminal import Terminal
from test_app_pty import ROOT, command, environment, sound

Open = Callable[[], Terminal]


@pytest.fixture
def open_app(tmp_path: Path) -> Iterator[Open]:
    """The app without a model, so that it is there at once: on one note, as often as asked."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kettle.md").write_text("# Kettle\n\nThe kettle boils at 100 degrees.\n")
    opened: list[Terminal] = []

    def start() -> Terminal:
        env = environment(tmp_path / "data") | {"GLASSBOX_DISABLE_DENSE": "1"}
        opened.append(Terminal(command(str(notes)), env, size=(120, 40), cwd=ROOT))
        opened[-1].until("what is found and how shows while you type")
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


@pytest.mark.parametrize(
    "bytes_",
    [b"\xff", b"\x80\x81\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b[M \x80%", b"\x1b[M\xc3\xa0\xe8"],
    ids=["stray", "several", "half", "surrogate", "mouse past column 95", "mouse that spells a letter"],
)
def test_bytes_that_are_no_utf8_end_nothing_and_the_query_stays(open_app: Open, bytes_: bytes) -> None:
    app = open_app()
    app.type("kettle")
    app.until(r"^│ kettle +│")
    app.send(bytes_)
    if bytes_ == b"\xff":
        app.until("the terminal sent bytes that are no UTF-8: they were left out")
    app.until_quiet(0.3)
    app.type(" boils")
    app.until(r"^│ kettle boils +│", "the query, whole, and what was typed after")
    app.until(r"1/1  kettle\.md:\d")
    app.type("\x03")
    assert app.ended() == 0
    sound(app)


def test_keyword_search_alone_opens_twice_and_answers(open_app: Open) -> None:
    for _ in range(2):
        app = open_app()
        app.type("kettle boils")
        app.until(r"1/1  kettle\.md:\d")
        app.type("\r")
        app.until(r"\[1\]", "the extract")
        app.type("\x03")
        assert app.ended() == 0
