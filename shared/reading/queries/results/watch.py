"""Checks the deadline and the client while the database computes an answer."""

import socket
import time
from collections.abc import Callable

from clickhouse_driver import defines
from clickhouse_driver.bufferedreader import BufferedSocketReader
from clickhouse_driver.connection import Connection
from clickhouse_driver.streams.native import BlockInputStream

from shared.reading.queries.results.blocks import Blocks

_STEP_SECS = 0.1


class DeadlineExpired(Exception):
    """There was no complete answer until the deadline."""


class ClientCancelled(Exception):
    """The client no longer wants the answer."""


class TooManyBytes(Exception):
    """The answer is larger than allowed."""


class Watch:
    """The bounds of one answer: a moment on the monotonic clock, a callback, a number of bytes.

    Checks between the database's packets would not suffice: it sends none while it prepares a
    statement, or hangs.
    """

    def __init__(self, *, deadline: float, cancelled: Callable[[], bool], most: int) -> None:
        self._deadline = deadline
        self._cancelled = cancelled
        self._left = most
        self._asked = 0.0

    def look(self) -> None:
        """Calls back at most every tenth of a second.

        Raises `DeadlineExpired` or `ClientCancelled`.
        """
        now = time.monotonic()
        if now >= self._deadline:
            raise DeadlineExpired
        if now - self._asked >= _STEP_SECS:
            self._asked = now
            if self._cancelled():
                raise ClientCancelled

    def received(self, size: int) -> None:
        """Counts the bytes that have arrived; raises `TooManyBytes`."""
        self._left -= size
        if self._left < 0:
            raise TooManyBytes

    def attach(self, connection: Connection) -> None:
        """Applies these bounds to all further reads of the open connection."""
        watched = connection.socket
        if not isinstance(watched, _WatchedSocket):
            watched = _WatchedSocket(connection.socket)
        watched.watch = self
        connection.socket = watched
        connection.fin = BufferedSocketReader(watched, defines.BUFFER_SIZE)
        connection.block_in = Blocks(connection.fin)
        connection.block_in_raw = BlockInputStream(connection.fin, connection.context)


class _WatchedSocket:
    """A socket whose reads are watched."""

    watch: Watch

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner

    def recv_into(self, buffer: bytearray) -> int:
        """Receives like a socket, with checks while it waits."""
        patience = self._inner.gettimeout()
        self._inner.settimeout(_STEP_SECS)
        try:
            while True:
                self.watch.look()
                try:
                    size = self._inner.recv_into(buffer)
                except TimeoutError:
                    continue
                self.watch.received(size)
                return size
        finally:
            self._inner.settimeout(patience)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)
