"""Request and response schemas of the routes of events."""

from typing import Any

from marshmallow import Schema, fields, validate

from shared.clickhouse.event_columns import LISTED, EventColumn
from shared.events.filters import EventFilters
from web.filters import filtered
from web.params import Limit, cursor_field, next_cursor_field


def _text(most: int, **details: object) -> dict[str, object]:
    return {"type": "string", "minLength": 1, "maxLength": most, **details}


# `shared.events.ingest.decode` checks events one by one. These schemas only document them.
EVENTS = {
    "type": "array",
    "items": {
        "type": "object",
        "description": "all other fields are the sender's own and stored as they are",
        "required": ["session_id", "timestamp", "type"],
        "properties": {
            "session_id": _text(256),
            "timestamp": {"type": "string", "format": "date-time"},
            "type": _text(64),
            "agent_id": _text(256, default="main"),
            "environment": _text(64, default="default", pattern="^[^,]*$"),
        },
    },
}
WRAPPED_EVENTS = {"type": "object", "required": ["events"], "properties": {"events": EVENTS}}


class AcceptedError(Schema):
    """The reason why one event was skipped."""

    line = fields.Integer(
        required=True, metadata={"description": "line or array element, counted from 1"}
    )
    error = fields.String(required=True)


class Accepted(Schema):
    """The result of a batch."""

    accepted = fields.Integer(required=True, metadata={"description": "events that will be stored"})
    skipped = fields.Integer(required=True, metadata={"description": "events that will not be"})
    errors = fields.List(
        fields.Nested(AcceptedError),
        required=True,
        metadata={"description": "the reasons of the first 20 skipped events"},
    )


# By a part of the column's type.
_FIELD_TYPES: dict[str, type[fields.Field[Any]]] = {
    "String": fields.String,
    "DateTime": fields.String,
    "UInt": fields.Integer,
    "Float": fields.Float,
    "Bool": fields.Boolean,
}


class _Page(Schema):
    """The position in the list."""

    order = fields.String(
        load_default="desc",
        validate=validate.OneOf(["asc", "desc"]),
        metadata={"description": "`desc`: newest first; `asc`: oldest first"},
    )
    cursor = cursor_field()
    limit = Limit(default=50, cap=1000)


EventFilterQuery = filtered(EventFilters)
EventPageQuery = filtered(EventFilters, _Page)


def _shown(column: EventColumn) -> fields.Field[Any]:
    """Returns the response field for the value of this column."""
    [make] = [make for part, make in _FIELD_TYPES.items() if part in column.type]
    metadata = {"description": column.about} if column.about else {}
    if "DateTime" in column.type:
        metadata["format"] = "date-time"
    # The document says `null` only for columns that can be null.
    return make(required=True, allow_none=column.is_nullable, metadata=metadata)


class EventHead(Schema):
    """The fields of every listed event."""

    class Meta:
        """Marshmallow's options."""

        include = {column.name: _shown(column) for column in LISTED}  # noqa: RUF012 as it declares it


class Event(EventHead):
    """An event with its payload as it was sent."""

    payload = fields.Dict(required=True)


class EventSummary(EventHead):
    """An event with a one-line summary."""

    summary = fields.String(required=True, metadata={"maxLength": 200})


class EventPage(Schema):
    """A page of events."""

    events = fields.List(fields.Nested(Event), required=True)
    next_cursor = next_cursor_field()


class EventSummaryPage(Schema):
    """A page of events without their payloads."""

    events = fields.List(fields.Nested(EventSummary), required=True)
    next_cursor = next_cursor_field()
