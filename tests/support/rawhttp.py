"""HTTP by hand, for requests that no client library would send."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class RawAnswer:
    """The first response on a connection."""

    status: int
    head: bytes
    body: bytes

    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)


def head(method: str, target: str, *headers: str, key: str | None = None) -> bytes:
    """Returns the request line and headers; with `key` as a bearer."""
    credential = [] if key is None else [f"Authorization: Bearer {key}"]
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *credential, *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def exchange(port: int, data: bytes, *, hang_up: bool = False, timeout: float = 30) -> RawAnswer:
    """Sends these bytes, as many as the server takes, and reads one response."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        try:
            connection.sendall(data)
            if hang_up:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The server has stopped reading. The answer is on its way.
        return read_answer(connection)


def read_answer(connection: socket.socket) -> RawAnswer:
    """Reads one response: its body by Content-Length, else until the server hangs up."""
    received = bytearray()
    while chunk := connection.recv(65536):
        received += chunk
        head_part, complete, body = bytes(received).partition(b"\r\n\r\n")
        length = _LENGTH.search(head_part)
        if complete and length and len(body) >= int(length[1]):
            break
    head_part, _, body = bytes(received).partition(b"\r\n\r\n")
    assert head_part.startswith(b"HTTP/1.1 "), head_part[:200]
    return RawAnswer(int(head_part.split(b" ", 2)[1]), head_part, body)


@contextmanager
def opened(port: int, data: bytes, count: int) -> Iterator[list[socket.socket]]:
    """Opens `count` connections that each send `data` and then stay silent."""
    with ExitStack() as stack:
        connections = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
            connections.append(stack.enter_context(connection))
            connection.sendall(data)
        yield connections
