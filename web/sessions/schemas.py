"""Request and response schemas of the routes of sessions."""

from marshmallow import Schema, fields, validate

from shared.sessions.selection import SessionFilters
from web.evaluations.schemas import Evaluation
from web.filters import filtered
from web.params import Limit, cursor_field, next_cursor_field


class _Page(Schema):
    """The position in the list."""

    cursor = cursor_field()
    limit = Limit(default=50, cap=200)


SessionQuery = filtered(SessionFilters, _Page)


class SessionAgent(Schema):
    """One agent's part in a session."""

    agent_id = fields.String(required=True)
    event_count = fields.Integer(required=True)


class Session(Schema):
    """A session, aggregated from its events."""

    session_id = fields.String(required=True)
    agent_id = fields.String(
        required=True,
        metadata={"description": "root: the agent that started first, else the first event's"},
    )
    agents = fields.List(
        fields.Nested(SessionAgent), required=True, metadata={"description": "most events first"}
    )
    environment = fields.String(required=True, metadata={"description": "of the first event"})
    event_count = fields.Integer(required=True)
    error_count = fields.Integer(required=True)
    started_at = fields.String(required=True, metadata={"format": "date-time"})
    last_event_at = fields.String(required=True, metadata={"format": "date-time"})
    ended_at = fields.String(
        required=True,
        allow_none=True,
        metadata={"format": "date-time", "description": "the root agent's last agent_end"},
    )
    first_event_id = fields.Integer(required=True)
    last_event_id = fields.Integer(required=True)
    input_tokens = fields.Integer(required=True)
    output_tokens = fields.Integer(required=True)
    latest_evaluation = fields.Nested(Evaluation, required=True, allow_none=True)


class SessionPage(Schema):
    """A page of sessions."""

    sessions = fields.List(fields.Nested(Session), required=True)
    next_cursor = next_cursor_field()


class ExportQuery(Schema):
    """The form of an export."""

    format = fields.String(
        load_default=None,
        validate=validate.OneOf(["jsonl", "json"]),
        metadata={
            "description": "`jsonl`: one event per line; `json`: one object for an evaluator."
            " The default is `jsonl`, or `json` with `Accept: application/json`"
        },
    )


class ExportedEvent(Schema):
    """An event of an export."""

    id = fields.Integer(required=True)
    ts = fields.String(required=True, metadata={"format": "date-time"})
    event_type = fields.String(required=True)
    payload = fields.Dict(required=True, metadata={"description": "as it was sent"})


class EvalRequest(Schema):
    """The request to an evaluator."""

    schema_version = fields.String(required=True)
    session_id = fields.String(required=True)
    agent_id = fields.String(required=True)
    environment = fields.String(required=True)
    started_at = fields.String(required=True, metadata={"format": "date-time"})
    ended_at = fields.String(required=True, allow_none=True, metadata={"format": "date-time"})
    events = fields.List(
        fields.Nested(ExportedEvent), required=True, metadata={"description": "oldest first"}
    )
