"""`ask` with a model: written to a terminal as it comes, whole where nobody watches, stopped by ctrl+c."""

from __future__ import annotations

import io
import os
import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from scripted_model import Scripted

from glassbox_tui import Engine
from glassbox_tui.answer.record import Answer
from glassbox_tui.commands.ask import asked
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings
from glassbox_tui.views.stream import Stream

NOTES = {"lock.md": "The lock is released when the lease ends. A clock that drifts ends it early."}
STYLE = re.compile(r"\x1b\[[0-9;]*m")


class Screen(io.StringIO):
    """A standard output that is a terminal, or is not."""

    def __init__(self, tty: bool) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


def run(
    monkeypatch: pytest.MonkeyPatch, model: Scripted, *, tty: bool = True, silent: bool = False
) -> tuple[str, Answer, bool]:
    monkeypatch.setenv("COLUMNS", "60")
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=model).build(NOTES)
    trace = engine.search("when is the lock released")
    screen = Screen(tty)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", screen)
        found, stopped = asked(trace, engine, silent=silent)
    return STYLE.sub("", screen.getvalue()), found, stopped


def test_a_terminal_sees_it_grow_and_then_its_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Scripted("The lock is released ", "when the lease ", "ends [1]. Or [7] not.")
    out, found, stopped = run(monkeypatch, model)
    assert not stopped
    parts = ("when is the lock", "scripted", "The lock is released", "[1] lock.md:1", "checked")
    place = [out.index(part) for part in parts]
    assert place == sorted(place)
    assert out.count("The lock is released") == 2  # the answer and its source
    assert " ".join(found.text.split()) in " ".join(out.split()) and "7" in found.notice


def test_where_nobody_watches_it_is_printed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Scripted("The lock is released ", "when the lease ends [1].")
    out, found, _ = run(monkeypatch, model, tty=False)
    assert found.text in out and "[1] lock.md:1" in out and "\x1b" not in out
    assert run(monkeypatch, model, silent=True)[0] == ""


def test_what_a_model_writes_is_text_and_never_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "Look\x1b]0;owned\x07 ![x](http://127.0.0.1:9/a.png) [red]r[/red] \u202eevil\u202c \x9b2J ok now then."
    for tty in (True, False):
        out, _, _ = run(monkeypatch, Scripted(*hostile), tty=tty)
        assert "![x](http://127.0.0.1:9/a.png)" in out and "[red]r[/red]" in out
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out)


def test_a_model_that_fails_in_the_middle_leaves_the_extract(monkeypatch: pytest.MonkeyPatch) -> None:
    out, found, _ = run(monkeypatch, Scripted("The lock never ", "is anything ", fails=OSError("gone")))
    assert found.mode == "extract" and out.index("never") < out.index("gone") < out.index("[1] lock.md:1")


def test_ctrl_c_keeps_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Scripted):
        def write(self, *args: Any, **options: Any) -> Iterator[str]:
            for piece in super().write(*args, **options):
                yield piece
                os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    out, found, stopped = run(monkeypatch, Interrupted("The lock is released [1] now. ", "And more."))
    assert stopped and found.stopped and found.mode == "generate"
    assert "The lock is released" in out and "And more" not in out and "Stopped" in out
    assert signal.getsignal(signal.SIGINT) is before


@given(st.text(alphabet="ab 字，\n", max_size=120), st.integers(4, 30), st.data())
def test_a_stream_wraps_at_words_however_it_is_cut(text: str, width: int, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    out = io.StringIO()
    stream = Stream(out, width)
    for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True):
        stream(text[a:b])
    stream.end()
    lines = out.getvalue().split("\n")
    assert "".join(out.getvalue().split()) == "".join(text.split())
    longest = max((cell_len(word) for word in re.split(r"[ \n字，]", text)), default=0)
    assert all(cell_len(line) <= max(width, longest + 2) for line in lines)
    assert stream.text == text
