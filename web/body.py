"""Reads a request's whole body, or raises the reason why it cannot."""

from flask import request
from gunicorn.http.errors import ParseException
from webargs.core import is_json
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge, RequestTimeout

from shared.foundation.core.errors import BadRequest, UnsupportedMediaType
from web.auth import require_access_still
from web.state import runtime


def read_body(max_bytes: int | None = None) -> bytes:
    """Returns the body as sent, of at most `max_bytes` (default: the application's limit).

    Raises `BadRequest` when the client stopped before the announced end or sent malformed chunks,
    `RequestTimeout` when the body took longer than WEB_RECEIVE_TIMEOUT_SECS, and
    `RequestEntityTooLarge` above the limit.
    """
    limit = request.max_content_length if max_bytes is None else max_bytes
    if limit is not None:
        # Werkzeug cuts a chunked body off at its limit silently. One more byte reveals that.
        request.max_content_length = limit + 1
    # A client that sends slowly holds one of our threads (`web.worker`).
    connection = request.environ.get("gunicorn.socket")
    if connection is not None:
        connection.allow(runtime().settings.web_receive_timeout_secs)
    try:
        body = request.get_data(cache=False)
    except (ClientDisconnected, ParseException) as error:
        # Werkzeug turns every error of the connection into the first of these.
        if isinstance(error.__context__, TimeoutError):
            raise RequestTimeout from None
        raise _incomplete() from None
    if limit is not None and len(body) > limit:
        raise RequestEntityTooLarge
    # When the client hangs up, gunicorn passes on the part that arrived as if it were complete.
    if request.content_length is not None and len(body) < request.content_length:
        raise _incomplete()
    return body


def read_json_body() -> bytes:
    """Returns a body with a JSON content type as sent, or b"" if there is none.

    Raises the errors of `read_body` and of `require_access_still`, and `UnsupportedMediaType` for a
    body with another content type or with a content encoding.
    """
    body = read_body()
    if not body:
        return body
    require_access_still()
    if not is_json(request.mimetype):
        raise UnsupportedMediaType("Content-Type must be application/json")
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType(
            "this route does not accept Content-Encoding: send the body unencoded",
            code="unsupported_encoding",
        )
    return body


def _incomplete() -> BadRequest:
    return BadRequest(
        "the body ended early: send as many bytes as announced", code="incomplete_body"
    )
