"""OTLP over HTTP: exports of OpenTelemetry as its exporters send them."""

from collections.abc import Callable

from flask import Response, request
from werkzeug.exceptions import HTTPException

from shared.foundation.core.errors import WatchpostError
from shared.foundation.core.logs import get_logger
from shared.intake.otlp.wire.answers import code_of, export_answer, retry_secs, status, status_of
from shared.intake.otlp.wire.reading import JSON, PROTOBUF
from shared.intake.otlp.wire.signals import LOGS, METRICS, TRACES, Signal
from web.auth import require_access_still, requires
from web.blueprint import Blueprint
from web.body import read_body
from web.errors import describe
from web.otlp.credentials import credential_of_export
from web.otlp.schemas import Exported, Status, body_of
from web.sender import sender_by
from web.state import runtime, state

log = get_logger(__name__)

View = Callable[[], Response]

# The Langfuse SDK sends below this path.
ALIASES = {f"/api/public/otel{signal.path}": signal.path for signal in (TRACES, LOGS, METRICS)}

_ERRORS = (400, 401, 403, 404, 408, 413, 415, 422, 503)
_ENCODING = {"type": "string", "enum": ["gzip", "zstd", "identity"]}

blueprint = Blueprint("otlp", "Exports of OpenTelemetry (OTLP over HTTP)")


def _export(signal: Signal) -> Callable[[View], View]:
    """Makes a view the route of a signal."""

    def register(view: View) -> View:
        documented = blueprint.response(200, Exported)(view)
        for code in _ERRORS:
            documented = blueprint.alt_response(code, schema=Status)(documented)
        documented = blueprint.header("Content-Encoding", schema=_ENCODING)(documented)
        documented = blueprint.doc(requestBody=body_of(signal))(documented)
        guarded = requires("events:add", credential_of_export)(documented)
        return blueprint.route(signal.path.removeprefix("/v1"), methods=["POST"])(guarded)

    return register


@_export(TRACES)
def export_traces() -> Response:
    """Store spans as events.

    200 means that all spans but the rejected ones are on disk and will become events; 503 means
    that none was accepted. Also at `/api/public/otel/v1/traces`.
    """
    return _accept(TRACES)


@_export(LOGS)
def export_logs() -> Response:
    """Store log records as events.

    The answers are those of `/v1/traces`. Also at `/api/public/otel/v1/logs`.
    """
    return _accept(LOGS)


@_export(METRICS)
def export_metrics() -> Response:
    """Read metrics and drop them.

    The answer is 200 with a warning. Also at `/api/public/otel/v1/metrics`.
    """
    return _accept(METRICS)


def _accept(signal: Signal) -> Response:
    body = read_body(runtime().settings.otlp_max_bytes)
    # Check access again: permissions or redaction may have changed while a slow body arrived.
    require_access_still()
    accepted = state().otlp.accept(
        sender_by("otlp_http"),
        signal,
        body,
        media_type=request.mimetype or ("" if body else JSON),
        encoding=request.headers.get("Content-Encoding", ""),
    )
    form = _form()
    answer = export_answer(signal, form, accepted.rejected, accepted.message)
    return Response(answer, 200, mimetype=form)


def _form() -> str:
    """Returns the content type of the answer: that of the request, JSON if it is unknown."""
    return PROTOBUF if request.mimetype == PROTOBUF else JSON


def _refuse(http_status: int, message: str) -> Response:
    form = _form()
    return Response(status(form, code_of(http_status), message), http_status, mimetype=form)


def _ours(error: WatchpostError) -> Response:
    if error.status >= 500:
        log.warning("request_failed", error_code=error.code, reason=error.message)
    response = _refuse(status_of(error), error.message)
    wait = retry_secs(error)
    if wait is not None:
        response.headers["Retry-After"] = str(wait)
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _http(error: HTTPException) -> Response:
    http_status = error.code or 500
    return _refuse(http_status, describe(http_status)[1])


def _defect(error: Exception) -> Response:
    log.error("request_crashed", exc_info=error)
    return _refuse(500, describe(500)[1])


blueprint.register_error_handler(WatchpostError, _ours)
blueprint.register_error_handler(HTTPException, _http)
blueprint.register_error_handler(Exception, _defect)
