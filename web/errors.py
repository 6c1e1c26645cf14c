"""The error body that every failed request gets."""

from flask import Flask, Response
from marshmallow import Schema, fields
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from shared.foundation.core.errors import Forbidden, Invalid, QueryFailed, WatchpostError
from shared.foundation.core.logs import get_logger
from web.request_log import request_id
from web.responses import json_response

log = get_logger(__name__)

# The code and the text for each error status that Flask and Werkzeug raise.
_HTTP_ERRORS = {
    400: ("bad_request", "the request is malformed"),
    404: ("route_not_found", "there is no such route"),
    405: ("method_not_allowed", "this route does not support that method: see the Allow header"),
    408: ("request_timeout", "the request did not arrive in time: try again"),
    413: ("too_large", "the body is too large"),
    414: ("uri_too_long", "the URL is too long"),
    417: ("expectation_failed", "the Expect header asks for something unsupported: leave it out"),
    415: ("unsupported_media_type", "this route does not accept that content type"),
    431: ("headers_too_large", "the headers are too large"),
    501: ("not_implemented", "this transfer coding is not supported"),
}
_INTERNAL = (
    "internal_error",
    "internal error: try again, and report the request id if it persists",
)


class ErrorBody(Schema):
    """The body of every error."""

    error = fields.String(required=True, metadata={"description": "a message for people"})
    code = fields.String(required=True, metadata={"description": "stable, for programs"})
    request_id = fields.String(required=True, metadata={"description": "as in X-Request-Id"})
    required_permission = fields.String(
        metadata={"description": "with 403: the missing permission"}
    )
    fields_ = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        data_key="fields",
        metadata={"description": "with 422: each invalid field and its errors"},
    )
    detail = fields.String(metadata={"description": "the database's message about a query"})


def describe(status: int) -> tuple[str, str]:
    """Returns the code and the text of a status without an error of our own."""
    return _HTTP_ERRORS.get(status, _INTERNAL)


def init_app(app: Flask) -> None:
    """Registers the handlers."""
    app.register_error_handler(WatchpostError, _ours)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _defect)


def _response(error: str, code: str, status: int, **extra: object) -> Response:
    body = {"error": error, "code": code, "request_id": request_id(), **extra}
    return json_response(body, status)


def _ours(error: WatchpostError) -> Response:
    extra: dict[str, object] = {}
    if isinstance(error, Forbidden) and error.required_permission is not None:
        extra["required_permission"] = error.required_permission
    if isinstance(error, Invalid):
        extra["fields"] = error.fields
    if isinstance(error, QueryFailed):
        extra["detail"] = error.detail
    if error.status >= 500:
        log.warning("request_failed", error_code=error.code, reason=error.message)
    response = _response(error.message, error.code, error.status, **extra)
    if error.retry_after_secs is not None:
        response.headers["Retry-After"] = str(error.retry_after_secs)
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _http(error: HTTPException) -> Response:
    status = error.code or 500
    code, sentence = describe(status)
    response = _response(sentence, code, status)
    if isinstance(error, MethodNotAllowed):
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    return response


def _defect(error: Exception) -> Response:
    # The traceback goes to the logs only.
    log.error("request_crashed", exc_info=error)
    code, sentence = _INTERNAL
    return _response(sentence, code, 500)
