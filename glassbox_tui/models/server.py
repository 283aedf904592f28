"""An OpenAI-compatible server as a `ChatModel`: Ollama, llama-server and others that a person already runs.

It must be on this machine unless the settings say otherwise, and is reached directly: no proxy, no redirect.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import queue
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from glassbox_tui.models.chat import Message, ReadingFn
from glassbox_tui.models.control_tokens import neutral
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.halves import joined
from glassbox_tui.progress import Cancelled, CancelledFn
from glassbox_tui.settings import Settings

# A server does not say what it can, and one that is given more may silently drop the beginning of it (Ollama does).
CONTEXT = 4_096
_LOOK = 0.05  # seconds between looks at `cancelled`
_CONNECT = 5.0  # seconds to accept a connection
_SILENCE = 300.0  # seconds without a byte: a large model reads a long prompt, and may have to be loaded first
_LONGEST = 1 << 20  # bytes of one event or of an answer that is no stream
_LONGEST_TOKEN = 16  # characters, so many tokens on end: who writes more does not keep to the limit
_PER_MESSAGE = 8  # tokens that a chat format puts around a message, at most
_LINE_END = re.compile(rb"\r\n|\n|\r")
_FIELD = re.compile(r"(event|id|retry)?:")
# Why a text ended, by `finish_reason`: at the limit, or where the model was done. Servers use these words, and others.
_AT_LIMIT = frozenset({"length", "max_tokens", "model_length"})
_DONE = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence"})
# Runs that count alike: letters, then single characters. A blank goes with the word after it.
_RUN = re.compile(r"[A-Za-z]+|[^A-Za-z ]| {2,}")
_PLAIN = re.compile(r"[\x00-\x7f\u2000-\u206f\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is: `hosts` are addresses, `name` is what the person wrote, `path` that of its interface."""

    hosts: tuple[str, ...]
    port: int
    tls: bool
    name: str
    path: str


class ServerModel:
    """A model behind an HTTP server. One text is asked for at a time, others wait their turn."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is asked of the server yet."""
        self._settings = settings
        self._turn = Lock()
        self._model = settings.llm_server_model.strip()
        self._reached_limit: bool | None = None

    @property
    def reached_limit(self) -> bool | None:
        """Whether the text written last was cut at its limit; None: the server did not say."""
        return self._reached_limit

    @property
    def name(self) -> str:
        model = " ".join(self._model.split())[:80] or "a model"  # as short as a server's own name for it should be
        return f"{model} at {self._settings.llm_server}"

    @property
    def context(self) -> int:
        return self._settings.llm_context or CONTEXT

    @property
    def languages(self) -> tuple[str, ...]:
        return ()

    def count(self, messages: Sequence[Message]) -> int:
        """An upper estimate: whether it is one depends on the model's vocabulary, which nobody tells."""
        return sum(_PER_MESSAGE + _most_tokens(neutral(m.text)) for m in messages) + _PER_MESSAGE

    def write(
        self,
        messages: Sequence[Message],
        limit: int,
        *,
        cancelled: CancelledFn = lambda: False,
        reading: ReadingFn = lambda done, total: None,
        temperature: float = 0.0,
    ) -> Iterator[str]:
        """The next turn as it comes; see `ChatModel.write`. A cancel closes the connection."""
        while not self._turn.acquire(timeout=_LOOK):
            if cancelled():
                raise Cancelled
        try:
            yield from self._written(messages, limit, cancelled, reading, temperature)
        finally:
            self._turn.release()

    def _written(
        self, messages: Sequence[Message], limit: int, cancelled: CancelledFn, reading: ReadingFn, temperature: float
    ) -> Iterator[str]:
        total = self.count(messages)
        if total >= self.context:
            raise ModelError(
                f"the prompt has about {total:,} tokens and {self._where} is taken to have room for {self.context:,}"
                " with its answer: ask with fewer passages (GLASSBOX_TOPK), or set GLASSBOX_LLM_CONTEXT to what it has"
            )
        reading(0, total)
        if not self._model:
            self._model = _first_model(b"".join(self._exchange("GET", "/models", None, cancelled)), self._where)
        limit = min(limit, self.context - total)
        body = {
            "model": self._model,
            "messages": [{"role": m.role, "content": neutral(m.text)} for m in messages],
            "max_tokens": limit,
            "temperature": temperature,
            "seed": 1,
            "stream": True,
        }
        began, room = False, limit * _LONGEST_TOKEN
        events = _events(self._exchange("POST", "/chat/completions", body, cancelled))
        self._reached_limit = None
        for piece in joined(_pieces(events, self._where, self._ended)):
            if not began:
                reading(total, total)
                began = True
            yield piece[:room]
            room -= len(piece)
            if room <= 0:  # a server that knows no limit may write for ever
                self._reached_limit = True
                return

    def _ended(self, reason: str) -> None:
        self._reached_limit = True if reason in _AT_LIMIT else False if reason in _DONE else None

    @property
    def _where(self) -> str:
        return f"the server {self._settings.llm_server}"

    def _exchange(self, method: str, path: str, body: Any, cancelled: CancelledFn) -> Iterator[bytes]:
        """The bytes that the server answers, as they come; the connection ends with the iterator.

        A thread of its own reads, so that whoever waits for the first token hears a cancel.
        """
        address = locate(self._settings.llm_server, self._settings.llm_remote)
        call = _Call(address, method, f"{address.path}{path}", body)
        threading.Thread(target=call.run, name="server", daemon=True).start()
        try:
            while True:
                if cancelled():
                    raise Cancelled
                try:
                    data = call.came.get(timeout=_LOOK)
                except queue.Empty:
                    continue
                if isinstance(data, Exception):
                    raise ModelError(_sentence(self._where, data)) from None
                if not data:
                    return
                yield data
        finally:
            call.hang_up()


