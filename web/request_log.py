"""One log line for each request, and the request id that links everything it causes."""

import time

import structlog
from flask import Flask, Response, g, request

from shared.foundation.core.ids import request_id_or_new
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import REQUEST_SECS, REQUESTS

log = get_logger(__name__)

HEADER = "X-Request-Id"

# Monitoring requests these every few seconds, so they are not logged.
QUIET_ROUTES = frozenset({"/v1/health", "/v1/ready"})


def init_app(app: Flask) -> None:
    """Registers the two hooks."""
    app.before_request(_begin)
    app.after_request(_end)


def request_id() -> str:
    """Returns the id of the current request."""
    if "request_id" not in g:
        g.request_id = request_id_or_new(request.headers.get(HEADER))
    value: str = g.request_id
    return value


def _begin() -> None:
    # The thread may still carry the context of the previous request, whose body was streamed.
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=request_id())
    g.started_at = time.perf_counter()


def _end(response: Response) -> Response:
    response.headers[HEADER] = request_id()
    started_at: float = g.get("started_at", time.perf_counter())
    identity = g.get("identity")
    rule = request.url_rule
    request_line = request.method, "none" if rule is None else rule.rule
    fields = {
        "method": request.method,
        # The rule, not the path: ids and search terms stay out of the logs.
        "route": None if rule is None else rule.rule,
        "status": response.status_code,
        "org": None if identity is None else identity.org_slug,
        "key_name": None if identity is None or identity.key is None else identity.key.name,
        # The id, not the address: more people read logs than the list of members.
        "user_id": None if identity is None or identity.user is None else str(identity.user.id),
    }

    def write() -> None:
        secs = time.perf_counter() - started_at
        _count(request_line, response.status_code, secs)
        milliseconds = round(secs * 1000, 1)
        write_line = log.debug if fields["route"] in QUIET_ROUTES else log.info
        write_line("request", **fields, duration_ms=milliseconds)

    # Runs after the last byte is sent, so that a streamed export is timed as a whole.
    response.call_on_close(write)
    return response


def _count(request_line: tuple[str, str], status: int, secs: float) -> None:
    REQUESTS.add(1, *request_line, str(status))
    REQUEST_SECS.observe(secs, *request_line)
