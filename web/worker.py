"""gunicorn's threaded worker, for clients that are slow, silent or never hang up.

In plain gunicorn a client can hold a thread without limit while it sends its headers or does not
read its answer, and for 5 s before its first byte. A client that leaves a finished connection open
stops the whole process for 2 s, because the main thread waits for it.
"""

import errno
import selectors
import socket
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

import structlog
from gunicorn.util import close_graceful
from gunicorn.workers.gthread import TConn, ThreadWorker

from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import request_context

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# The limit for the request line and the headers, which any client sends in one go.
HEAD_SECS = 10.0
# The limit for a client to take one more piece of a response.
SEND_SECS = 30.0
_SEND_BYTES = 256 * 1024
# The limit for a client to hang up, or to finish a body that was refused.
LINGER_SECS = 5.0
_LINGER_BYTES = 64 * 1024 * 1024


class TooSlow(TimeoutError):
    """The client did not send or read in time."""

    def __init__(self) -> None:
        # With this number gunicorn drops a connection without a traceback in the log.
        super().__init__(errno.ECONNRESET, "the client is too slow")


class Connection(socket.socket):
    """A client's socket. Reads end at a deadline, however slowly bytes trickle in before it."""

    _deadline = float("inf")

    def allow(self, seconds: float) -> None:
        """Limits all reads together from now on to this time."""
        self._deadline = time.monotonic() + seconds

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Returns the bytes that have arrived.

        Raises `TooSlow` when none did before the deadline.
        """
        patience = self.gettimeout()
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TooSlow
        try:
            self.settimeout(left if patience is None else min(left, patience))
            return super().recv(bufsize, flags)
        except TimeoutError:
            raise TooSlow from None
        finally:
            self.settimeout(patience)

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        """Sends everything. Raises `TooSlow` when the client reads nothing for `SEND_SECS`."""
        patience = self.gettimeout()
        if patience is None:
            self.settimeout(SEND_SECS)
        view = memoryview(data).cast("B")
        try:
            for start in range(0, len(view), _SEND_BYTES):
                super().sendall(view[start : start + _SEND_BYTES], flags)
        except TimeoutError:
            raise TooSlow from None
        finally:
            self.settimeout(patience)


class _Client(TConn):  # type: ignore[misc] # gunicorn is untyped
    sock: Connection
    timeout: float

    def close(self, graceful: bool = False) -> None:
        """Closes the connection once: gunicorn counts wrongly when a second close fails.

        `graceful` reads on for a moment. A client that is still sending has to see its answer,
        usually a 413. Without that it would only see a reset.
        """
        if self.sock.fileno() < 0:
            return
        if not graceful:
            super().close()
            return
        self.sock.setblocking(True)
        self.sock.allow(LINGER_SECS)
        close_graceful(self.sock, timeout=LINGER_SECS, max_drain=_LINGER_BYTES)


class Worker(ThreadWorker):  # type: ignore[misc] # gunicorn is untyped
    """The worker class of `web/gunicorn.py`."""

    nr_conns: int
    pending_conns: deque[_Client]
    keepalived_conns: deque[_Client]
    poller: selectors.BaseSelector

    def accept(self, listener: socket.socket) -> None:
        """Accepts a connection. It takes no thread before its first byte."""
        try:
            accepted, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED):
                return
            raise
        self.nr_conns += 1
        connection = Connection(fileno=accepted.detach())
        client = _Client(self.cfg, connection, address, listener.getsockname())
        client.timeout = time.monotonic() + self.cfg.keepalive
        if self.nr_conns >= self.worker_connections:
            self._drop_oldest_idle()
        self.pending_conns.append(client)
        self.poller.register(
            connection, selectors.EVENT_READ, partial(self.on_pending_socket_readable, client)
        )

    def handle(self, conn: _Client) -> object:
        """Answers a request. Returns whether the connection can serve another."""
        # The thread may still carry the context of the previous request.
        structlog.contextvars.clear_contextvars()
        conn.sock.allow(HEAD_SECS)
        reusable: object = super().handle(conn)
        if not reusable:
            # Close here and not in the main thread: the client may take its time to hang up.
            conn.close(graceful=True)
        return reusable

    def handle_error(
        self, req: object, client: Connection, addr: tuple[str, int], exc: Exception
    ) -> None:
        """Answers requests that never reach the application, and logs them under the same id."""
        with request_context(new_request_id()):
            super().handle_error(req, client, addr, exc)

    def _drop_oldest_idle(self) -> None:
        """Makes room for a new client: silent clients must not lock others out."""
        for waiting in (self.pending_conns, self.keepalived_conns):
            if waiting:
                client = waiting.popleft()
                self.poller.unregister(client.sock)
                self.nr_conns -= 1
                client.close()
                return

    def _cap_keepalive(self, deadline: float) -> None:
        super()._cap_keepalive(deadline)
        for client in self.pending_conns:
            client.timeout = min(client.timeout, deadline)