class _Call:
    """One request; `came` gets what is answered piece by piece, then b"" or what went wrong."""

    def __init__(self, address: Address, method: str, path: str, body: Any) -> None:
        self._address, self._method, self._path, self._body = address, method, path, body
        self._lock, self._over = Lock(), False
        self._sock: socket.socket | None = None
        self.came: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def run(self) -> None:
        try:
            connection = http.client.HTTPConnection(self._address.name, self._address.port)
            connection.sock = self._connected()
            data = None if self._body is None else json.dumps(self._body).encode()
            headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
            connection.request(self._method, self._path, data, headers)
            with connection.getresponse() as response:
                if response.status != http.HTTPStatus.OK:
                    raise _Refused(response.status, response.read(_LONGEST))
                while data := response.read1(1 << 16):
                    self.came.put(data)
            self.came.put(b"")
        except Exception as error:  # to be said where it is waited for
            self.came.put(error)
        finally:
            self.hang_up()

    def hang_up(self) -> None:
        """End it, from any thread; a second call does nothing."""
        with self._lock:
            self._over = True
            if self._sock is not None:
                with suppress(OSError):
                    self._sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads; close alone does not
                self._sock.close()
                self._sock = None

    def _connected(self) -> socket.socket:
        sock = _connect(self._address)
        sock.settimeout(_SILENCE)
        with self._lock:
            if self._over:
                sock.close()
                raise ConnectionAbortedError("cancelled")
            self._sock = sock
        return sock


class _Refused(Exception):
    """The server answered with another status than 200."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status, self.body = status, body


class _Odd(Exception):
    """The server answered something that the protocol does not have; the text says what."""


def locate(url: str, remote: bool) -> Address:
    """Where the server of GLASSBOX_LLM_SERVER is. Raises ModelError: no such address, or not on this machine."""
    example = "write it as http://127.0.0.1:11434"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ModelError(f"GLASSBOX_LLM_SERVER {url!r} is no address ({error}): {example}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelError(f"GLASSBOX_LLM_SERVER {url!r} is no address of a server: {example}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ModelError(f"GLASSBOX_LLM_SERVER {url!r} has a name, a question or a mark in it: {example}")
    tls = parts.scheme == "https"
    port = port or (443 if tls else 80)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"GLASSBOX_LLM_SERVER: {parts.hostname!r} cannot be found ({reason})") from None
    hosts = tuple(dict.fromkeys(str(place[4][0]) for place in found))
    elsewhere = [host for host in hosts if not _is_loopback(host)]
    if elsewhere and not remote:
        raise ModelError(
            f"GLASSBOX_LLM_SERVER {url} is {elsewhere[0]}, which is not this machine: nothing was sent there;"
            " GLASSBOX_LLM_REMOTE=1 allows it"
        )
    path = parts.path.rstrip("/").removesuffix("/v1")
    return Address(hosts, port, tls, parts.hostname, f"{path}/v1")


def _is_loopback(host: str) -> bool:
    address = ipaddress.ip_address(host.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _connect(address: Address) -> socket.socket:
    """To the first address that accepts: those that were looked at, so that no name is resolved again."""
    fault: OSError = OSError("it has no address")
    for host in address.hosts:
        try:
            sock = socket.create_connection((host, address.port), timeout=_CONNECT)
        except OSError as error:
            fault = error
            continue
        if not address.tls:
            return sock
        import ssl

        return ssl.create_default_context().wrap_socket(sock, server_hostname=address.name)
    raise _NotThere(str(fault.strerror or fault)) from None


class _NotThere(Exception):
    """No connection."""


def _sentence(where: str, error: Exception) -> str:
    match error:
        case _NotThere():
            return f"{where} cannot be reached ({error}): start it, or unset GLASSBOX_LLM_SERVER"
        case _Refused(status=status) if 300 <= status < 400:
            return f"{where} sends elsewhere (status {status}), which is not followed: name the right address"
        case _Refused(status=status, body=body):
            said = _message(body)
            model = "; GLASSBOX_LLM_SERVER_MODEL names the model" if status == http.HTTPStatus.NOT_FOUND else ""
            return f"{where} answered with status {status}{f' ({said})' if said else ''}{model}"
        case TimeoutError():
            return f"{where} was silent for {_SILENCE:.0f} seconds: ask again, or take a smaller model"
        case _Odd():
            return f"{where} {error}"
        case _:
            return f"{where} broke off ({str(error).strip() or type(error).__name__}): ask again"


def _message(body: bytes) -> str:
    """What an error's body says, on one line."""
    text = body.decode("utf-8", "replace").strip()
    with suppress(ValueError):
        text = _error_text(_json(text)) or text
    return " ".join(text.split())[:200]


