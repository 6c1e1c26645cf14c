"""Request and response schemas of the routes of evaluations."""

from typing import Any

from marshmallow import Schema, ValidationError, validates_schema

from shared.reading.evaluations.filters import STATUSES, EvaluationFilters
from shared.reading.evaluations.records import KINDS
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
    def _version_has_one_evaluator(self, data: dict[str, Any], **_: object) -> None:
        evaluators = data.get("evaluator") or []
        if data.get("evaluator_version") and (len(evaluators) != 1 or "*" in evaluators):
            raise ValidationError("needs one evaluator", "evaluator_version")

    @validates_schema
    def _lowest_has_no_pages(self, data: dict[str, Any], **_: object) -> None:
        if data["lowest"] is not None and data["cursor"] is not None:
            raise ValidationError("cannot be combined with lowest", "cursor")


EvaluationQuery = filtered(EvaluationFilters, _ResultPaging)


class EvaluationResult(Schema):
    """One value of an evaluation."""

    key = fields.text()
    kind = fields.text(enum=KINDS)
    value = fields.raw("a number, true or false, or a text, as `kind` says")
    passed = fields.flag(null=True)
    unit = fields.text(null=True)
    reasoning = fields.text(null=True)
    labels = fields.texts()
    evidence = fields.texts("ids of events")
    flags = fields.texts()


class Covers(Schema):
    """The events that an evaluation covers."""

    event_count = fields.integer()
    last_event_at = fields.text(format="date-time")


class EvaluatorUsage(Schema):
    """What an evaluation used, as the evaluator says."""

    input_tokens = fields.integer(null=True)
    output_tokens = fields.integer(null=True)
    cost_usd = fields.number(null=True)


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

    evaluator = fields.text("`default` and `otlp` are the deployment's")
    evaluator_version = fields.text(null=True)
    trigger = fields.text("null for results from before there were versions", null=True)
    results = fields.rows(EvaluationResult)
    covers = fields.nested(Covers, null=True)
    usage = fields.nested(EvaluatorUsage, null=True)
    stale = fields.flag("the session has newer events")
    coverage = fields.raw("what the evaluator was shown; null: everything", null=True)
    backfill_id = fields.text(null=True)


class EvaluationPage(Schema):
    """A page of results."""

    evaluations = fields.rows(Evaluation)
    next_cursor = fields.next_cursor()


class MetricKey(Schema):
    """The key of a metric in results."""

    name = fields.text()
    unit = fields.text()
    count = fields.integer()
