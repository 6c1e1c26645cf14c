"""Bodies that arrive differently from their announcement, on a real connection."""

import dataclasses
import io
import socket
import threading
from collections.abc import Iterator

import msgspec
import pytest
from flask import Flask
from gunicorn.http.body import Body, LengthReader
from gunicorn.http.unreader import SocketUnreader
from werkzeug.test import EnvironBuilder, run_wsgi_app

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, bearer
from web.app import create_app
from web.worker import Connection


@pytest.fixture
def impatient(web_runtime: Runtime) -> Flask:
    """An application with a short timeout."""
    settings = msgspec.structs.replace(web_runtime.settings, web_receive_timeout_secs=0.3)
    return create_app(dataclasses.replace(web_runtime, settings=settings))


@pytest.fixture
def connection() -> Iterator[tuple[socket.socket, Connection]]:
    """The client's end and the server's."""
    ours, theirs = socket.socketpair()
    with ours, Connection(fileno=theirs.detach()) as server:
        yield ours, server


def post(app: Flask, server: Connection, announced: int) -> tuple[str, bytes]:
    """Sends POST /keys over this connection. Returns the answer's status line and body."""
    environ = EnvironBuilder(
        path="/v1/keys",
        method="POST",
        headers=bearer(ADMIN_KEY).items(),
        content_type="application/json",
        environ_base={"gunicorn.socket": server, "wsgi.input_terminated": True},
    ).get_environ()
    body = Body(LengthReader(SocketUnreader(server), announced))
    environ.update({"wsgi.input": body, "CONTENT_LENGTH": str(announced)})
    chunks, status, _ = run_wsgi_app(app, environ, buffered=True)
    return status, b"".join(chunks)


def test_a_client_that_stops_sending_gets_its_answer(
    impatient: Flask, connection: tuple[socket.socket, Connection]
) -> None:
    client, server = connection
    client.sendall(b'{"name":')
    status, body = post(impatient, server, announced=100)
    assert status.startswith("408")
    assert b"request_timeout" in body
    assert server.gettimeout() is None


def test_a_client_that_sends_a_byte_now_and_then_gets_no_more_time(
    impatient: Flask, connection: tuple[socket.socket, Connection]
) -> None:
    client, server = connection
    done = threading.Event()

    def drip() -> None:
        while not done.wait(0.05):
            client.sendall(b" ")

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        status, _ = post(impatient, server, announced=1000)
    finally:
        done.set()
        dripping.join()
    assert status.startswith("408")


def test_a_client_that_hangs_up(app: Flask, connection: tuple[socket.socket, Connection]) -> None:
    client, server = connection
    client.sendall(b"{}")
    client.shutdown(socket.SHUT_WR)
    status, body = post(app, server, announced=100)
    assert status.startswith("400")
    assert b"incomplete_body" in body


@pytest.mark.parametrize(("size", "status"), [(2 * 1024 * 1024, 400), (2 * 1024 * 1024 + 1, 413)])
def test_a_body_of_unannounced_length_is_not_cut_off(app: Flask, size: int, status: int) -> None:
    """One byte too many is refused. A body of exactly the limit is read, and is not JSON."""
    environ = EnvironBuilder(
        path="/v1/keys",
        method="POST",
        headers=bearer(ADMIN_KEY).items(),
        content_type="application/json",
        environ_base={"wsgi.input_terminated": True},
    ).get_environ()
    environ["wsgi.input"] = io.BytesIO(bytes(size))
    _, answered, _ = run_wsgi_app(app, environ, buffered=True)
    assert answered.startswith(str(status))
