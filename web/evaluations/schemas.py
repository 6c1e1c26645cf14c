"""Request and response schemas of the routes of evaluations."""

from marshmallow import Schema, fields, validate

from shared.evaluations.filters import STATUSES, EvaluationFilters
from web.filters import filtered
from web.params import Limit, cursor_field, next_cursor_field


class _Page(Schema):
    """The position in the list."""

    cursor = cursor_field()
    limit = Limit(default=50, cap=200)


EvaluationQuery = filtered(EvaluationFilters, _Page)


class Evaluation(Schema):
    """A result."""

    evaluation_id = fields.String(required=True, metadata={"description": "the id of its job"})
    id = fields.String(required=True, metadata={"description": "the same"})
    session_id = fields.String(required=True)
    agent_id = fields.String(required=True, metadata={"description": "the session's root agent"})
    environment = fields.String(required=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    scores = fields.Dict(
        keys=fields.String(), values=fields.Float(), required=True, allow_none=True
    )
    reasoning = fields.Dict(
        keys=fields.String(), values=fields.String(), required=True, allow_none=True
    )
    summary = fields.String(required=True, allow_none=True)
    error = fields.String(required=True, allow_none=True)
    attempt_count = fields.Integer(required=True, metadata={"minimum": 1})
    duration_ms = fields.Integer(required=True, allow_none=True)
    completed_at = fields.String(required=True, metadata={"format": "date-time"})
    created_at = fields.String(
        required=True, metadata={"format": "date-time", "description": "as completed_at"}
    )


class EvaluationPage(Schema):
    """A page of results."""

    evaluations = fields.List(fields.Nested(Evaluation), required=True)
    next_cursor = next_cursor_field()


class MetricKey(Schema):
    """The key of a metric in results."""

    name = fields.String(required=True)
    unit = fields.String(required=True)
    count = fields.Integer(required=True)
