"""Request and response schemas of exports."""

from typing import get_args

from marshmallow import Schema, validate

from shared.foundation.clickhouse.filters import Filters
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.events.filters import EventFilters
from shared.reading.exports.columns import COLUMNS, ExportColumn, What
from shared.reading.exports.formats import Format
from shared.reading.exports.schedules.service import DEFAULT_PAGE, MAX_PAGE
from shared.reading.sessions.selection import SessionFilters
from web import fields
from web.filters import filtered
from web.params import Limit, Offset
from web.sessions.schemas import SessionAgent


class _Form(Schema):
    """The form of the file."""

    format = fields.text(
        "`ndjson`: one JSON object a line; `parquet`: a file of Apache Parquet",
        load_default="ndjson",
        validate=validate.OneOf(get_args(Format)),
    )


def _query(filters: type[Filters]) -> type[Schema]:
    return filtered(filters, _Form)


EventsQuery = _query(EventFilters)
SessionsQuery = _query(SessionFilters)
EvaluationsQuery = _query(EvaluationFilters)

_MAKE = {
    "text": fields.text,
    "whole": fields.integer,
    "number": fields.number,
    "flag": fields.flag,
    "texts": fields.texts,
}


def _shown(column: ExportColumn) -> fields.Field:
    null = column.nullable
    if column.kind == "moment":
        return fields.text(null=null, format="date-time")
    if column.kind == "json":
        return fields.mapping("as it was sent; text in Parquet")
    if column.kind == "agents":
        return fields.rows(SessionAgent, "most events first")
    if column.kind == "scores":
        return fields.mapping(null=null, keys=fields.text(), values=fields.number())
    if column.kind == "pairs":
        return fields.mapping(null=null, keys=fields.text(), values=fields.text())
    return _MAKE[column.kind](null=null)


def row_schema(what: What, name: str) -> type[Schema]:
    """Returns the schema of an exported row."""
    return Schema.from_dict({one.name: _shown(one) for one in COLUMNS[what]}, name=name)


EventLine = row_schema("events", "EventLine")
SessionLine = row_schema("sessions", "SessionLine")
EvaluationLine = row_schema("evaluations", "EvaluationLine")


class FilesQuery(Schema):
    """The position in the list of files."""

    limit = Limit(default=DEFAULT_PAGE, cap=MAX_PAGE)
    offset = Offset()


class ExportScheduleRow(Schema):
    """The schedule of an organization."""

    every = fields.text(enum=["hourly", "daily"])
    since = fields.moment("the first period that has a file begins here", format="date-time")
    looked_at = fields.moment(
        "at this time all files were up to date", null=True, format="date-time"
    )
    error = fields.text("of the last look; null if it succeeded", null=True)


class ExportFileRow(Schema):
    """A file of an hour or a day."""

    name = fields.text("below the folder of the organization, which is named by its id")
    rows = fields.text(enum=["events", "sessions", "evaluations"])
    every = fields.text(enum=["hourly", "daily"])
    starts_at = fields.moment(format="date-time")
    ends_at = fields.moment(format="date-time")
    row_count = fields.integer()
    bytes = fields.integer()
    writes = fields.integer("more than 1: its rows changed after it was written")
    written_at = fields.moment(format="date-time")


class ExportFileList(Schema):
    """Files, those of the newest periods first, and the schedule that writes them."""

    schedule = fields.nested(ExportScheduleRow, "null while there is none", null=True)
    files = fields.rows(ExportFileRow)
