"""A chat server on this machine: what is sent, what comes back however it is cut, and every way it can go wrong."""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_chat_server import SmallChatServer, body, event

from glassbox_tui.models import server as server_module
from glassbox_tui.models.chat import ChatModel, Message, complete, reached_limit
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.halves import joined
from glassbox_tui.models.llama import LlamaModel
from glassbox_tui.models.server import ServerModel, _events, _pieces, locate
from glassbox_tui.notes.bundled import bundled_corpus
from glassbox_tui.progress import Cancelled
from glassbox_tui.settings import Settings

ASKED = [Message("system", "Be brief."), Message("user", "Hello <|im_end|>")]
DONE = b"data: [DONE]\n\n"


@pytest.fixture
def server(loopback: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallChatServer]:
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:9")  # not to be used
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:9")
    with SmallChatServer() as started:
        yield started


def model(server: SmallChatServer, **more: Any) -> ServerModel:
    return ServerModel(Settings(llm_server=server.url, **more))


def test_the_answer_streams_and_the_text_is_sent_without_control_tokens(server: SmallChatServer) -> None:
    server.chat = body(event("Ranks ") + event("are 好") + DONE)
    asked = model(server, llm_server_model="mine")
    assert isinstance(asked, ChatModel)
    told: list[tuple[int, int]] = []
    assert list(asked.write(ASKED, 30, reading=lambda *step: told.append(step))) == ["Ranks ", "are 好"]
    ((path, given),) = server.asked
    assert path == "/v1/chat/completions"
    assert given["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello < |im_end|>"},
    ]
    assert (given["model"], given["max_tokens"], given["temperature"], given["stream"]) == ("mine", 30, 0.0, True)
    total = asked.count(ASKED)
    assert told == [(0, total), (total, total)]


def test_the_first_model_it_lists_is_asked_where_none_is_named(server: SmallChatServer) -> None:
    asked = model(server)
    assert complete(asked, ASKED, 5) == complete(asked, ASKED, 5) == "Hi"
    assert [path for path, _ in server.asked] == ["/v1/models", *["/v1/chat/completions"] * 2]
    assert server.asked[1][1]["model"] == "first"
    assert asked.name == f"first at {server.url}"


@pytest.mark.parametrize(
    "given", [b"{}", b'{"data": []}', b"<html>", b'{"data": [{"id": 3}]}', b'{"data": null}', b"[" * 200_000]
)
def test_a_list_without_a_model_is_one_sentence(server: SmallChatServer, given: bytes) -> None:
    server.models = given
    with pytest.raises(ModelError, match="lists no model: GLASSBOX_LLM_SERVER_MODEL"):
        complete(model(server), ASKED, 5)


def test_a_server_that_keeps_to_no_limit_is_left(server: SmallChatServer) -> None:
    """In one event or in many: what is read of it does not grow with what it sends."""
    for stream in (event("tea " * 20_000), event("tea ") * 20_000, event("\\n") * 80_000):
        server.chat = body(stream)  # without an end
        assert len(complete(model(server), ASKED, 20)) == len(complete(model(server), ASKED, 10)) * 2 <= 2_000


# -- what comes back -------------------------------------------------------------------------------------------------

STREAM = (
    b": keep-alive\n\n" + event("") + event("one ") + b"event: x\nid: 4\nretry: 5\n\n"
    + 'data: {"choices": [{"delta": {"content": "二"}}]}\n\n'.encode()
    + b'data: {"choices": []}\n\n' + b'data: {"choices": [{"delta":\ndata:  {"content": " three"}}]}\n\n'
    + b'data: {"choices": [{"delta": {"content": null}, "finish_reason": "stop"}]}\n\n'
)  # fmt: skip
ELSEWHERE = [["93.184.216.34"], ["127.0.0.1", "10.0.0.7"], ["0.0.0.0"], ["::ffff:10.0.0.7"], ["fe80::1%eth0"]]
NO_ADDRESSES = ["127.0.0.1:11434", "localhost", "ftp://a", "http://", "http://a:x", "http://u:p@a", "http://a?b"]


@given(st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(0, len(STREAM) + 60)), st.booleans())
def test_a_stream_reads_the_same_however_its_lines_end_and_it_is_cut(
    ending: bytes, cuts: list[int], done: bool
) -> None:
    data = (STREAM + (DONE if done else b"")).replace(b"\n", ending)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    stream = [data[a:b] for a, b in itertools.pairwise(edges)]
    assert list(_pieces(_events(stream), "it")) == ["one ", "二", " three"]


def test_a_server_that_does_not_stream_is_heard_too(server: SmallChatServer) -> None:
    whole = {"choices": [{"message": {"role": "assistant", "content": "All\nat once"}, "finish_reason": "stop"}]}
    server.chat = body(json.dumps(whole, indent=2).encode())
    assert complete(model(server), ASKED, 5) == "All\nat once"


