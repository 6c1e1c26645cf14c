"""Sessions: list and export them."""

from flask import Response, request

from shared.core.errors import NotFound
from shared.sessions import evaluation_request, event_stream
from shared.sessions.facts import find
from shared.sessions.listing import page
from shared.sessions.selection import SessionFilters
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.responses import json_response
from web.sessions.download import attachment, streamed
from web.sessions.rows import session_row
from web.sessions.schemas import EvalRequest, ExportedEvent, ExportQuery, SessionPage, SessionQuery
from web.state import runtime

blueprint = Blueprint("sessions", "Events grouped by session id")

_NDJSON = "application/x-ndjson"
_JSON = "application/json"


@blueprint.route("/sessions")
@requires("evaluations:read")
@blueprint.arguments(SessionQuery, location="query", as_kwargs=True)
@blueprint.response(200, SessionPage, errors=(504,))
def list_sessions(filters: SessionFilters, cursor: str | None, limit: int) -> Response:
    """List sessions, the one with the newest event first.

    A session exists from its first event, of any type. A session that gets events while a client
    pages moves to the front. A page of sessions whose newest results hold much reasoning ends
    before `limit`, at 32 MiB.
    """
    found = page(
        runtime().clickhouse, current_identity().org_id, filters, limit=limit, cursor=cursor
    )
    rows = [session_row(session) for session in found.rows]
    return json_response({"sessions": rows, "next_cursor": found.next_cursor})


@blueprint.route("/sessions/<any_id:session_id>/export")
@requires("events:read")
@blueprint.arguments(ExportQuery, location="query", as_kwargs=True)
@blueprint.response(200, ExportedEvent, content_type=_NDJSON, description="one event per line")
@blueprint.doc(responses={200: {"content": {_JSON: {"schema": EvalRequest}}}})
@blueprint.alt_response(504, "GATEWAY_TIMEOUT")
def export_session(format: str | None, session_id: str) -> Response:  # noqa: A002 the parameter
    """Export all events of a session, oldest first.

    The format is JSON lines for saving, or the object that an evaluator receives.
    """
    clickhouse, org_id = runtime().clickhouse, current_identity().org_id
    facts = find(clickhouse, org_id, session_id)
    if facts is None:
        raise NotFound("there is no such session")
    if (format or _accepted_format()) == "json":
        return streamed(evaluation_request.stream(clickhouse, org_id, facts), _JSON)
    response = streamed(event_stream.export(clickhouse, org_id, facts), _NDJSON)
    response.headers["Content-Disposition"] = attachment(f"session-{session_id}.jsonl")
    return response


def _accepted_format() -> str:
    best = request.accept_mimetypes.best_match([_NDJSON, _JSON])
    return "json" if best == _JSON else "jsonl"
