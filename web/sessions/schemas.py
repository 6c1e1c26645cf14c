"""Request and response schemas of the routes of sessions."""

from marshmallow import Schema, validate

from shared.evaluation.evaluation_jobs.state.decision import CODES
from shared.evaluation.runs.state.decision import RUN_CODES
from shared.reading.costs.session import MAX_ROWS
from shared.reading.evaluations.aggregate.buckets import UNITS
from shared.reading.sessions.selection import SessionFilters
from shared.reading.sessions.sorting import LAST_EVENT, MOST_DAYS, PATTERN, STANDARD_DAYS
from shared.reading.sessions.totals import MAX_TAGS
from shared.reading.sessions.turns.rule import ROLES
from web import fields
from web.costs.schemas import CostFigures, StoredCost
from web.evaluation_jobs.schemas import EvaluationJob
from web.evaluations.schemas import Evaluation
from web.events.schemas import Event
from web.filters import filtered
from web.params import Limit
from web.statement import AsSql


class _SessionPaging(AsSql):
    """The order of the list, the position in it, and the form of the answer."""

    sort = fields.text(
        "the value that orders the list; `tokens` are input and output together, `duration` is from"
        " the first event to the last, and `score:<key>` is the score of that key in the newest"
        " result. Ties: the newest last event first, then by session id. Sessions without a value"
        " are last. All but `last_event_at` look at sessions with their last event between"
        f" `ts_from` and `ts_to`, at most {MOST_DAYS} days; `ts_from` is then {STANDARD_DAYS} days"
        " before `ts_to` by default",
        load_default=LAST_EVENT,
        pattern=PATTERN,
    )
    order = fields.order("`desc`: newest or highest first; `asc`: oldest or lowest first")
    cursor = fields.cursor()
    limit = Limit(default=50, cap=200)


SessionQuery = filtered(SessionFilters, _SessionPaging)


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
    outcome = fields.text("of the root agent's last agent_end, as it was sent", null=True)
    failed = fields.flag("whether that agent_end is a failure, by its outcome or its error")
    first_event_id = fields.integer()
    last_event_id = fields.integer()
    input_tokens = fields.integer()
    output_tokens = fields.integer()
    user_id = fields.text("of the first event that has one", null=True)
    agent_version = fields.text(
        "of the root agent's first event that has one, else of any first", null=True
    )
    tags = fields.texts("of all events, sorted", maxItems=MAX_TAGS)
    attributes = fields.mapping(
        "the first value of each key", keys=fields.text(), values=fields.text()
    )
    cache_read_tokens = fields.integer()
    cache_write_tokens = fields.integer("of all lifetimes")
    cache_write_1h_tokens = fields.integer()
    reasoning_tokens = fields.integer()
    model_calls = fields.integer("calls with a cost, and calls without a price")
    unpriced_calls = fields.integer("with some, the amounts are lower bounds")
    cost_usd = fields.number("null if no call has a cost", null=True)
    reported_usd = fields.number("what senders reported", null=True)
    computed_usd = fields.number("what prices say", null=True)
    latest_evaluation = fields.nested(Evaluation, null=True)


class SessionPage(Schema):
    """A page of sessions."""

    sessions = fields.rows(Session)
    next_cursor = fields.next_cursor()


class _Score(Schema):
    """The score to add up."""

    score_key = fields.text(
        "with it the answer has the score of this key in the newest results", optional=True
    )


TotalsQuery = filtered(SessionFilters, _Score)


class SessionScore(Schema):
    """A score of the newest results."""

    key = fields.text()
    count = fields.integer("sessions that have it")
    avg = fields.number("null if none has it", null=True)


class SessionPoint(Schema):
    """The sessions with their last event in a bucket."""

    ts = fields.text("start of the bucket", format="date-time")
    sessions = fields.integer()
    error_count = fields.integer()
    tokens = fields.integer("input and output")
    cost_usd = fields.number("null if no call has a cost", null=True)
    score_avg = fields.number("null without a score", null=True)


