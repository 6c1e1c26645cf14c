"""Events: accepted in batches, read in pages."""

from typing import Any

from flask import Response, request

from shared.reading.events.filters import EventFilters
from shared.reading.events.page import read_page
from shared.reading.events.statement import listed
from web.auth import current_identity, require_access_still, requires
from web.blueprint import Blueprint
from web.body import read_body
from web.events import schemas
from web.events.facets import add_facets
from web.events.imports import add_imports
from web.events.latency import add_latency
from web.events.rows import HEAD, event_row
from web.responses import json_response
from web.sender import sender_by
from web.state import runtime, state

blueprint = Blueprint("events", "Events of agents, as their collectors sent them")
add_facets(blueprint)
add_imports(blueprint)
add_latency(blueprint)

_BATCHES = {
    "required": True,
    "content": {
        "application/x-ndjson": {
            "schema": {"type": "string", "description": "one event per line, as below"}
        },
        "application/json": {"schema": {"oneOf": [schemas.EVENTS, schemas.WRAPPED_EVENTS]}},
    },
}
_ENCODING = {"type": "string", "enum": ["gzip", "zstd", "identity"]}


@blueprint.route("/events", methods=["POST"])
@requires("events:add")
@blueprint.doc(requestBody=_BATCHES)
@blueprint.header("Content-Encoding", schema=_ENCODING)
@blueprint.response(202, schemas.Accepted)
@blueprint.reads_body
@blueprint.alt_response(422, "UNPROCESSABLE_ENTITY")
def add_events() -> Response:
    """Store a batch of events.

    The body is one JSON object per line, an array, or `{"events": […]}`. Bad events are skipped and
    reported; the good ones are still accepted. `warnings` names faults of accepted events, such as
    a type that is nearly a known one. An event that is sent twice is stored once. 202
    means that the accepted events are on disk and will be stored. 503 means that none was accepted.
    """
    body = read_body(runtime().settings.ingest_max_body_bytes)
    # Check access again: permissions or redaction may have changed while a slow body arrived.
    require_access_still()
    decoded = state().ingest.accept(
        sender_by("events"),
        body,
        # Clients leave the header out of a request without a body.
        media_type=request.mimetype or ("" if body else "application/x-ndjson"),
        encoding=request.headers.get("Content-Encoding", ""),
    )
    answer: dict[str, object] = {
        "accepted": len(decoded.batch),
        "skipped": decoded.skipped,
        "errors": decoded.errors,
    }
    if decoded.warnings.first:
        answer["warnings"] = decoded.warnings.first
    return json_response(answer, 202)


@blueprint.route("/events")
@requires("events:read")
@blueprint.arguments(schemas.EventPageQuery, location="query")
@blueprint.response(200, schemas.EventPage, errors=(504,), or_sql=listed)
def list_events(query: dict[str, Any]) -> Response:
    """List events with their payloads, newest first.

    A page of events with large payloads ends before `limit`, at 32 MiB of payloads.
    """
    return _page("payload", **query)


@blueprint.route("/events/summary")
@requires("events:read")
@blueprint.arguments(schemas.EventPageQuery, location="query")
@blueprint.response(200, schemas.EventSummaryPage, errors=(504,), or_sql=listed)
def list_event_summaries(query: dict[str, Any]) -> Response:
    """List events with a one-line summary instead of their payloads, newest first."""
    return _page("summary", **query)


def _page(
    last: str, *, filters: EventFilters, order: str, cursor: str | None, limit: int
) -> Response:
    page = read_page(
        runtime().clickhouse,
        current_identity().org_id,
        (*HEAD, last),
        filters,
        ascending=order == "asc",
        cursor=cursor,
        limit=limit,
        effective=True,
    )
    events = [event_row(row, last) for row in page.rows]
    return json_response({"events": events, "next_cursor": page.next_cursor})
