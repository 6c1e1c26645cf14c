"""Servers on loopback for a test."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Request:
    """A request that arrived. `headers` have small names."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """An answer; `document` is sent as JSON."""

    status: int
    document: Any
    headers: dict[str, str] = field(default_factory=dict)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    answer: Callable[[Request], Reply]

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(length))
        reply = type(self).answer(request)
        body = json.dumps(reply.document).encode()
        self.send_response(reply.status)
        named = {"Content-Type": "application/json", "Content-Length": len(body), **reply.headers}
        for name, value in named.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815 named so there

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 named so there
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: tests kill clients amid a request."""


@contextmanager
def running(answer: Callable[[Request], Reply]) -> Iterator[str]:
    """Runs a server that answers with this function, and yields its URL."""
    handler = type("Handler", (_Handler,), {"answer": staticmethod(answer)})
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def exporting(exports: dict[str, Any], key: str) -> Callable[[Request], Reply]:
    """Returns a function that answers as Watchpost's route of exports does."""

    def answer(request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {key}":
            return Reply(401, {"error": "unknown key", "code": "unauthorized"})
        address = urlsplit(request.path)
        parts = address.path.split("/")
        if parts[:3] != ["", "v1", "sessions"] or parts[4:] != ["export"]:
            return Reply(404, {"error": "there is no such route"})
        if address.query != "format=json":
            return Reply(422, {"error": "format"})
        if parts[3] not in exports:
            return Reply(404, {"error": "there is no such session"})
        return Reply(200, exports[parts[3]])

    return answer
