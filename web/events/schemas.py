"""Request and response schemas of the routes of events."""

from collections.abc import Callable
from functools import partial

from marshmallow import Schema

from shared.foundation.clickhouse.event_columns import LISTED, EventColumn
from shared.intake.ingest.typos import MAX_WARNINGS
from shared.reading.events.filters import EventFilters
from web import fields
from web.filters import filtered
from web.params import Limit
from web.statement import AsSql


def _text(most: int, **details: object) -> dict[str, object]:
    return {"type": "string", "minLength": 1, "maxLength": most, **details}


# `shared.intake.ingest.decode` checks events one by one. These schemas only document them.
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

    line = fields.integer("line or array element, counted from 1")
    error = fields.text()


class EventWarning(Schema):
    """A fault of an event that was accepted, and that is stored as it was sent.

    An event of an unknown type is one of your own, an unknown outcome is no failure, and a field of
    another JSON type than its column has no value there.
    """

    index = fields.integer("position of the line or array element, counted from 0")
    field = fields.text()
    warning = fields.text("what is wrong with its value")
    did_you_mean = fields.text("the known word that is nearly the same", null=True)


class Accepted(Schema):
    """The result of a batch."""

    accepted = fields.integer("events that will be stored")
    skipped = fields.integer("events that will not be")
    errors = fields.rows(AcceptedError, "the reasons of the first 20 skipped events")
    warnings = fields.rows(
        EventWarning,
        f"the first {MAX_WARNINGS} faults of accepted events; absent without any",
        required=False,
    )


# By the first part that the column's type has.
_FIELDS: dict[str, Callable[..., fields.Field]] = {
    "Array(": fields.texts,
    "Map(": partial(fields.mapping, keys=fields.text(), values=fields.text()),
    "String": fields.text,
    "DateTime": fields.text,
    "UInt": fields.integer,
    "Float": fields.number,
    "Decimal": fields.number,
    "Bool": fields.flag,
}


class _EventPaging(AsSql):
    """The position in the list, and the form of the answer."""

    order = fields.order("`desc`: newest first; `asc`: oldest first")
    cursor = fields.cursor()
    limit = Limit(default=50, cap=1000)


EventPageQuery = filtered(EventFilters, _EventPaging)


def _shown(column: EventColumn) -> fields.Field:
    """Returns the response field for the value of this column."""
    make = next(make for part, make in _FIELDS.items() if part in column.type)
    details = {"format": "date-time"} if "DateTime" in column.type else {}
    # The document says `null` only for columns that can be null.
    return make(column.about, null=column.is_nullable, **details)


class EventHead(Schema):
    """The fields of every listed event."""

    class Meta:
        """Marshmallow's options."""

        include = {column.name: _shown(column) for column in LISTED}  # noqa: RUF012 as it declares it


class Event(EventHead):
    """An event with its payload as it was sent."""

    payload = fields.mapping()


class EventSummary(EventHead):
    """An event with a one-line summary."""

    summary = fields.text(maxLength=200)


class EventPage(Schema):
    """A page of events."""

    events = fields.rows(Event)
    next_cursor = fields.next_cursor()


class EventSummaryPage(Schema):
    """A page of events without their payloads."""

    events = fields.rows(EventSummary)
    next_cursor = fields.next_cursor()
