"""A chat server on 127.0.0.1 that answers what a test tells it to, byte by byte, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


def event(text: str, **more: Any) -> bytes:
    """One event of a chat completion."""
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}, **more}]}).encode() + b"\n\n"


def body(data: bytes, status: int = 200, **headers: str) -> Answer:
    """An answer that is there at once, closed when it is over."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(data)

    return answer


@dataclass
class SmallChatServer:
    """`chat`: how a chat completion is answered; `models`: the body of the list of models."""

    chat: Answer = field(default_factory=lambda: body(event("Hi") + b"data: [DONE]\n\n"))
    models: bytes = b'{"data": [{"id": "first"}, {"id": "second"}]}'
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def __enter__(self) -> SmallChatServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, None))
                body(server.models)(self)

            def do_POST(self) -> None:
                given = self.rfile.read(int(self.headers["Content-Length"]))
                server.asked.append((self.path, json.loads(given)))
                server.chat(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"
