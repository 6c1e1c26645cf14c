"""Sessions: list, show and export them."""

from flask import Response, request

from shared.access import audit_log
from shared.evaluation.evaluation_jobs.state.service import session_with_state
from shared.evaluation.runs.state.reading import states_of
from shared.foundation.core.errors import NotFound
from shared.reading.costs import call as one_call
from shared.reading.costs.session import costs_of
from shared.reading.events.one import find as find_event
from shared.reading.sessions import evaluation_request, event_stream
from shared.reading.sessions.facts import find
from shared.reading.sessions.listing import page
from shared.reading.sessions.selection import SessionFilters
from shared.reading.sessions.statement import listed
from shared.reading.sessions.summary import summarize
from shared.reading.sessions.turns import page as turns_page
from web.auth import access_while_answering, current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.costs.rows import stored_cost_row
from web.download import attachment, each_portion, streamed
from web.events.rows import HEAD, event_row
from web.responses import json_response
from web.sessions.outline import add_outline
from web.sessions.rows import (
    default_state_row,
    run_state_row,
    session_row,
    state_row,
    totals_body,
)
from web.sessions.schemas import (
    EvalRequest,
    EventDetail,
    ExportedEvent,
    ExportQuery,
    SessionDetail,
    SessionPage,
    SessionQuery,
    SessionTotals,
    SessionTurns,
    TotalsQuery,
    TurnsQuery,
)
from web.state import runtime

blueprint = Blueprint("sessions", "Events grouped by session id")
add_outline(blueprint)

# Columns of the cost that lists do not have.
_OF_CALL = tuple(name for name in one_call.COLUMNS if name not in HEAD)
_NDJSON = "application/x-ndjson"
_JSON = "application/json"
_WRITERS = {
    "jsonl": event_stream.export,
    "array": event_stream.export_array,
    "json": evaluation_request.stream,
}
_EXPORTED_JSON = {"oneOf": [EvalRequest, {"type": "array", "items": ExportedEvent}]}


@blueprint.route("/sessions")
@requires("evaluations:read")
@blueprint.arguments(SessionQuery, location="query", as_kwargs=True)
@blueprint.response(200, SessionPage, errors=(504,), or_sql=listed)
def list_sessions(
    filters: SessionFilters, sort: str, order: str, cursor: str | None, limit: int
) -> Response:
    """List sessions, by default the one with the newest event first.

    A session exists from its first event, of any type. A session that gets events while a client
    pages moves to the front. A page of sessions whose newest results hold much reasoning ends
    before `limit`, at 32 MiB.
    """
    found = page(
        runtime().clickhouse,
        current_identity().org_id,
        filters,
        limit=limit,
        cursor=cursor,
        ascending=order == "asc",
        sort=sort,
    )
    rows = [session_row(session) for session in found.rows]
    return json_response({"sessions": rows, "next_cursor": found.next_cursor})


@blueprint.route("/sessions/totals")
@requires("evaluations:read")
@blueprint.arguments(TotalsQuery, location="query", as_kwargs=True)
@blueprint.response(200, SessionTotals, errors=(504,))
def sum_sessions(filters: SessionFilters, score_key: str | None) -> Response:
    """Add up all sessions that the filters of `GET /v1/sessions` choose.

    The timeline puts each session at its last event. A session with the id `totals` is at
    `/v1/sessions/%1Dtotals`; `.` and `..`, which clients normalise, likewise.
    """
    found = summarize(runtime().clickhouse, current_identity().org_id, filters, score_key)
    return json_response(totals_body(found, score_key))


