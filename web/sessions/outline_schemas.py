"""Request and response schemas of the outline of a session."""

from marshmallow import Schema, validate

from shared.reading.events.outline.columns import SUMMARY_CHARS
from shared.reading.events.outline.query import DEFAULT_EVENTS, MAX_EVENTS, OutlineFilters
from web import fields
from web.filters import filtered
from web.params import Limit
from web.statement import AsSql


class _OutlinePaging(AsSql):
    """The part of the outline."""

    columns = fields.text("`id`: only this column", optional=True, validate=validate.OneOf(["id"]))
    limit = Limit(default=DEFAULT_EVENTS, cap=MAX_EVENTS)
    cursor = fields.text("`prev_cursor` or `next_cursor` of another page", optional=True)
    around = fields.integer(
        "the id of an event: the page that holds it, if the first page begins at the first event",
        optional=True,
        validate=validate.Range(0, 2**53 - 1),
    )
    since = fields.text(
        "`watermark` of an earlier answer: only events that arrived later", optional=True
    )


OutlineQuerySchema = filtered(OutlineFilters, _OutlinePaging)


def _column(item: fields.Field, about: str) -> fields.Field:
    return fields.list_of(item, about, required=False)


class OutlineColumns(Schema):
    """An array for each column, all of one length; with `columns=id` only that one."""

    id = fields.list_of(fields.integer(), "below 2^53")
    t = _column(fields.integer(), "microseconds since `base_ts`")
    type = _column(fields.integer(), "place in `types`")
    agent = _column(fields.integer(), "place in `agents`")
    name = _column(
        fields.integer(),
        "place in `names` of the tool, hook or model, or of the type of an error; -1: none",
    )
    pair = _column(
        fields.integer(),
        "hash of 53 bits that a start and its close share; 0: the event has no key",
    )
    duration_ms = _column(fields.integer(null=True), "of the event itself")
    error = _column(fields.integer(), "1: the event reports a failure; else 0")
    input_tokens = _column(fields.integer(null=True), "")
    output_tokens = _column(fields.integer(null=True), "")
    cost_usd = _column(fields.number(null=True), "of a call; null if nothing tells it")
    context_fill = _column(fields.number(null=True), "rounded to 4 places")
    summary = _column(fields.text(), f"the first {SUMMARY_CHARS} characters")


class OutlineAgent(Schema):
    """An agent of the session."""

    agent_id = fields.text()
    parent = fields.integer(
        "place in `agents` of the agent that its first agent_start names", null=True
    )
    event_count = fields.integer("events of the whole session")


class Outline(Schema):
    """A page of the outline."""

    session_id = fields.text()
    total = fields.integer("events of the session that match the filters")
    offset = fields.integer("how many of them come before this page")
    base_ts = fields.text(
        "time of the first event of this answer; without any, of the session", format="date-time"
    )
    agents = fields.rows(OutlineAgent, "all agents of the session, by their first event")
    types = fields.texts("the types of events in this answer")
    names = fields.texts("the names of events in this answer")
    columns = fields.nested(OutlineColumns)
    prev_cursor = fields.text("null on the first page, and with `since`", null=True)
    next_cursor = fields.text("null on the last page, and with `since`", null=True)
    watermark = fields.text("the value of `since` for what arrives from now on")