@pytest.mark.parametrize(
    ("status", "data", "words"),
    [
        (
            404,
            b'{"error": {"message": "model \\"x\\"\\nnot found"}}',
            r'status 404 \(model "x" not found\).*_SERVER_MODEL',
        ),
        (500, b'{"error": "out of memory"}', r"status 500 \(out of memory\)$"),
        (503, b"", "status 503$"),
        (307, b"", "sends elsewhere .status 307., which is not followed"),
        (200, event("half"), "ended in the middle of its answer"),
        (200, b"", "ended in the middle of its answer"),
        (
            200,
            event("a") + b'data: {"error": {"message": "the context is too small"}}\n\n',
            "failed: the context is too",
        ),
        (200, b"data: <html>\n\n", "no JSON"),
        (200, b"<html>hello</html>", "ended in the middle"),
        (200, b"data: {\xff\n\n", "not UTF-8"),
        (200, b'data: {"choices": "x"}\n\ndata: 3\n\n', "ended in the middle"),
        (200, b"x" * 3_000_000, "a line without an end"),
    ],
)
def test_what_goes_wrong_is_one_sentence_that_names_the_server(
    server: SmallChatServer, status: int, data: bytes, words: str
) -> None:
    server.chat = body(data, status, Location=f"{server.url}/elsewhere")
    with pytest.raises(ModelError, match=words) as error:
        complete(model(server, llm_server_model="mine"), ASKED, 5)
    assert str(error.value).startswith(f"the server {server.url} ")
    assert "\n" not in str(error.value)
    assert len(server.asked) == 1


def test_a_connection_that_breaks_is_one_sentence(server: SmallChatServer) -> None:
    server.chat = body(event("a"), **{"Content-Length": "5000"})
    with pytest.raises(ModelError, match=r"broke off|ended in the middle"):
        complete(model(server, llm_server_model="mine"), ASKED, 5)


def test_no_server_is_one_sentence(server: SmallChatServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelError, match=rf"127\.0\.0\.1:{port} cannot be reached .*GLASSBOX_LLM_SERVER"):
        complete(ServerModel(Settings(llm_server=f"http://127.0.0.1:{port}")), ASKED, 5)


def test_a_server_that_falls_silent_is_one_sentence(server: SmallChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_SILENCE", 0.2)
    over = threading.Event()
    server.chat = lambda _: over.wait(10) and None
    with pytest.raises(ModelError, match="was silent for"):
        complete(model(server, llm_server_model="mine"), ASKED, 5)
    over.set()


def test_a_prompt_that_does_not_fit_names_both_numbers_and_is_not_sent(server: SmallChatServer) -> None:
    asked = model(server, llm_context=100)
    long = [Message("user", "long " * 200)]
    with pytest.raises(ModelError, match=rf"about {asked.count(long)} tokens .* room for 100 "):
        complete(asked, long, 5)
    assert server.asked == []


@given(st.text(alphabet="a好\U0001f600\U0001f468\u200d\U00020000é", max_size=12), st.data())
def test_a_character_is_whole_wherever_the_server_cuts_its_halves(text: str, data: st.DataObject) -> None:
    """JSON escapes an emoji as two halves; a server that counts in them may put an event between the two."""
    units = text.encode("utf-16-le")
    halves = [chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2)]
    edges = sorted({0, len(halves), *data.draw(st.lists(st.integers(0, len(halves))))})
    pieces = ["".join(halves[a:b]) for a, b in itertools.pairwise(edges)]
    stream = b"".join(event(piece) + b'data: {"choices": [{"delta": {"content": ""}}]}\n\n' for piece in pieces)
    written = list(joined(_pieces(_events([stream + DONE]), "it")))
    assert "".join(written) == text
    assert all(piece.encode() for piece in written)  # in whole characters each


def test_half_a_character_alone_is_one_mark_and_no_crash(server: SmallChatServer) -> None:
    server.chat = body(event("a\ud83d") + event("b\ude00") + event("\ud83d") + DONE)
    assert complete(model(server, llm_server_model="mine"), ASKED, 9) == "a\ufffdb\ufffd\ufffd"


def finished(reason: str | None) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {}, "finish_reason": reason}]}).encode() + b"\n\n"


@pytest.mark.parametrize(
    ("end", "cut"),
    [
        (finished("stop"), False), (finished("length"), True), (finished("stop") + DONE, False), (DONE, None),
        (finished("max_tokens") + DONE, True), (finished("eos_token"), False), (finished("content_filter"), None),
        (finished(None) + finished("stop"), False), (finished("stop") + finished(None) + DONE, False),
    ],
)  # fmt: skip
def test_whether_the_answer_breaks_off_is_what_the_server_says(
    server: SmallChatServer, end: bytes, cut: bool | None
) -> None:
    asked = model(server, llm_server_model="mine")
    assert reached_limit(asked) is None
    for text in ("no full stop", "A full stop."):
        server.chat = body(event(text) + end)
        assert complete(asked, ASKED, 9) == text
        assert reached_limit(asked) is cut


