"""Request and response schemas of the routes of sessions."""

from marshmallow import Schema, validate

from shared.evaluation_jobs.state.decision import CODES
from shared.sessions.selection import SessionFilters
from web import fields
from web.evaluation_jobs.schemas import EvaluationJob
from web.evaluations.schemas import Evaluation
from web.filters import filtered
from web.params import Limit


class _Page(Schema):
    """The position in the list."""

    order = fields.order("by the last event: `desc`: newest first; `asc`: oldest first")
    cursor = fields.cursor()
    limit = Limit(default=50, cap=200)


SessionQuery = filtered(SessionFilters, _Page)


class SessionAgent(Schema):
    """One agent's part in a session."""

    agent_id = fields.text()
    event_count = fields.integer()


class Session(Schema):
    """A session, aggregated from its events."""

    session_id = fields.text()
    agent_id = fields.text("root: the agent that started first, else the first event's")
    agents = fields.rows(SessionAgent, "most events first")
    environment = fields.text("of the first event")
    event_count = fields.integer()
    error_count = fields.integer()
    started_at = fields.text(format="date-time")
    last_event_at = fields.text(format="date-time")
    ended_at = fields.text("the root agent's last agent_end", null=True, format="date-time")
    first_event_id = fields.integer()
    last_event_id = fields.integer()
    input_tokens = fields.integer()
    output_tokens = fields.integer()
    latest_evaluation = fields.nested(Evaluation, null=True)


class SessionPage(Schema):
    """A page of sessions."""

    sessions = fields.rows(Session)
    next_cursor = fields.next_cursor()


class EvaluationState(Schema):
    """The state of a session's evaluation."""

    code = fields.text(
        "`scored`, `error`, `timeout`: the newest result. `queued`, `calling`, `polling`: a job."
        " `not_ended`: neither ended nor idle. `settling`: ended, until nothing more arrives."
        " `disabled`: there is no evaluator. `not_for_organization`: it is for others."
        " `before_evaluator`: the session arrived while it was off. `waiting`: none of these",
        enum=CODES,
    )
    sentence = fields.text("the state, and what can be done about it")
    job = fields.nested(EvaluationJob, "the evaluation that has no result yet", null=True)
    since = fields.text("when the state began, if that is known", null=True, format="date-time")


class SessionDetail(Session):
    """A session with the state of its evaluation."""

    evaluation_state = fields.nested(EvaluationState)


class ExportQuery(Schema):
    """The form of an export."""

    format = fields.text(
        "`jsonl`: one event per line; `array`: one JSON array of them; `json`: one object for an"
        " evaluator. The default is `jsonl`, or `json` with `Accept: application/json`",
        optional=True,
        validate=validate.OneOf(["jsonl", "array", "json"]),
    )


class ExportedEvent(Schema):
    """An event of an export."""

    id = fields.integer()
    ts = fields.text(format="date-time")
    event_type = fields.text()
    payload = fields.mapping("as it was sent")


class EvalRequest(Schema):
    """The request to an evaluator."""

    schema_version = fields.text()
    session_id = fields.text()
    agent_id = fields.text()
    environment = fields.text()
    started_at = fields.text(format="date-time")
    ended_at = fields.text(null=True, format="date-time")
    events = fields.rows(ExportedEvent, "oldest first")
