"""Exports: the rows of a range of time as one file."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from flask import Response
from marshmallow import Schema

from shared.access import audit_log
from shared.foundation.clickhouse.filters import Filters
from shared.foundation.core.clock import format_optional_ts, format_ts
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.events.filters import EventFilters
from shared.reading.exports import formats, pages
from shared.reading.exports.columns import Row, What
from shared.reading.exports.formats import FILE_TYPES, Format
from shared.reading.exports.schedules import service
from shared.reading.sessions.selection import SessionFilters
from web.auth import access_while_answering, current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.download import attachment, each_page, streamed
from web.exports import schemas
from web.responses import row_of
from web.state import runtime, state
from web.transaction import Tx, in_transaction

blueprint = Blueprint("exports", "Rows as files, for other programs")

_NDJSON = FILE_TYPES["ndjson"].content_type


def _also_parquet(schema: type[Schema]) -> dict[int, object]:
    """Documents the second content type of an answer, with the same rows."""
    return {200: {"content": {FILE_TYPES["parquet"].content_type: {"schema": schema}}}}


@blueprint.route("/exports/events")
@requires("events:read")
@blueprint.arguments(schemas.EventsQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.EventLine, content_type=_NDJSON, errors=(429, 504))
@blueprint.doc(responses=_also_parquet(schemas.EventLine))
def export_events(filters: EventFilters, format: Format) -> Response:  # noqa: A002 the parameter
    """Export events with all their columns, oldest first.

    An answer that ends without an error is complete. Events that are stored meanwhile may be
    missing. 429: other exports are under way.
    """
    rows = pages.of_events(runtime().clickhouse, current_identity().org_id, filters)
    return _file("events", format, filters, rows)


@blueprint.route("/exports/sessions")
@requires("evaluations:read")
@blueprint.arguments(schemas.SessionsQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.SessionLine, content_type=_NDJSON, errors=(429, 504))
@blueprint.doc(responses=_also_parquet(schemas.SessionLine))
def export_sessions(filters: SessionFilters, format: Format) -> Response:  # noqa: A002 as above
    """Export sessions, the one with the oldest last event first.

    A session that gets events meanwhile may appear a second time, further down.
    """
    rows = pages.of_sessions(runtime().clickhouse, current_identity().org_id, filters)
    return _file("sessions", format, filters, rows)


@blueprint.route("/exports/evaluations")
@requires("evaluations:read")
@blueprint.arguments(schemas.EvaluationsQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.EvaluationLine, content_type=_NDJSON, errors=(429, 504))
@blueprint.doc(responses=_also_parquet(schemas.EvaluationLine))
def export_evaluations(
    filters: EvaluationFilters,
    format: Format,  # noqa: A002 as above
) -> Response:
    """Export results of evaluations, newest first."""
    rows = pages.of_evaluations(runtime().clickhouse, current_identity().org_id, filters)
    return _file("evaluations", format, filters, rows)


@blueprint.route("/exports/files")
@requires("settings:read")
@blueprint.arguments(schemas.FilesQuery, location="query")
@blueprint.response(200, schemas.ExportFileList)
@in_transaction
def list_export_files(tx: Tx, query: dict[str, Any]) -> dict[str, object]:
    """List the files that scheduled exports have written, those of the newest periods first."""
    schedule = service.schedule_of(*tx)
    found = service.files_of(*tx, **query)
    return {
        "schedule": None if schedule is None else row_of(schemas.ExportScheduleRow, schedule),
        "files": [row_of(schemas.ExportFileRow, one) for one in found],
    }


def _file(what: What, format_: Format, filters: Filters, rows: Iterator[Sequence[Row]]) -> Response:
    formats.require(format_)
    _record(what, format_, filters)
    allowed = each_page(rows, access_while_answering())
    held = _held(
        formats.encoded(what, format_, allowed), state().exports.take(current_identity().org_id)
    )
    response = streamed(held, FILE_TYPES[format_].content_type)
    response.headers["Content-Disposition"] = attachment(_name(what, format_, filters))
    return response


def _record(what: What, format_: Format, filters: Filters) -> None:
    """Adds a line to the audit log before the first row leaves."""
    given = [one.parameter for one in filters.declared if filters[one.parameter]]
    asked = {
        "format": format_,
        "ts_from": format_optional_ts(filters.ts_from),
        "ts_to": format_optional_ts(filters.ts_to),
        "filters": given,
    }
    with runtime().postgres.transaction() as session:
        audit_log.record(session, current_org_id(), f"{what}.export", after=asked)


def _held(pieces: Iterator[bytes], free: Callable[[], None]) -> Iterator[bytes]:
    """Yields the pieces, and frees the place however the answer ends."""
    try:
        yield from pieces
    finally:
        free()


def _name(what: What, format_: Format, filters: Filters) -> str:
    """Returns a file name such as `events-acme-20261101T000000Z-20261102T000000Z.ndjson`."""
    ends = (filters.ts_from, filters.ts_to)
    moments = [format_ts(one)[:19].replace("-", "").replace(":", "") + "Z" for one in ends if one]
    return "-".join([what, current_identity().org_slug, *moments]) + (
        f".{FILE_TYPES[format_].suffix}"
    )
