"""Request and response schemas of the routes of evaluations."""

from typing import Any

from marshmallow import Schema, ValidationError, validates_schema

from shared.reading.evaluations.filters import STATUSES, EvaluationFilters
from web import fields
from web.filters import filtered
from web.params import Limit
from web.statement import AsSql


class _ResultPaging(AsSql):
    """The position in the list, and the form of the answer."""

    lowest = fields.text(
        "score key: only results with that score, the lowest first, on one page; not with `cursor`",
        optional=True,
    )
    cursor = fields.cursor()
    limit = Limit(default=50, cap=200)

    @validates_schema
    def _lowest_has_no_pages(self, data: dict[str, Any], **_: object) -> None:
        if data["lowest"] is not None and data["cursor"] is not None:
            raise ValidationError("cannot be combined with lowest", "cursor")


EvaluationQuery = filtered(EvaluationFilters, _ResultPaging)


class Evaluation(Schema):
    """A result."""

    evaluation_id = fields.text("the id of its job")
    id = fields.text("the same")
    session_id = fields.text()
    agent_id = fields.text("the session's root agent")
    environment = fields.text()
    status = fields.text(enum=STATUSES)
    scores = fields.mapping(null=True, keys=fields.text(), values=fields.number())
    reasoning = fields.mapping(null=True, keys=fields.text(), values=fields.text())
    summary = fields.text(null=True)
    error = fields.text(null=True)
    attempt_count = fields.integer(minimum=1)
    duration_ms = fields.integer(null=True)
    completed_at = fields.text(format="date-time")
    created_at = fields.text("as completed_at", format="date-time")


class EvaluationPage(Schema):
    """A page of results."""

    evaluations = fields.rows(Evaluation)
    next_cursor = fields.next_cursor()


class MetricKey(Schema):
    """The key of a metric in results."""

    name = fields.text()
    unit = fields.text()
    count = fields.integer()
