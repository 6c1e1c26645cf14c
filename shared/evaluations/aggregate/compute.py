"""The whole aggregate: the matching results, their buckets and sums, in two statements."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from shared.clickhouse import ClickHouse
from shared.core.clock import from_us, now_us, to_us
from shared.evaluations.aggregate.buckets import Buckets, choose
from shared.evaluations.aggregate.chart import Chart, Counts, timeline
from shared.evaluations.aggregate.selectors import EVERY, MAX_SERIES, Selector
from shared.evaluations.aggregate.stats import Overview, ScoreStats, overview
from shared.evaluations.filters import EvaluationFilters
from shared.evaluations.source import source_of

MAX_FEATURED = 6

# The range of DateTime64; there is nothing to show outside.
_OLDEST = to_us(datetime(1900, 1, 1, tzinfo=UTC))
_NEWEST = to_us(datetime(2300, 1, 1, tzinfo=UTC))


class Aggregate(NamedTuple):
    """The aggregates of the matching results.

    `counts` and every chart have an item for each of `buckets`. `featured` are the averages of the
    featured keys, `series` the requested charts in their order; `is_truncated` shows that more were
    requested.
    """

    total: Counts
    score_stats: list[ScoreStats]
    buckets: Buckets
    counts: list[Counts]
    featured: list[Chart]
    series: list[Chart]
    is_truncated: bool


def aggregate(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilters,
    *,
    bucket: str,
    featured_keys: Sequence[str],
    series: Sequence[Selector],
) -> Aggregate:
    """Aggregates all results that `wanted` describes, exactly.

    The buckets reach from `ts_from` to `ts_to`. An open bound is replaced by the first or last
    matching result. Without `featured_keys` the most frequent keys are featured. Only the first
    `MAX_SERIES` of `series` are computed.
    """
    as_of = now_us()
    found = overview(clickhouse, source_of(org_id, wanted, as_of=as_of))
    first, stop = _span(wanted, found)
    buckets = choose(bucket, first, stop)
    # Results that arrive between the statements must not lie outside the range of the first one.
    bounded = wanted.replace(ts_from=from_us(first), ts_to=from_us(stop))
    keys = list(dict.fromkeys(featured_keys)) or [row.key for row in found.stats[:MAX_FEATURED]]
    made = series[:MAX_SERIES]
    counts, charts = timeline(
        clickhouse,
        source_of(org_id, bounded, as_of=as_of),
        buckets,
        [*(Selector(EVERY, EVERY, key, "avg") for key in keys), *made],
    )
    return Aggregate(
        total=Counts(*(sum(column) for column in zip(Counts(), *counts, strict=True))),
        score_stats=found.stats,
        buckets=buckets,
        counts=counts,
        featured=charts[: len(keys)],
        series=charts[len(keys) :],
        is_truncated=len(series) > len(made),
    )


def _span(wanted: EvaluationFilters, found: Overview) -> tuple[int, int]:
    """Returns [first, stop) in microseconds; the range is empty if there is nothing to show."""
    first, stop = found.first, None if found.last is None else found.last + 1
    if wanted.ts_from is not None:
        first = max(to_us(wanted.ts_from), _OLDEST)
    if wanted.ts_to is not None:
        stop = min(to_us(wanted.ts_to), _NEWEST)
    return (0, 0) if first is None or stop is None else (first, stop)
