"""gunicorn's own answers and log lines, in the formats of this service."""

import socket

import msgspec
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.util import write_nonblock

from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import current_request_id
from web.errors import describe
from web.headers import DATA, of_every_answer
from web.request_log import HEADER


class StructuredLogger(Logger):  # type: ignore[misc] # gunicorn is untyped
    """Passes gunicorn's lines to the root logger, which formats those of all libraries."""

    def setup(self, cfg: Config) -> None:
        """Replaces gunicorn's own handler."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


def write_json_error(
    public_url: str | None, sock: socket.socket, status: int, reason: str, _message: str
) -> None:
    """Answers a request that is too broken for the application with the usual error body."""
    code, sentence = describe(status)
    request_id = current_request_id() or new_request_id()
    body = msgspec.json.encode({"error": sentence, "code": code, "request_id": request_id})
    headers = {
        "Connection": "close",
        "Content-Type": "application/json",
        HEADER: request_id,
        "Content-Length": str(len(body)),
        **of_every_answer(public_url),
        **DATA,
    }
    lines = [
        f"HTTP/1.1 {status} {reason}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    write_nonblock(sock, "\r\n".join([*lines, "", ""]).encode("latin-1") + body)
