"""An evaluator on a loopback port that answers as configured, even in hostile ways."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast


@dataclass(frozen=True)
class Received:
    """A request as it came in. `at` is its monotonic time."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def session_id(self) -> object:
        """The session of an EvalRequest."""
        return json.loads(self.body)["session_id"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    evaluator: "Evaluator"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores callers that hang up: most of these tests make them do so."""


class Exchange(BaseHTTPRequestHandler):
    """One request. An `Answer` writes any bytes to it."""

    protocol_version = "HTTP/1.1"
    received: Received

    @property
    def evaluator(self) -> "Evaluator":
        """The server of this request."""
        return cast("_Server", self.server).evaluator

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.received = Received(self.command, self.path, headers, body, time.monotonic())
        self.close_connection = True
        with suppress(OSError):
            self.evaluator.answer_to(self.received)(self)

    do_GET = do_POST = _handle  # noqa: N815 the base class requires these names

    def send_raw(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base's name
        """Logs nothing."""


Answer = Callable[[Exchange], None]


@dataclass
class Evaluator:
    """The requests so far, and the next answers: one of `script` each, then `default`.

    `config` answers /config. None stands for an evaluator without that route.
    """

    url: str
    default: Answer
    script: list[Answer] = field(default_factory=list)
    config: Answer | None = None
    requests: list[Received] = field(default_factory=list)
    most_in_flight: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)
    _in_flight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def deliveries(self) -> list[Received]:
        """The requests that brought a session."""
        return [request for request in self.requests if request.method == "POST"]

    def answer_to(self, request: Received) -> Answer:
        """Records the request and returns its answer."""
        if request.path.endswith("/config"):
            return self.config or reply(404)
        with self._lock:
            self.requests.append(request)
            return self.script.pop(0) if self.script else self.default

    @contextmanager
    def in_flight(self, request: Received) -> Iterator[None]:
        """Counts the concurrent evaluations that wait for their answer.

        The count ends before the answer is sent: its reader may send the next request at once.
        """
        if request.path.endswith("/config"):
            yield
            return
        with self._lock:
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1


@contextmanager
def running_evaluator() -> Iterator[Evaluator]:
    """Runs an evaluator that answers with a score by default."""
    server = _Server(("127.0.0.1", 0), Exchange)
    evaluator = Evaluator(f"http://127.0.0.1:{server.server_port}", default=scored())
    server.evaluator = evaluator
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield evaluator
    finally:
        evaluator.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def reply(
    status: int, body: object = b"", headers: Mapping[str, str] | None = None, after: float = 0.0
) -> Answer:
    """Returns an answer that is well-formed. Anything but bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(exchange: Exchange) -> None:
        with exchange.evaluator.in_flight(exchange.received):
            exchange.evaluator.stopping.wait(after)
        exchange.send_response(status)
        exchange.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            exchange.send_header(name, value)
        exchange.end_headers()
        exchange.send_raw(content)

    return answer


def scored(after: float = 0.0, **scores: float) -> Answer:
    """Returns a synchronous result."""
    return reply(200, {"scores": scores or {"task_success": 1.0}}, after=after)


def pending(job_id: str = "job-1", next_poll_secs: float | None = None) -> Answer:
    """Returns a JobPending."""
    return reply(202, {"job_id": job_id, "next_poll_secs": next_poll_secs})


def hang(exchange: Exchange) -> None:
    """Takes the request and never answers."""
    exchange.evaluator.stopping.wait(60)


def drip_header(exchange: Exchange) -> None:
    """Sends a header that grows by one byte at a time."""
    exchange.send_raw(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    _drip(exchange)


def drip_body(exchange: Exchange) -> None:
    """Sends a body that grows by one byte at a time."""
    exchange.send_raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    _drip(exchange)


def drip_informational(exchange: Exchange) -> None:
    """Sends interim answers without end."""
    while not exchange.evaluator.stopping.wait(0.02):
        exchange.send_raw(b"HTTP/1.1 100 Continue\r\n\r\n")


def flood_informational(exchange: Exchange) -> None:
    """Sends interim answers without end, as fast as the client reads them."""
    while not exchange.evaluator.stopping.is_set():
        exchange.send_raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


def endless_headers(exchange: Exchange) -> None:
    """Sends headers without end, as fast as the client reads them."""
    exchange.send_raw(b"HTTP/1.1 200 OK\r\n")
    while not exchange.evaluator.stopping.is_set():
        exchange.send_raw(b"X-More: " + b"x" * 4000 + b"\r\n")


def flood(total_bytes: int) -> Answer:
    """Sends a body of this size, valid JSON all the way."""

    def answer(exchange: Exchange) -> None:
        exchange.send_raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % total_bytes)
        exchange.send_raw(b'{"summary": "')
        chunk = b"x" * 65536
        for _ in range(total_bytes // len(chunk)):
            exchange.send_raw(chunk)

    return answer


def gzip_bomb(unpacked_bytes: int) -> Answer:
    """Sends a small gzip body that unpacks to a large one, without a request for compression."""

    def answer(exchange: Exchange) -> None:
        # Not earlier: every run makes all lists of cases.
        text = b'{"summary": "' + b" " * unpacked_bytes + b'"}'
        reply(200, gzip.compress(text), {"Content-Encoding": "gzip"})(exchange)

    return answer


def close_midway(exchange: Exchange) -> None:
    """Hangs up in the middle of the body."""
    exchange.send_raw(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"scores": ')


def close_at_once(exchange: Exchange) -> None:
    """Resets the connection without an answer."""
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    exchange.connection.close()


def garbage(exchange: Exchange) -> None:
    """Answers with something that is not HTTP."""
    exchange.send_raw(b"\x00\x01\x02 hello there\r\n\r\n" * 10)


def _drip(exchange: Exchange) -> None:
    while not exchange.evaluator.stopping.wait(0.02):
        exchange.send_raw(b"x")
