"""Aggregates of results: totals, scores by key, and charts over time."""

from shared.evaluations.aggregate.buckets import AUTO, UNITS
from shared.evaluations.aggregate.chart import Chart
from shared.evaluations.aggregate.compute import MAX_FEATURED, Aggregate, aggregate
from shared.evaluations.aggregate.selectors import (
    AGGREGATES,
    EVERY,
    MAX_SERIES,
    Selector,
    parse_series,
)
from shared.evaluations.aggregate.stats import MAX_KEYS, ScoreStats

__all__ = [
    "AGGREGATES",
    "AUTO",
    "EVERY",
    "MAX_FEATURED",
    "MAX_KEYS",
    "MAX_SERIES",
    "UNITS",
    "Aggregate",
    "Chart",
    "ScoreStats",
    "Selector",
    "aggregate",
    "parse_series",
]