def _json(text: str | bytes) -> Any:
    """A document. Raises ValueError for what is none, or is nested deeper than anything a chat server sends."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _error_text(document: Any) -> str:
    """The sentence in {"error": "..."} or {"error": {"message": "..."}}; "" where there is no error."""
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(error, dict):
        error = error.get("message") or json.dumps(error)
    return str(error) if error else ""


def _first_model(body: bytes, where: str) -> str:
    try:
        name = _json(body)["data"][0]["id"]
    except (ValueError, KeyError, IndexError, TypeError):
        name = None
    if not isinstance(name, str) or not name:
        raise ModelError(f"{where} lists no model: GLASSBOX_LLM_SERVER_MODEL names the one to ask for")
    return name


def _events(stream: Iterable[bytes]) -> Iterator[str]:
    """The data of each event of a stream of server-sent events; the whole body where it is one JSON document.

    https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
    """
    data: list[str] = []
    for line in _lines(stream):
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("{") or (data and data[0].startswith("{") and not _FIELD.match(line)):
            data.append(line)  # no stream at all: a server that knows none
    if data:
        yield "\n".join(data)


def _lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Lines that end with CR LF, LF or CR, wherever the pieces were cut. Raises _Odd for what is no text."""
    held = b""
    for piece in stream:
        held += piece
        # A CR at the end may be half of a CR LF.
        *lines, held = _LINE_END.split(held) if not held.endswith(b"\r") else (held,)
        if len(held) > _LONGEST:
            raise _Odd("sent a line without an end: it is no chat server")
        for line in lines:
            yield _text(line)
    for line in _LINE_END.split(held):
        yield _text(line)


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise _Odd("sent bytes that are not UTF-8: it is no chat server") from None


def _pieces(events: Iterable[str], where: str, over: Callable[[str], None] = lambda reason: None) -> Iterator[str]:
    """The text in the events of a chat completion; `over` is told why it ended, if the server says so.

    Raises ModelError for an error among them, and for half a stream.
    """
    ended = False
    try:
        for event in events:
            if event.strip() == "[DONE]":
                return
            try:
                document = _json(event)
            except ValueError:
                raise _Odd(f"sent what is no JSON ({event[:60]!r}): it is no chat server") from None
            if said := _error_text(document):
                raise _Odd(f"failed: {' '.join(said.split())[:200]}")
            text, reason, whole = _choice(document)
            if reason:
                over(reason)
            ended = ended or whole or bool(reason)
            if text:
                yield text
        if not ended:
            raise _Odd("ended in the middle of its answer: ask again")
    except _Odd as error:
        raise ModelError(_sentence(where, error)) from None


def _choice(document: Any) -> tuple[str, str, bool]:
    """(text, why it is the last, whether it is all) of one event or of an answer; the rest does not matter."""
    choices = document.get("choices") if isinstance(document, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    said = choice.get("delta") or choice.get("message")
    text = said.get("content") if isinstance(said, dict) else None
    return text if isinstance(text, str) else "", str(choice.get("finish_reason") or ""), bool(choice.get("message"))


def _most_tokens(text: str) -> int:
    """Tokens of a text, rather too many: a third of a word's letters, one a digit, sign or CJK character, or three."""
    return sum(
        -(-len(run) // 3) if run.isascii() and run.isalpha() else len(run) * (1 if _PLAIN.match(run) else 3)
        for run in _RUN.findall(text)
    )