@blueprint.route("/sessions/<any_id:session_id>")
@requires("evaluations:read")
@blueprint.response(200, SessionDetail, errors=(504,))
def read_session(session_id: str) -> Response:
    """Return one session, and the state of its evaluation.

    While a job has no result yet, its state is shown, also if the session has earlier results.
    """
    org_slug = current_identity().org_slug
    session, state = session_with_state(runtime(), current_org_id(), org_slug, session_id)
    costs = costs_of(runtime().clickhouse, current_identity().org_id, session.facts)
    states = [run_state_row(one) for one in states_of(runtime(), current_org_id(), session.facts)]
    if runtime().settings.evaluator_endpoint is not None:
        states.insert(0, default_state_row(session, state))
    return json_response(
        {
            **session_row(session),
            "evaluation_state": state_row(state),
            "costs": costs,
            "evaluation_states": states,
        }
    )


@blueprint.route("/sessions/<any_id:session_id>/export")
@requires("events:read")
@blueprint.arguments(ExportQuery, location="query", as_kwargs=True)
@blueprint.response(200, ExportedEvent, content_type=_NDJSON, description="one event per line")
@blueprint.doc(responses={200: {"content": {_JSON: {"schema": _EXPORTED_JSON}}}})
@blueprint.alt_response(504, "GATEWAY_TIMEOUT")
def export_session(format: str | None, session_id: str) -> Response:  # noqa: A002 the parameter
    """Export all events of a session, oldest first.

    The format is JSON lines or an array for saving, or the object that an evaluator receives.
    """
    clickhouse, org_id = runtime().clickhouse, current_identity().org_id
    facts = find(clickhouse, org_id, session_id)
    if facts is None:
        raise NotFound.named("session", session_id)
    wanted = format or _accepted_format()
    with runtime().postgres.transaction() as session:
        after = {"format": wanted}
        audit_log.record(
            session, current_org_id(), "session.export", target=session_id, after=after
        )
    pieces = _WRITERS[wanted](clickhouse, org_id, facts)
    response = streamed(
        each_portion(pieces, access_while_answering()), _NDJSON if wanted == "jsonl" else _JSON
    )
    if wanted == "json":
        return response
    suffix = "json" if wanted == "array" else "jsonl"
    response.headers["Content-Disposition"] = attachment(f"session-{session_id}.{suffix}")
    return response


@blueprint.route("/sessions/<any_id:session_id>/turns")
@requires("events:read")
@blueprint.arguments(TurnsQuery, location="query", as_kwargs=True)
@blueprint.response(200, SessionTurns, errors=(504,))
def list_turns(max_text: int, cursor: str | None, limit: int, session_id: str) -> Response:
    """Return who said what in a session, and what its tools did, oldest first.

    Of the messages of a request only those are turns that its agent did not have before. A call and
    its output are one turn, at the place of the call. A page of long texts ends before `limit`.
    """
    clickhouse, org_id = runtime().clickhouse, current_identity().org_id
    facts = find(clickhouse, org_id, session_id)
    if facts is None:
        raise NotFound.named("session", session_id)
    found = turns_page.page(
        clickhouse, org_id, facts, max_text=max_text, limit=limit, cursor=cursor
    )
    return json_response({"session_id": session_id, **found._asdict()})


@blueprint.route("/sessions/<any_id:session_id>/events/<event_id:event_id>")
@requires("events:read")
@blueprint.response(200, EventDetail, errors=(504,))
def read_event(session_id: str, event_id: int | None) -> Response:
    """Return one event of a session, with its payload, and of a call with the parts of its cost."""
    clickhouse, org_id = runtime().clickhouse, current_identity().org_id
    columns = (*HEAD, *_OF_CALL, "payload")
    found = event_id and find_event(clickhouse, org_id, session_id, event_id, columns)
    if not found:
        raise NotFound("there is no such event in this session")
    values = dict(zip(columns, found, strict=True))
    cost = one_call.stored_cost(runtime(), current_org_id(), values)
    return json_response({**event_row(found, "payload"), "cost": stored_cost_row(cost)})


def _accepted_format() -> str:
    best = request.accept_mimetypes.best_match([_NDJSON, _JSON])
    return "json" if best == _JSON else "jsonl"
