"""Request and response schemas of the routes of events."""

from typing import Any

from marshmallow import Schema, fields, post_load, validate

from shared.clickhouse.event_columns import LISTED, EventColumn
from shared.events.filters import EventFilters
from shared.events.search import MAX_SEARCH_CHARS
from web.params import Limit, Values, cursor_field, next_cursor_field, ts_from_field, ts_to_field

MAX_SEARCHES = 10


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


def _values(what: str) -> Values:
    return Values(
        load_default=list,
        metadata={"description": f"{what}; several values, comma-separated, match any of them"},
    )


class EventFilterQuery(Schema):
    """The filters that every read of events takes."""

    session_id = _values("session")
    agent_id = _values("agent")
    event_type = _values("event type, such as `tool_use`")
    environment = _values("environment")
    error_type = _values("error type")
    trigger_event = _values("trigger event of a hook")
    tool_name = _values("tool")
    hook_name = _values("hook")
    model = _values("model")
    errored = fields.Boolean(
        load_default=False, metadata={"description": "true: only events that report a failure"}
    )
    search = fields.List(
        fields.String(validate=validate.Length(1, MAX_SEARCH_CHARS)),
        load_default=list,
        validate=validate.Length(max=MAX_SEARCHES),
        metadata={
            "description": "text in the payload's keys and values, in any case; if repeated, any of"
            " the texts"
        },
    )
    search_exclude = Values(
        load_default=list,
        metadata={"description": "payload keys that `search` ignores, comma-separated"},
    )
    ts_from = ts_from_field("events")
    ts_to = ts_to_field("events")

    @post_load
    def _filters(self, data: dict[str, object], **_: object) -> dict[str, object]:
        names = EventFilters.__dataclass_fields__.keys() & data.keys()
        rest = {name: value for name, value in data.items() if name not in names}
        filters = EventFilters(**{name: data[name] for name in names})  # type: ignore[arg-type] # post_load is untyped
        return {"filters": filters, **rest}


class EventPageQuery(EventFilterQuery):
    """Filters and the position in the list."""

    order = fields.String(
        load_default="desc",
        validate=validate.OneOf(["asc", "desc"]),
        metadata={"description": "`desc`: newest first; `asc`: oldest first"},
    )
    cursor = cursor_field()
    limit = Limit(default=50, cap=1000)


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
