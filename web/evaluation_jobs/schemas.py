"""Request and response schemas of the routes of evaluation jobs."""

from typing import get_args

from marshmallow import Schema, fields, validate

from shared.evaluation_jobs.service import LiveStatus
from web.params import Limit, values

STATUSES = get_args(LiveStatus)


class JobQuery(Schema):
    """The filters of a list of jobs."""

    status = values("status of a job: pending, polling", STATUSES)
    limit = Limit(default=100, cap=500)


class EvaluationJob(Schema):
    """An evaluation without a result yet."""

    id = fields.String(required=True, metadata={"description": "the id of the result to come"})
    session_id = fields.String(required=True)
    agent_id = fields.String(required=True, metadata={"description": "the session's root agent"})
    environment = fields.String(required=True)
    status = fields.String(
        required=True,
        validate=validate.OneOf(STATUSES),
        metadata={"description": "polling: the evaluator accepted it and is working on it"},
    )
    trigger = fields.String(
        required=True, validate=validate.OneOf(["agent_end", "inactivity", "manual"])
    )
    attempt_count = fields.Integer(required=True, metadata={"description": "deliveries so far"})
    evaluator_job_id = fields.String(required=True, allow_none=True)
    enqueued_at = fields.String(required=True, metadata={"format": "date-time"})
    next_attempt_at = fields.String(required=True, metadata={"format": "date-time"})
    poll_deadline_at = fields.String(
        required=True, allow_none=True, metadata={"format": "date-time"}
    )
    last_error = fields.String(required=True, allow_none=True)


class JobList(Schema):
    """Jobs, newest first."""

    jobs = fields.List(fields.Nested(EvaluationJob), required=True)


class Queued(Schema):
    """A job that was just created."""

    session_id = fields.String(required=True)
    status = fields.String(required=True, validate=validate.Equal("queued"))
    job_id = fields.String(required=True)
