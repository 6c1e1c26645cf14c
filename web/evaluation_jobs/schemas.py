"""Request and response schemas of the routes of evaluation jobs."""

from typing import get_args

from marshmallow import Schema

from shared.evaluation.evaluation_jobs.listing import LiveStatus
from shared.reading.evaluations.filters import EvaluationFilters
from web import fields
from web.filters import filtered
from web.params import Body, Limit, values

STATUSES = get_args(LiveStatus)


class JobQuery(Schema):
    """The filters of a list of jobs."""

    status = values("status of a job: pending, polling", STATUSES)
    session_id = values("session")
    health = fields.flag("whether to answer with the evaluator's health too", load_default=False)
    limit = Limit(default=100, cap=500)


class EvaluationJob(Schema):
    """An evaluation without a result yet."""

    id = fields.text("the id of the result to come")
    session_id = fields.text()
    agent_id = fields.text("the session's root agent")
    environment = fields.text()
    status = fields.text("polling: the evaluator accepted it and is working on it", enum=STATUSES)
    trigger = fields.text(enum=["agent_end", "inactivity", "manual"])
    attempt_count = fields.integer("deliveries so far")
    evaluator_job_id = fields.text(null=True)
    enqueued_at = fields.text(format="date-time")
    next_attempt_at = fields.text(format="date-time")
    poll_deadline_at = fields.text(null=True, format="date-time")
    last_error = fields.text(null=True)


class EvaluatorHealth(Schema):
    """The newest calls of the evaluator."""

    state = fields.text(
        "failing: calls failed, and are repeated; open: evaluations wait, without using up"
        " attempts, until a call succeeds",
        enum=["ok", "failing", "open"],
    )
    since = fields.text("the first of the failed calls", null=True, format="date-time")
    failures = fields.integer("failed calls in a row")
    last_error = fields.text(null=True)
    retry_at = fields.text("while open, the next call", null=True, format="date-time")


class JobList(Schema):
    """Jobs, newest first."""

    jobs = fields.rows(EvaluationJob)
    health = fields.nested(EvaluatorHealth, "only if the query asks for it", required=False)


class _Again(Body):
    """Options of a request to evaluate again."""

    dry_run = fields.switch(False, "count the sessions, and queue nothing")


AgainBody = filtered(EvaluationFilters, _Again)


class Requested(Schema):
    """The sessions that match; those without `queued` have an evaluation under way."""

    sessions = fields.integer()
    queued = fields.integer()
    dry_run = fields.flag()


class Queued(Schema):
    """A job that was just created."""

    session_id = fields.text()
    status = fields.text(enum=["queued"])
    job_id = fields.text()
