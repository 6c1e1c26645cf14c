"""The one error body, for every way in which a request can fail."""

from flask import Flask, Response
from marshmallow import Schema, fields
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from shared.core.errors import Forbidden, Invalid, QueryFailed, WatchpostError
from shared.core.logs import get_logger
from web.request_log import request_id
from web.responses import json_response

log = get_logger(__name__)

# What Flask and Werkzeug raise themselves: a stable code and a sentence of ours for each status.
_HTTP_ERRORS = {
    400: ("bad_request", "the request is malformed"),
    404: ("route_not_found", "there is no such route"),
    405: ("method_not_allowed", "this route does not know that method"),
    408: ("request_timeout", "the request did not arrive in time"),
    413: ("too_large", "the body is too large"),
    414: ("uri_too_long", "the URL is too long"),
    417: ("expectation_failed", "this service knows no such expectation"),
    415: ("unsupported_media_type", "this route does not read that content type"),
    431: ("headers_too_large", "the headers are too large"),
    501: ("not_implemented", "this transfer coding is not supported"),
}
_INTERNAL = ("internal_error", "something went wrong on our side")


class ErrorBody(Schema):
    """The body of every error."""

    error = fields.String(required=True, metadata={"description": "a sentence for people"})
    code = fields.String(required=True, metadata={"description": "stable, for programs"})
    request_id = fields.String(required=True, metadata={"description": "as in X-Request-Id"})
    required_permission = fields.String(
        metadata={"description": "with 403: the permission that is missing"}
    )
    fields_ = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        data_key="fields",
        metadata={"description": "with 422: each bad field and what is wrong with it"},
    )
    detail = fields.String(metadata={"description": "what the database said about a query"})


def describe(status: int) -> tuple[str, str]:
    """The code and the sentence of a status that no error of ours stands behind."""
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
    # The traceback goes to our logs and nowhere else.
    log.error("request_crashed", exc_info=error)
    code, sentence = _INTERNAL
    return _response(sentence, code, 500)
