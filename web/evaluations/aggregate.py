"""Request and response schemas of the aggregate of evaluations."""

from typing import Any

from marshmallow import Schema, ValidationError, post_load, validate

from shared.foundation.core.clock import format_us
from shared.reading.evaluations.aggregate.buckets import AUTO, UNITS
from shared.reading.evaluations.aggregate.chart import Chart
from shared.reading.evaluations.aggregate.compute import ResultAggregates
from shared.reading.evaluations.aggregate.selectors import (
    AGGREGATES,
    EVERY,
    MAX_SERIES,
    parse_series,
)
from shared.reading.evaluations.aggregate.stats import MAX_FEATURED, MAX_KEYS
from shared.reading.evaluations.filters import STATUSES, EvaluationFilters
from web import fields
from web.filters import filtered
from web.statement import AsSql


def _check_featured(keys: list[str]) -> None:
    if len(keys) > MAX_FEATURED:
        raise ValidationError(f"takes at most {MAX_FEATURED} keys")


class _Charts(AsSql):
    """The charts to return."""

    featured_keys = fields.values(
        "score keys whose averages the timeline shows, comma-separated, at most"
        f" {MAX_FEATURED}; default: the most frequent ones",
        validate=_check_featured,
    )
    bucket = fields.text(
        "length of a bucket; a coarser one is used if there would be more"
        " than 1500, and `auto` is the finest with at most 200",
        load_default=AUTO,
        validate=validate.OneOf([*UNITS, AUTO]),
    )
    series = fields.text(
        "JSON array of [agent, environment, score key, aggregate]; `*` is every"
        f" agent or environment, aggregates are {', '.join(AGGREGATES)}; only the first"
        f" {MAX_SERIES} are returned",
        load_default="[]",
        example='[["*", "production", "success", "p50"]]',
    )

    histogram = fields.integer(
        "number of bins; with it the answer has `histograms`",
        optional=True,
        validate=validate.Range(2, 50),
    )

    @post_load
    def _series(self, data: dict[str, Any], **_: object) -> dict[str, object]:
        return {**data, "series": parse_series(data["series"])}


AggregateQuery = filtered(EvaluationFilters, _Charts)


class StatusCounts(Schema):
    """Counts of results by status."""

    done = fields.integer()
    error = fields.integer()
    timeout = fields.integer()


class ScoreStats(Schema):
    """Statistics of the scores under one key."""

    key = fields.text()
    count = fields.integer()
    avg = fields.number()
    min = fields.number()
    max = fields.number()
    p50 = fields.number()


def _moment() -> fields.Field:
    return fields.text("start of the bucket", format="date-time")


class TimelinePoint(Schema):
    """A bucket of the timeline."""

    ts = _moment()
    total = fields.integer()
    done = fields.integer()
    error = fields.integer()
    timeout = fields.integer()
    scores = fields.mapping(
        "averages by featured key; keys without a score are left out",
        keys=fields.text(),
        values=fields.number(),
    )


class Timeline(Schema):
    """The results over time."""

    bucket_unit = fields.text(enum=list(UNITS))
    bucket_secs = fields.integer("length of a bucket; of `week` possibly a multiple")
    points = fields.rows(TimelinePoint)


class SeriesPoint(Schema):
    """A bucket of a series."""

    ts = _moment()
    value = fields.number("null without a score, and for a deviation beyond all numbers", null=True)


class ScoreSeries(Schema):
    """One score over time."""

    agent_id = fields.text(f"`{EVERY}`: all agents")
    environment = fields.text(f"`{EVERY}`: all environments")
    key = fields.text()
    agg = fields.text(enum=AGGREGATES)
    points = fields.rows(SeriesPoint, "the same buckets as in the timeline")


class ScoreHistogram(Schema):
    """The scores under one key in equal bins; the last one includes its upper edge."""

    key = fields.text()
    min = fields.number("lower edge of the first bin")
    max = fields.number("upper edge of the last bin")
    counts = fields.list_of(fields.integer())


class EvaluationAggregate(Schema):
    """Aggregated results."""

    total = fields.integer()
    status_counts = fields.nested(StatusCounts)
    score_stats = fields.rows(
        ScoreStats, f"most frequent key first, then by name; at most {MAX_KEYS}"
    )
    timeline = fields.nested(Timeline)
    series = fields.rows(ScoreSeries, "in the requested order")
    series_truncated = fields.flag(
        f"more than {MAX_SERIES} were requested, and the rest was left out"
    )
    histograms = fields.rows(
        ScoreHistogram, "for the keys of `score_stats`, with `histogram` only", required=False
    )


def aggregate_body(found: ResultAggregates) -> dict[str, object]:
    """Returns the JSON body of the answer."""
    moments = [format_us(start) for start in found.buckets.starts()]
    points = [
        {"ts": ts, **counts._asdict(), "scores": _scores(found.featured, place)}
        for place, (ts, counts) in enumerate(zip(moments, found.counts, strict=True))
    ]
    more = {} if found.histograms is None else {"histograms": found.histograms}
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
        **more,
    }


def _scores(featured: list[Chart], place: int) -> dict[str, float]:
    averages = ((chart.selector.key, chart.values[place]) for chart in featured)
    return {key: value for key, value in averages if value is not None}


def _series(chart: Chart, moments: list[str]) -> dict[str, object]:
    points = [{"ts": ts, "value": value} for ts, value in zip(moments, chart.values, strict=True)]
    return {**chart.selector._asdict(), "points": points}
