"""Request and response schemas of the routes of evaluations."""

from typing import Any, get_args

from marshmallow import Schema, ValidationError, fields, post_load, validate

from shared.evaluations.filters import EvaluationFilter
from shared.evaluations.records import Status
from shared.evaluations.score_filters import MAX_FILTERS, parse_score_filters
from web.params import Limit, Values, cursor_field, next_cursor_field, ts_from_field, ts_to_field

STATUSES = get_args(Status)


def values(what: str, choices: tuple[str, ...] | None = None) -> Values:
    """Returns a filter field that takes several values, limited to `choices` if given."""

    def check(given: list[str]) -> None:
        # A marshmallow validator would make the OpenAPI document say that only one value may be
        # given.
        if choices is not None and not set(given).issubset(choices):
            raise ValidationError(f"must be one of {', '.join(choices)}")

    return Values(
        load_default=list,
        validate=check,
        metadata={"description": f"{what}; several values, comma-separated, match any of them"},
    )


def score_filters_field() -> Values:
    """Returns a field for bounds of scores. `parse_score_filters` parses its value."""
    return Values(
        load_default=list,
        metadata={
            "description": "`key:min..max`, either bound optional; several, comma-separated,"
            f" must all match; at most {MAX_FILTERS}"
        },
    )


class FilterQuery(Schema):
    """The filters of results."""

    session_id = values("session")
    agent_id = values("root agent of the session")
    environment = values("environment")
    status = values("status of the result: done, error, timeout", STATUSES)
    score_filters = score_filters_field()
    ts_from = ts_from_field("completed")
    ts_to = ts_to_field("completed")
    latest_per_session = fields.Boolean(
        load_default=False,
        metadata={"description": "true: only results that are the newest of their session"},
    )

    @post_load
    def _filter(self, data: dict[str, Any], **_: object) -> dict[str, object]:
        wanted = EvaluationFilter(
            session_ids=tuple(data.pop("session_id")),
            agent_ids=tuple(data.pop("agent_id")),
            environments=tuple(data.pop("environment")),
            statuses=tuple(data.pop("status")),
            scores=parse_score_filters(data.pop("score_filters")),
            ts_from=data.pop("ts_from"),
            ts_to=data.pop("ts_to"),
            latest_per_session=data.pop("latest_per_session"),
        )
        return {"wanted": wanted, **data}


class EvaluationQuery(FilterQuery):
    """Filters and the position in the list."""

    cursor = cursor_field()
    limit = Limit(default=50, cap=200)


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
