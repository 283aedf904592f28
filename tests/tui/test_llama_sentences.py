"""What the language model raises is said in Chinese too: real errors, raised here, and not copies of their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glassbox_tui.models.chat import Message, complete
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.generators import open_generator
from glassbox_tui.models.llama import LlamaModel
from glassbox_tui.models.server import ServerModel
from glassbox_tui.settings import Settings
from glassbox_tui.tui import words
from glassbox_tui.tui.sentences import told

HELLO = [Message("user", "hello " * 300)]


@pytest.fixture(autouse=True)
def _chinese() -> Iterator[None]:
    before = words.spoken()
    words.speak("zh")
    yield
    words.speak(before)


@pytest.mark.llm
@pytest.mark.parametrize(
    "work",
    [
        lambda file: complete(LlamaModel(file, Settings(llm_context=256)), HELLO, 5),
        lambda file: complete(LlamaModel(file, Settings(llm_context=90_000)), HELLO, 5),
        lambda file: complete(LlamaModel(file.with_name("none.gguf"), Settings()), HELLO, 5),
        lambda _: open_generator(Settings(llm_repo="a/b", llm_file="c.gguf", data="/nowhere")),
    ],
)
def test_its_faults_are_said_in_chinese(smollm2: LlamaModel, work: Callable[[Path], object]) -> None:
    with pytest.raises(ModelError) as error:
        work(smollm2.path)
    assert told(str(error.value)) != str(error.value)


def test_a_server_elsewhere_is_refused_in_chinese(loopback: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(ModelError) as error:
        complete(ServerModel(Settings(llm_server="http://box.lan", llm_server_model="x")), HELLO[:0], 5)
    assert "不在本机" in told(str(error.value))
