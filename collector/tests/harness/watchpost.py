"""A server on loopback that answers as Watchpost does, and can be told to answer otherwise."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import parse_qs, urlsplit

KEY = "wpk_test"
# Of one answer, like the real one.
_MOST_ERRORS = 20


@dataclass(frozen=True)
class Reply:
    """An answer. `cut` ends the connection instead, before or amid the answer."""

    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


def json_reply(status: int, document: object, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(document).encode(), named)


def refusal(status: int, text: str, **headers: str) -> Reply:
    return json_reply(status, {"error": text, "code": "some_code", "request_id": "0"}, **headers)


@dataclass(frozen=True)
class Request:
    """A request that arrived. `body` is unpacked."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    packed: bytes

    @property
    def body(self) -> bytes:
        return gzip.decompress(self.packed) if self.packed[:2] == b"\x1f\x8b" else self.packed


class Watchpost:
    """Everything that arrived. `replies` are given first, one a request."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.replies: deque[Reply] = deque()
        self.permissions = ["events:add"]
        # Requests with these bytes are answered with 500.
        self.breaks_on: bytes | None = None
        # Seconds since the epoch, if the clock is wrong.
        self.now: float | None = None
        self.url = ""
        # The path below which everything is.
        self.prefix = ""
        # Called when a request was kept, before its answer.
        self.before_answer: Callable[[], None] = lambda: None

    @property
    def lines(self) -> list[bytes]:
        """The lines of events that were accepted, in the order of arrival."""
        return [
            line
            for request in self.requests
            if request.path == "/v1/events"
            for line in request.body.splitlines()
            if is_event(line)
        ]

    def to(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def answer(self, request: Request) -> Reply:
        if self.replies:
            return self.replies.popleft()
        if self.breaks_on is not None and self.breaks_on in request.body:
            return refusal(500, "oh")
        if self.prefix and not request.path.startswith(self.prefix):
            return refusal(404, "there is another service")
        request = replace(request, path=request.path[len(self.prefix) :])
        if request.path == "/v1/health":
            return json_reply(200, {"status": "ok"})
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return refusal(401, "unknown key")
        self.requests.append(request)
        if request.path == "/v1/auth/introspect":
            return json_reply(200, {"name": "agents", "permissions": self.permissions})
        if request.path == "/v1/events":
            return json_reply(202, accepted(request.body))
        if request.path == "/v1/events/import":
            return json_reply(200, imported(request))
        # OTLP's answers have the type of the request.
        body = b"{}" if "json" in request.headers["content-type"] else b""
        return Reply(200, body, {"Content-Type": request.headers["content-type"]})


def is_event(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict) and "session_id" in json.loads(line)
    except ValueError:
        return False


def accepted(body: bytes) -> dict[str, Any]:
    """Returns the answer of `POST /v1/events`."""
    lines = [(n, line) for n, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    bad = [{"line": n, "error": "session_id is missing"} for n, line in lines if not is_event(line)]
    return {
        "accepted": len(lines) - len(bad),
        "skipped": len(bad),
        "errors": bad[:_MOST_ERRORS],
    }


def imported(request: Request) -> dict[str, Any]:
    """Returns an answer of `POST /v1/events/import`."""
    lines = request.body.splitlines()
    return {
        "format": request.query.get("format", "auto"),
        "dry_run": request.query.get("dry_run") == "true",
        "lines": len(lines),
        "events": len(lines),
        "accepted": len(lines),
        "duplicate": 0,
        "skipped": 0,
        "ignored": 0,
        "held_back": 0,
        "errors": [],
        "sessions": [],
        "session_count": 1,
        "skipped_sessions": [],
        "first_ts": None,
        "last_ts": None,
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet; the second one would wait for an acknowledgement
    service: Watchpost

    def _read(self) -> Request:
        address = urlsplit(self.path)
        return Request(
            self.command,
            address.path,
            {name: values[0] for name, values in parse_qs(address.query).items()},
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(int(self.headers.get("Content-Length", 0))),
        )

    def do_POST(self) -> None:
        reply = self.service.answer(self._read())
        self.service.before_answer()
        if reply.cut:
            self.close_connection = True
            # Half of an answer, if there is one.
            self.wfile.write(reply.body)
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(reply.status)
        named = {"Content-Type": "application/json", **reply.headers}
        for name, value in {**named, "Content-Length": str(len(reply.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST  # noqa: N815 named so there

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string(self.service.now or timestamp)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 named so there
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: tests kill clients amid a request."""


@contextmanager
def running_watchpost(tls: ssl.SSLContext | None = None) -> Iterator[Watchpost]:
    """Runs the server on a free port."""
    service = Watchpost()
    handler = type("Handler", (_Handler,), {"service": service})
    with _Server(("127.0.0.1", 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        service.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
