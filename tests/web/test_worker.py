"""Sockets of deliberately slow clients. tests/flows covers the rest of the worker."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from web import worker
from web.worker import Connection, TooSlow


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, Connection]]:
    """The client's end and the server's."""
    client, server = socket.socketpair()
    with client, Connection(fileno=server.detach()) as connection:
        yield client, connection


def test_reads_end_at_the_deadline_whatever_drips_in(
    pair: tuple[socket.socket, Connection],
) -> None:
    client, connection = pair
    ended = threading.Event()

    def drip() -> None:
        while not ended.wait(0.02):
            client.sendall(b"x")

    dripping = threading.Thread(target=drip)
    dripping.start()
    began = time.monotonic()
    connection.allow(0.3)
    try:
        with pytest.raises(TooSlow):
            _read_to_the_end(connection)
    finally:
        ended.set()
        dripping.join()
    assert time.monotonic() - began > 0.2
    assert connection.gettimeout() is None


def test_a_shorter_patience_of_the_server_counts(pair: tuple[socket.socket, Connection]) -> None:
    _, connection = pair
    connection.allow(60)
    connection.settimeout(0.05)
    with pytest.raises(TimeoutError):
        connection.recv(1)
    assert connection.gettimeout() == 0.05


def test_a_client_that_takes_nothing_is_given_up(
    pair: tuple[socket.socket, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, connection = pair
    monkeypatch.setattr(worker, "SEND_SECS", 0.1)
    with pytest.raises(TooSlow):
        connection.sendall(bytes(64 * 1024 * 1024))
    assert connection.gettimeout() is None


def test_a_client_that_takes_its_time_gets_everything(
    pair: tuple[socket.socket, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is for each piece. The whole takes several times as long."""
    client, connection = pair
    sendall = socket.socket.sendall
    sent = bytes(range(256)) * 16 * 1024
    received = bytearray()

    def send_slowly(self: socket.socket, data: memoryview, flags: int = 0) -> None:
        """Simulates a client that takes 10 KiB a second, without the minutes of waiting."""
        patience = self.gettimeout()
        if patience is not None and len(data) / 10_240 > patience:
            raise TimeoutError
        sendall(self, data, flags)

    def read() -> None:
        while len(received) < len(sent):
            received.extend(client.recv(1024 * 1024))

    monkeypatch.setattr(socket.socket, "sendall", send_slowly)
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    connection.sendall(sent)
    reader.join(30)
    assert received == sent


def _read_to_the_end(connection: Connection) -> None:
    while connection.recv(1):
        pass