class SessionTimeline(Schema):
    """The sessions over time, by their last event."""

    bucket_unit = fields.text(enum=list(UNITS))
    bucket_secs = fields.integer("length of a bucket; of `week` possibly a multiple")
    points = fields.rows(SessionPoint, "at most 200")


class SessionTotals(Schema):
    """Sums over sessions."""

    sessions = fields.integer()
    event_count = fields.integer("all events of the sessions, whatever their time")
    error_count = fields.integer()
    input_tokens = fields.integer()
    output_tokens = fields.integer()
    model_calls = fields.integer("calls with a cost, and calls without a price")
    unpriced_calls = fields.integer("with some, the cost is a lower bound")
    priced_sessions = fields.integer("sessions with a cost")
    cost_usd = fields.number("null if no call has a cost", null=True)
    score = fields.nested(SessionScore, "null without `score_key`", null=True)
    timeline = fields.nested(SessionTimeline)


ALL_CODES = tuple(dict.fromkeys([*CODES, *RUN_CODES]))


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


class OneEvaluatorState(Schema):
    """The state of a session for one evaluator."""

    evaluator = fields.text("its key")
    version = fields.text("the active one", null=True)
    code = fields.text(
        "as in `evaluation_state`, and: `paused`: the evaluator is off. `no_version`: none is"
        " active. `not_applicable`, `not_sampled`, `budget_exhausted`: condition, sample or budget"
        " left it out. `breaker_open`: the evaluator fails",
        enum=ALL_CODES,
    )
    sentence = fields.text("the state, and what can be done about it")
    detail = fields.text("what decided, or until when", null=True)
    job = fields.nested(EvaluationJob, "the evaluation that has no result yet", null=True)
    since = fields.text("when the state began, if that is known", null=True, format="date-time")
    stale = fields.flag("the session has newer events than the result covers")
    latest = fields.nested(
        Evaluation, "the newest result of the active version, else of any", null=True
    )


class SessionCosts(CostFigures):
    """The figures of the calls of an agent with a model of a provider."""

    agent_id = fields.text()
    model = fields.text(null=True)
    provider = fields.text(null=True)


class SessionDetail(Session):
    """A session with the state of its evaluation."""

    evaluation_state = fields.nested(EvaluationState)
    evaluation_states = fields.rows(
        OneEvaluatorState, "of `default` if there is one, then of each own evaluator by key"
    )
    costs = fields.rows(SessionCosts, "of its calls, the dearest first", maxItems=MAX_ROWS)


class EventDetail(Event):
    """An event with its payload and the parts of its cost."""

    cost = fields.nested(StoredCost, "null if it is no call", null=True)


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


class TurnsQuery(Schema):
    """The part of the turns, and how long their texts are."""

    max_text = fields.integer(
        "bytes of each text; longer ones are cut",
        load_default=4096,
        validate=validate.Range(256, 65_536),
    )
    cursor = fields.cursor()
    limit = Limit(default=200, cap=1000)


class TurnTool(Schema):
    """The call of a tool. Values that are no texts are JSON; what is absent is empty."""

    name = fields.text()
    call_id = fields.text()
    input = fields.text()
    output = fields.text()
    failed = fields.flag()
    duration_ms = fields.integer(null=True)


class SessionTurn(Schema):
    """What somebody said, or a tool did."""

    n = fields.integer("its place in the session, from 1")
    role = fields.text(enum=list(ROLES))
    agent_id = fields.text()
    ts = fields.text("of its first event", format="date-time")
    text = fields.text("of a tool its error")
    tool = fields.nested(TurnTool, null=True)
    event_ids = fields.list_of(fields.integer(), "the events that it comes from")
    cut = fields.integer("bytes of its texts that were left out")


class SessionTurns(Schema):
    """A page of the turns of a session."""

    session_id = fields.text()
    total = fields.integer("turns of the session")
    turns = fields.rows(SessionTurn, "oldest first")
    next_cursor = fields.next_cursor()
