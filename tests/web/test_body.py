"""Bodies that do not arrive as announced, on a real connection."""

import socket
from collections.abc import Iterator

import pytest
from flask import Flask
from werkzeug.test import EnvironBuilder, run_wsgi_app

from shared.runtime import Runtime
from tests.support.app import ADMIN_KEY, bearer
from web import body as body_module
from web.app import create_app


@pytest.fixture
def app(web_runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """An application that loses its patience soon."""
    monkeypatch.setattr(body_module, "STALL_SECS", 0.2)
    return create_app(web_runtime)


@pytest.fixture
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The client's and the server's end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def post(app: Flask, server: socket.socket, announced: int) -> tuple[str, bytes]:
    """Status line and body of what the application answers to a POST /keys on this connection."""
    with server.makefile("rb", buffering=0) as stream:
        environ = EnvironBuilder(
            path="/v1/keys",
            method="POST",
            headers=bearer(ADMIN_KEY).items(),
            content_type="application/json",
            environ_base={"gunicorn.socket": server, "wsgi.input_terminated": True},
        ).get_environ()
        environ.update({"wsgi.input": stream, "CONTENT_LENGTH": str(announced)})
        chunks, status, _ = run_wsgi_app(app, environ, buffered=True)
        return status, b"".join(chunks)


def test_a_client_that_stops_sending_gets_its_answer(
    app: Flask, connection: tuple[socket.socket, socket.socket]
) -> None:
    client, server = connection
    client.sendall(b'{"name":')
    status, body = post(app, server, announced=100)
    assert status.startswith("408")
    assert b"request_timeout" in body
    assert server.gettimeout() is None


def test_a_client_that_hangs_up(
    app: Flask, connection: tuple[socket.socket, socket.socket]
) -> None:
    client, server = connection
    client.sendall(b"{}")
    client.shutdown(socket.SHUT_WR)
    status, body = post(app, server, announced=100)
    assert status.startswith("400")
    assert b"incomplete_body" in body