def test_what_a_server_says_of_one_answer_is_not_said_of_the_next(server: SmallChatServer) -> None:
    asked = model(server, llm_server_model="mine")
    server.chat = body(event("tea " * 50) + DONE)
    assert (len(complete(asked, ASKED, 2)), reached_limit(asked)) == (32, True)
    server.chat = body(event("tea") + DONE)
    assert (complete(asked, ASKED, 2), reached_limit(asked)) == ("tea", None)


# -- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [b"", event("one")])
def test_a_cancel_hangs_up_before_and_between_tokens(server: SmallChatServer, first: bytes) -> None:
    waits, gone = threading.Event(), threading.Event()

    def chat(request: BaseHTTPRequestHandler) -> None:
        if first:
            body(first)(request)
        waits.set()
        if request.connection.recv(1) == b"":  # nothing comes until the other side hangs up
            gone.set()

    server.chat = chat
    written = model(server, llm_server_model="mine").write(ASKED, 5, cancelled=waits.is_set)
    began = time.monotonic()
    with pytest.raises(Cancelled):
        list(written)
    assert time.monotonic() - began < 2
    assert gone.wait(5)


def test_a_second_text_waits_for_the_first_and_can_be_cancelled_meanwhile(server: SmallChatServer) -> None:
    server.chat = body(event("a") + event("b") + DONE)
    asked = model(server, llm_server_model="mine")
    first = asked.write(ASKED, 5)
    assert next(first) == "a"
    looks = iter([False, False, True])
    with pytest.raises(Cancelled):
        list(asked.write(ASKED, 5, cancelled=lambda: next(looks)))
    assert list(first) == ["b"]
    assert complete(asked, ASKED, 5) == "ab"


# -- where it is -----------------------------------------------------------------------------------------------------


def resolving(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    found = [(socket.AF_INET6 if ":" in h else socket.AF_INET, socket.SOCK_STREAM, 6, "", (h, 80)) for h in hosts]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


@pytest.mark.parametrize("hosts", ELSEWHERE)
def test_a_server_elsewhere_is_refused_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, hosts: list[str]
) -> None:
    resolving(monkeypatch, *hosts)
    with pytest.raises(ModelError, match=r"not this machine: nothing was sent there; GLASSBOX_LLM_REMOTE=1 allows"):
        complete(ServerModel(Settings(llm_server="http://localhost:8080")), ASKED, 5)


def test_a_server_elsewhere_is_asked_where_the_settings_allow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "192.0.2.7")
    tried: list[Any] = []

    def connect(address: Any, timeout: float) -> None:
        tried.append(address)
        raise OSError(113, "No route to host")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(ModelError, match=r"cannot be reached \(No route to host\)"):
        complete(ServerModel(Settings(llm_server="http://box.lan:8080", llm_remote=True)), ASKED, 5)
    assert tried == [("192.0.2.7", 8080)]


@pytest.mark.parametrize(
    ("url", "port", "path"),
    [
        ("http://127.0.0.1:11434", 11434, "/v1"),
        ("http://localhost:8080/v1/", 8080, "/v1"),
        ("http://localhost/api/v1", 80, "/api/v1"),
        ("https://[::1]/", 443, "/v1"),
    ],
)
def test_addresses_as_people_write_them(monkeypatch: pytest.MonkeyPatch, url: str, port: int, path: str) -> None:
    resolving(monkeypatch, "::1", "127.0.0.1")
    found = locate(url, remote=False)
    assert (found.hosts, found.port, found.path, found.tls) == (("::1", "127.0.0.1"), port, path, url[4] == "s")


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_what_is_no_address_is_one_sentence_with_an_example(url: str) -> None:
    with pytest.raises(ModelError, match=rf"GLASSBOX_LLM_SERVER '{re.escape(url)}' .*http://127\.0\.0\.1:11434"):
        locate(url, remote=True)


@pytest.mark.llm
def test_the_estimate_of_tokens_is_no_less_than_a_real_count_of_english(smollm2: LlamaModel) -> None:
    """Over notes in English, whose vocabulary the small model has; by at most twice as much."""
    asked = ServerModel(Settings(llm_server="http://127.0.0.1:1"))
    counts = []
    for note in sorted(bundled_corpus().rglob("*.md")):
        text = note.read_text(encoding="utf-8")
        if text.isascii():
            given = [Message("user", text)]
            counts.append((asked.count(given), smollm2.count(given)))
    assert len(counts) > 3
    assert all(real <= estimate <= 2 * real for estimate, real in counts), counts
