"""The audit log: who changed what, from where."""

from collections.abc import Iterator
from typing import Any

import msgspec
from flask import Response

from shared.access import audit_log
from shared.access.audit_log.listing import LineFilters, every, list_
from web.audit_log import schemas
from web.auth import access_while_answering, current_org_id, requires
from web.blueprint import Blueprint
from web.download import attachment, each_page, streamed
from web.state import runtime
from web.transaction import Tx, in_transaction

blueprint = Blueprint("audit log", "Changes, exports and commands: who, from where, and what")

_NDJSON = "application/x-ndjson"
_encoder = msgspec.json.Encoder()


@blueprint.route("/audit-log")
@requires("settings:read")
@blueprint.arguments(schemas.AuditLogQuery, location="query")
@blueprint.response(200, schemas.AuditLogPage)
@in_transaction
def list_audit_log(tx: Tx, query: dict[str, Any]) -> dict[str, Any]:
    """List the lines of the audit log, newest first.

    Lines are kept for the days of `retention.audit_log_days`. Nothing changes them.
    """
    cursor, limit = query.pop("cursor"), query.pop("limit")
    page = list_(*tx, LineFilters(**query), cursor=cursor, limit=limit)
    return {"lines": page.rows, "next_cursor": page.next_cursor}


@blueprint.route("/audit-log/export")
@requires("settings:read")
@blueprint.arguments(schemas.AuditLogFilters, location="query")
@blueprint.response(
    200, schemas.AuditLogLine, content_type=_NDJSON, description="one line of the log per line"
)
def export_audit_log(query: dict[str, Any]) -> Response:
    """Export the lines of the audit log, newest first, as JSON lines."""
    org_id, postgres = current_org_id(), runtime().postgres
    asked = {name: value for name, value in query.items() if value}
    with postgres.transaction() as session:
        audit_log.record(session, org_id, "audit_log.export", after={"filters": asked})
    chunks = every(postgres, org_id, LineFilters(**query))
    response = streamed(_lines(each_page(chunks, access_while_answering())), _NDJSON)
    response.headers["Content-Disposition"] = attachment("audit-log.jsonl")
    return response


def _lines(chunks: Iterator[Any]) -> Iterator[bytes]:
    schema = schemas.AuditLogLine()
    for chunk in chunks:
        for line in chunk:
            yield _encoder.encode(schema.dump(line)) + b"\n"
