"""An end for a conversation over a socket, however slowly the other side goes on talking."""

import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self


class Deadline:
    """Shuts the watched socket down after `secs`, which wakes whoever waits for it.

    A timeout alone is no end: a peer that sends a byte now and then starts it anew each time.
    """

    def __init__(self, secs: float) -> None:
        self._ends = time.monotonic() + secs
        self._timer = threading.Timer(secs, self._end)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._watched: socket.socket | None = None
        self.passed = False

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._watched is not None:
                self._watched.close()
                self._watched = None

    def connect(self, host: str, port: int, *, wait_secs: float) -> socket.socket:
        """A watched connection whose every wait ends after `wait_secs`; raises `OSError`."""
        failure = OSError(f"{host} has no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        ):
            left = self._ends - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            made = socket.socket(family, kind, protocol)
            try:
                made.settimeout(min(wait_secs, left))
                made.connect(address)
            except OSError as error:
                made.close()
                failure = error
                continue
            made.settimeout(wait_secs)
            self._watch(made)
            return made
        raise failure

    def _watch(self, connection: socket.socket) -> None:
        with self._lock:
            # A handle of our own: TLS takes the caller's away, the connection is the same.
            self._watched = connection.dup()
            if self.passed:
                self._watched.shutdown(socket.SHUT_RDWR)

    def _end(self) -> None:
        with self._lock:
            self.passed = True
            if self._watched is not None:
                with suppress(OSError):  # The peer was faster.
                    self._watched.shutdown(socket.SHUT_RDWR)
