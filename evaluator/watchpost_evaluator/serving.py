"""The command `serve`: an HTTP server for Watchpost's calls."""

from __future__ import annotations

import hmac
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from watchpost_evaluator import __version__
from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.errors import UsageError
from watchpost_evaluator.service import Reply, Service

MOST_BYTES = 26 * 1024 * 1024
_DRAIN_SECS = 10.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], service: Service, token: str | None) -> None:
        super().__init__(address, _Handler)
        self.service = service
        self.token = token
        self.under_way = 0
        self.lock = threading.Lock()

    def drain(self) -> None:
        """Waits for the requests under way, a moment at most: Watchpost sends them again."""
        ends = time.monotonic() + _DRAIN_SECS
        while self.under_way and time.monotonic() < ends:
            time.sleep(0.02)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = f"watchpost-evaluator/{__version__}"
    wbufsize = -1  # head and body in one packet
    timeout = 60

    def do_GET(self) -> None:
        """Answers liveness, settings and polls."""
        with _UnderWay(self.server):
            self._send(self._get())

    def do_POST(self) -> None:
        """Answers deliveries."""
        with _UnderWay(self.server):
            self._send(self._post())

    def _get(self) -> Reply:
        if self.path == "/health":
            return Reply(200, {"status": "ok"})
        if not self._is_allowed():
            return _UNAUTHORIZED
        if self.path == "/config":
            return Reply(200, {})
        if self.path.startswith("/evaluate/"):
            return self.server.service.poll(unquote(self.path[len("/evaluate/") :]))
        return _NO_ROUTE

    def _post(self) -> Reply:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MOST_BYTES:
            self.close_connection = True  # the body is not read
            if length.isdigit():
                return Reply(413, {"error": f"the request is larger than {MOST_BYTES} bytes"})
            return Reply(411, {"error": "the request has no Content-Length"})
        body = self.rfile.read(int(length))
        if not self._is_allowed():
            return _UNAUTHORIZED
        if self.path != "/evaluate":
            return _NO_ROUTE
        return self.server.service.evaluate(self.headers, body)

    def _is_allowed(self) -> bool:
        if self.server.token is None:
            return True
        sent = self.headers.get("Authorization", "").encode("latin-1", "replace")
        return hmac.compare_digest(sent, f"Bearer {self.server.token}".encode())

    def _send(self, reply: Reply) -> None:
        content = json.dumps(reply.document, allow_nan=False).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if reply.retry_after is not None:
            self.send_header("Retry-After", str(reply.retry_after))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 named so there
        """Says nothing of what is well; runs say what became of them."""

    def log_error(self, format: str, *args: Any) -> None:  # noqa: A002 named so there
        """Reports requests that are no HTTP."""
        sys.stderr.write(f"{self.address_string()}: {format % args}\n")


class _UnderWay:
    """Counts a request while it is answered."""

    def __init__(self, server: _Server) -> None:
        self._server = server

    def __enter__(self) -> None:
        with self._server.lock:
            self._server.under_way += 1

    def __exit__(self, *_raised: object) -> None:
        with self._server.lock:
            self._server.under_way -= 1


_UNAUTHORIZED = Reply(401, {"error": "authentication required: send the evaluator's token"})
_NO_ROUTE = Reply(404, {"error": "there is no such route"})


def serve(evaluators: Sequence[Evaluator], host: str, port: int, token_env: str | None) -> int:
    """Serves until SIGTERM or SIGINT, and prints the URL first. Raises `UsageError`.

    `token_env`: the variable with the token that Watchpost sends, None for none.
    """
    token = None
    if token_env is not None:
        token = os.environ.get(token_env, "").strip()
        if not token:
            raise UsageError(f"the variable {token_env} that --token-env names is not set")
    elif host not in ("localhost", "127.0.0.1", "::1"):
        sys.stderr.write("Everybody who reaches this may use it: set a token with --token-env.\n")
    try:
        server = _Server((host, port), Service(evaluators), token)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    for number in (signal.SIGTERM, signal.SIGINT):
        # `shutdown` waits for the loop, which this thread runs.
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    with server:
        names = ", ".join(sorted(one.name for one in evaluators))
        sys.stdout.write(f"serving {names} on http://{host}:{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever(poll_interval=0.1)
        server.drain()
    return 0
