"""The web tier as it runs in production: gunicorn in separate processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from devstack.ports import free_port
from tests.support.app import ADMIN_KEY, AGENT_API_KEY

PROJECT = Path(__file__).resolve().parents[2]
_GUNICORN = Path(sys.executable).parent / "gunicorn"
_START_SECS = 120.0


@dataclass(frozen=True)
class Server:
    """A running server. `log` is the file of its output."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Sends one request on a new connection. Returns status, headers and body."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(
                method, path, body, {name.replace("_", "-"): headers[name] for name in headers}
            )
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()


def start_gunicorn(environ: dict[str, str], port: int, log: Path) -> subprocess.Popen[bytes]:
    """Starts the Procfile's `web` with these variables and nothing else of our environment."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [_GUNICORN, "-c", "web/gunicorn.py", "web.wsgi:app"],
            cwd=PROJECT,
            env={"PATH": os.environ["PATH"], "PORT": str(port), "WEB_BIND": "127.0.0.1", **environ},
            stdout=output,
            stderr=output,
        )


@contextmanager
def running_server(environ: dict[str, str], log: Path) -> Iterator[Server]:
    """Runs a server and stops it afterwards.

    Without the keys of the tests, its start would revoke them for all that follow.
    """
    port = free_port()
    keys = {"ADMIN_KEY": ADMIN_KEY, "AGENT_API_KEY": AGENT_API_KEY}
    server = Server(port, start_gunicorn(keys | environ, port, log), log)
    try:
        _wait_ready(server)
        yield server
    finally:
        server.process.send_signal(signal.SIGTERM)
        try:
            server.process.wait(40)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


def _wait_ready(server: Server) -> None:
    deadline = time.monotonic() + _START_SECS
    while True:
        try:
            server.request("GET", "/v1/health")
        except OSError:
            assert server.process.poll() is None, server.log.read_text()
            assert time.monotonic() < deadline, server.log.read_text()
            time.sleep(0.1)
        else:
            return
