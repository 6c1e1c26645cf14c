"""The address of web: a guess counts from its first answer on."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from devstack.ports import free_port
from shared.foundation.core.config import Settings
from shared.intake.canary.address import NoWebAnswer, Web, post

pytestmark = pytest.mark.flow


class Handler(BaseHTTPRequestHandler):
    """A web tier, or another server that answers everything."""

    body = b'{"status":"ok"}'

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def settings(port: int, **urls: str) -> Settings:
    return Settings(database_url="p", redis_url="r", clickhouse_url="c", port=port, **urls)  # type: ignore[arg-type]


def serve(port: int, body: bytes) -> HTTPServer:
    server = HTTPServer(("127.0.0.1", port), type("Own", (Handler,), {"body": body}))
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


def end(server: HTTPServer) -> None:
    server.shutdown()
    server.server_close()


def test_a_named_address_counts_at_once() -> None:
    web = Web(settings(free_port(), canary_url="http://127.0.0.1:1"))
    assert web.url() == "http://127.0.0.1:1"
    with pytest.raises(NoWebAnswer):
        post("http://127.0.0.1:1", b"{}", "secret")


def test_a_guess_counts_from_its_first_answer_on() -> None:
    port, public = free_port(), free_port()
    web = Web(settings(port, public_url=f"http://127.0.0.1:{public}"))
    assert web.url() is None
    other = serve(port, b"<html>")
    assert web.url() is None
    ours = serve(public, Handler.body)
    assert web.url() == f"http://127.0.0.1:{public}"
    end(ours)
    end(other)
    assert web.url() == f"http://127.0.0.1:{public}"


def test_the_address_on_this_machine_is_tried_first() -> None:
    port, public = free_port(), free_port()
    servers = [serve(port, Handler.body), serve(public, Handler.body)]
    web = Web(settings(port, public_url=f"http://127.0.0.1:{public}", web_bind="0.0.0.0"))  # noqa: S104 only named
    assert web.url() == f"http://127.0.0.1:{port}"
    for server in servers:
        end(server)
