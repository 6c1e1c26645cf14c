"""Request and response schemas of the routes of evaluation jobs."""

from typing import get_args

from marshmallow import Schema

from shared.evaluation_jobs.listing import LiveStatus
from web import fields
from web.params import Limit, values

STATUSES = get_args(LiveStatus)


class JobQuery(Schema):
    """The filters of a list of jobs."""

    status = values("status of a job: pending, polling", STATUSES)
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


class JobList(Schema):
    """Jobs, newest first."""

    jobs = fields.rows(EvaluationJob)


class Queued(Schema):
    """A job that was just created."""

    session_id = fields.text()
    status = fields.text(enum=["queued"])
    job_id = fields.text()
