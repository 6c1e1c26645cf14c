"""Whether the client of a request is still there, asked while its answer is being made."""

import select
import socket
import ssl
from collections.abc import Callable

from flask import request

# Linux tells at once that the other side will send no more; elsewhere only that all is over.
_SENDS_NO_MORE = getattr(select, "POLLRDHUP", 0)
# An interim answer that every client of HTTP/1.1 ignores (RFC 9110, section 15.2).
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def client_watch() -> Callable[[], bool]:
    """A question for the current request: has its client gone away?

    False for as long as nobody can tell, and always outside of gunicorn.
    """
    connection = request.environ.get("gunicorn.socket")
    if not isinstance(connection, socket.socket) or isinstance(connection, ssl.SSLSocket):
        return lambda: False
    speaks_11 = request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
    return _Watch(connection, may_ask=speaks_11).is_gone


class _Watch:
    """A client that sends no more may have been killed, or wait for its answer in silence.

    Both look the same until something is sent to it: only the killed one's system refuses that.
    What the client has sent ahead, its next request, says nothing either way and is left alone.
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
                # Its answers before this one were never taken.
                pass
            except OSError:
                return True
        return False
