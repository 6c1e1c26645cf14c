"""Reads a request's body whole, or says why that cannot be done."""

from flask import request
from gunicorn.http.errors import ParseException
from webargs.core import is_json
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge, RequestTimeout

from shared.core.errors import BadRequest, UnsupportedMediaType
from web.auth import require_access_still
from web.state import runtime


def read_body(max_bytes: int | None = None) -> bytes:
    """The body as sent, at most `max_bytes` (default: what the application allows).

    Raises `BadRequest` when the client stopped before the announced end or garbled its chunks,
    `RequestTimeout` when it took longer than WEB_RECEIVE_TIMEOUT_SECS to arrive,
    `RequestEntityTooLarge` above the bound.
    """
    limit = request.max_content_length if max_bytes is None else max_bytes
    if limit is not None:
        # Werkzeug cuts a chunked body off at its limit without a word, so one byte more shows it.
        request.max_content_length = limit + 1
    # A client that sends slowly holds one of our threads (`web.worker`).
    connection = request.environ.get("gunicorn.socket")
    if connection is not None:
        connection.allow(runtime().settings.web_receive_timeout_secs)
    try:
        body = request.get_data(cache=False)
    except (ClientDisconnected, ParseException) as error:
        # Werkzeug makes the first of every error of the connection.
        if isinstance(error.__context__, TimeoutError):
            raise RequestTimeout from None
        raise _incomplete() from None
    if limit is not None and len(body) > limit:
        raise RequestEntityTooLarge
    # gunicorn hands over what there is when the client hangs up, as if it were all.
    if request.content_length is not None and len(body) < request.content_length:
        raise _incomplete()
    return body


def read_json_body() -> bytes:
    """The body as sent where it is announced as JSON; b"" for none.

    Raises as `read_body` does, as `require_access_still` does for who lost access meanwhile, and
    `UnsupportedMediaType` for a body that is announced as something else or as encoded.
    """
    body = read_body()
    if not body:
        return body
    require_access_still()
    if not is_json(request.mimetype):
        raise UnsupportedMediaType("Content-Type must be application/json")
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("this route reads no encoded body", code="unsupported_encoding")
    return body


def _incomplete() -> BadRequest:
    return BadRequest("the body ended before its announced end", code="incomplete_body")
