"""Request and response schemas of the aggregate of evaluations."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate

from shared.core.clock import format_us
from shared.evaluations.aggregate import (
    AGGREGATES,
    AUTO,
    EVERY,
    MAX_FEATURED,
    MAX_KEYS,
    MAX_SERIES,
    UNITS,
    Aggregate,
    Chart,
    parse_series,
)
from shared.evaluations.filters import STATUSES, EvaluationFilters
from web.filters import filtered
from web.params import Values


def _check_featured(keys: list[str]) -> None:
    if len(keys) > MAX_FEATURED:
        raise ValidationError(f"takes at most {MAX_FEATURED} keys")


class _Charts(Schema):
    """The charts to return."""

    featured_keys = Values(
        load_default=list,
        validate=_check_featured,
        metadata={
            "description": "score keys whose averages the timeline shows, comma-separated, at most"
            f" {MAX_FEATURED}; default: the most frequent ones"
        },
    )
    bucket = fields.String(
        load_default=AUTO,
        validate=validate.OneOf([*UNITS, AUTO]),
        metadata={
            "description": "length of a bucket; a coarser one is used if there would be more"
            " than 1500, and `auto` is the finest with at most 200"
        },
    )
    series = fields.String(
        load_default="[]",
        metadata={
            "description": "JSON array of [agent, environment, score key, aggregate]; `*` is every"
            f" agent or environment, aggregates are {', '.join(AGGREGATES)}; only the first"
            f" {MAX_SERIES} are returned",
            "example": '[["*", "production", "success", "p50"]]',
        },
    )

    @post_load
    def _series(self, data: dict[str, Any], **_: object) -> dict[str, object]:
        return {**data, "series": parse_series(data["series"])}


AggregateQuery = filtered(EvaluationFilters, _Charts)


class StatusCounts(Schema):
    """Counts of results by status."""

    done = fields.Integer(required=True)
    error = fields.Integer(required=True)
    timeout = fields.Integer(required=True)


class ScoreStats(Schema):
    """Statistics of the scores under one key."""

    key = fields.String(required=True)
    count = fields.Integer(required=True)
    avg = fields.Float(required=True)
    min = fields.Float(required=True)
    max = fields.Float(required=True)
    p50 = fields.Float(required=True)


def _moment() -> fields.String:
    return fields.String(
        required=True, metadata={"format": "date-time", "description": "start of the bucket"}
    )


class TimelinePoint(Schema):
    """A bucket of the timeline."""

    ts = _moment()
    total = fields.Integer(required=True)
    done = fields.Integer(required=True)
    error = fields.Integer(required=True)
    timeout = fields.Integer(required=True)
    scores = fields.Dict(
        keys=fields.String(),
        values=fields.Float(),
        required=True,
        metadata={"description": "averages by featured key; keys without a score are left out"},
    )


class Timeline(Schema):
    """The results over time."""

    bucket_unit = fields.String(required=True, validate=validate.OneOf(list(UNITS)))
    bucket_secs = fields.Integer(
        required=True,
        metadata={"description": "length of a bucket; of `week` possibly a multiple"},
    )
    points = fields.List(fields.Nested(TimelinePoint), required=True)


class SeriesPoint(Schema):
    """A bucket of a series."""

    ts = _moment()
    value = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "null without a score, and for a deviation beyond all numbers"},
    )


class ScoreSeries(Schema):
    """One score over time."""

    agent_id = fields.String(required=True, metadata={"description": f"`{EVERY}`: all agents"})
    environment = fields.String(
        required=True, metadata={"description": f"`{EVERY}`: all environments"}
    )
    key = fields.String(required=True)
    agg = fields.String(required=True, validate=validate.OneOf(AGGREGATES))
    points = fields.List(
        fields.Nested(SeriesPoint),
        required=True,
        metadata={"description": "the same buckets as in the timeline"},
    )


class EvaluationAggregate(Schema):
    """Aggregated results."""

    total = fields.Integer(required=True)
    status_counts = fields.Nested(StatusCounts, required=True)
    score_stats = fields.List(
        fields.Nested(ScoreStats),
        required=True,
        metadata={"description": f"most frequent key first, then by name; at most {MAX_KEYS}"},
    )
    timeline = fields.Nested(Timeline, required=True)
    series = fields.List(
        fields.Nested(ScoreSeries),
        required=True,
        metadata={"description": "in the requested order"},
    )
    series_truncated = fields.Boolean(
        required=True,
        metadata={
            "description": f"more than {MAX_SERIES} were requested, and the rest was left out"
        },
    )


def aggregate_body(found: Aggregate) -> dict[str, object]:
    """Returns the JSON body of the answer."""
    moments = [format_us(start) for start in found.buckets.starts()]
    points = [
        {"ts": ts, **counts._asdict(), "scores": _scores(found.featured, place)}
        for place, (ts, counts) in enumerate(zip(moments, found.counts, strict=True))
    ]
    return {
        "total": found.total.total,
        "status_counts": {name: getattr(found.total, name) for name in STATUSES},
        "score_stats": found.score_stats,
        "timeline": {
            "bucket_unit": found.buckets.unit,
            "bucket_secs": found.buckets.secs,
            "points": points,
        },
        "series": [_series(chart, moments) for chart in found.series],
        "series_truncated": found.is_truncated,
    }


def _scores(featured: list[Chart], place: int) -> dict[str, float]:
    averages = ((chart.selector.key, chart.values[place]) for chart in featured)
    return {key: value for key, value in averages if value is not None}


def _series(chart: Chart, moments: list[str]) -> dict[str, object]:
    points = [{"ts": ts, "value": value} for ts, value in zip(moments, chart.values, strict=True)]
    return {**chart.selector._asdict(), "points": points}
