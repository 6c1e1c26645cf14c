"""Checks whether a request's client is still there while its answer is being made."""

import select
import socket
import ssl
from collections.abc import Callable

from flask import request

# Linux reports at once that the other side will send no more. Other systems only report a close.
_SENDS_NO_MORE = getattr(select, "POLLRDHUP", 0)
# An interim answer that every client of HTTP/1.1 ignores (RFC 9110, section 15.2).
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def client_watch() -> Callable[[], bool]:
    """Returns a function that tells whether the client of the current request has gone away.

    It returns False when this cannot be known, and always outside of gunicorn.
    """
    connection = request.environ.get("gunicorn.socket")
    if not isinstance(connection, socket.socket) or isinstance(connection, ssl.SSLSocket):
        return lambda: False
    speaks_11 = request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
    return _ConnectionWatch(connection, may_ask=speaks_11).is_gone


class _ConnectionWatch:
    """The connection of a client that may be gone.

    A client that sends no more may have been killed, or may be waiting for its answer. The two
    differ only when something is sent: a killed client's system refuses it. Bytes that the client
    sent ahead belong to its next request. They prove nothing and are left alone.
    """

    def __init__(self, connection: socket.socket, *, may_ask: bool) -> None:
        self._connection = connection
        self._may_ask = may_ask
        self._poll = select.poll()
        self._poll.register(connection, _SENDS_NO_MORE)

    def is_gone(self) -> bool:
        events = dict(self._poll.poll(0)).get(self._connection.fileno(), 0)
        if events & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
            return True
        if events & _SENDS_NO_MORE and self._may_ask:
            self._may_ask = False
            try:
                self._connection.send(_CONTINUE, socket.MSG_DONTWAIT)
            except BlockingIOError:
                # The client has not read its earlier answers yet.
                pass
            except OSError:
                return True
        return False
