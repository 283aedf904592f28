"""A model hub on 127.0.0.1 with the two endpoints that a pull needs, and the faults that networks have."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

REVISION = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class SmallHub:
    """`files`: repository -> its folder. Tests switch the faults; `asked` is what came in, (path, range)."""

    files: dict[str, Path]
    licence: str | None = "apache-2.0"
    cut_after: int | None = None  # bytes; the connection is closed in the middle of a body, once
    refuse: bool = False  # files are answered by 503
    refuse_once_cut: bool = False  # after the cut, that is: the hub went down in the middle of a file
    garble: bool = False  # bytes are not those that were promised
    ignore_ranges: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def __enter__(self) -> SmallHub:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.answer(self)

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
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def fetched(self) -> list[tuple[str, str | None]]:
        """Requests for files, (name, range)."""
        mark = f"/resolve/{REVISION}/"
        return [(path.partition(mark)[2], span) for path, span in self.asked if mark in path]

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path, span = unquote(urlsplit(request.path).path), request.headers.get("Range")
        self.asked.append((path, span))
        repo, _, name = path.removeprefix("/").partition(f"/resolve/{REVISION}/")
        if path.startswith("/api/models/"):
            self._info(request, path.removeprefix("/api/models/"))
        elif name and (self.files[repo] / name).is_file():
            self._file(request, (self.files[repo] / name).read_bytes(), span)
        else:
            _send(request, 404, b"{}")

    def _info(self, request: BaseHTTPRequestHandler, repo: str) -> None:
        if repo not in self.files:
            request.close_connection = True
            return _send(request, 404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})
        root = self.files[repo]
        siblings = [_sibling(p.relative_to(root).as_posix(), p.read_bytes()) for p in root.rglob("*") if p.is_file()]
        info: dict[str, Any] = {"id": repo, "modelId": repo, "sha": REVISION, "siblings": siblings}
        if self.licence is not None:
            info["cardData"] = {"license": self.licence}
        return _send(request, 200, json.dumps(info).encode(), {"Content-Type": "application/json"})

    def _file(self, request: BaseHTTPRequestHandler, body: bytes, span: str | None) -> None:
        if self.refuse:
            return _send(request, 503, b"busy")
        if self.garble:
            body = body[::-1]
        start = int(span.removeprefix("bytes=").rstrip("-")) if span and not self.ignore_ranges else 0
        headers = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"} if start else {}
        if self.cut_after is not None and len(body) > self.cut_after:
            # Before the bytes go out: once the client has read them, the test may already be switching faults.
            cut, self.cut_after, self.refuse = self.cut_after, None, self.refuse_once_cut
            return _send(request, 200, body[start:], headers, cut)
        return _send(request, 206 if start else 200, body[start:], headers)


def _sibling(name: str, body: bytes) -> dict[str, Any]:
    """As the hub describes a file: weights lie in large-file storage (sha256), the rest in git (sha1 of a blob)."""
    blob = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
    sibling: dict[str, Any] = {"rfilename": name, "size": len(body), "blobId": blob}
    if name.endswith((".onnx", ".gguf")):
        sibling["blobId"] = hashlib.sha1(b"the pointer").hexdigest()
        sibling["lfs"] = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 134}
    return sibling


def _send(
    request: BaseHTTPRequestHandler,
    code: int,
    body: bytes,
    headers: dict[str, str] | None = None,
    cut: int | None = None,
) -> None:
    request.send_response(code)
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body[:cut])
    if cut is not None:
        request.close_connection = True
