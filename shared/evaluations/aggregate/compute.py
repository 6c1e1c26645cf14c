"""The whole aggregate: the range of the matching results, their buckets, then everything else."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from shared.clickhouse import ClickHouse
from shared.core.clock import now_us, to_us
from shared.evaluations.aggregate.buckets import Buckets, choose
from shared.evaluations.aggregate.chart import Chart, charts_of
from shared.evaluations.aggregate.histogram import Histogram, histograms
from shared.evaluations.aggregate.selectors import EVERY, MAX_SERIES, Selector
from shared.evaluations.aggregate.stats import (
    MAX_FEATURED,
    Counts,
    Overview,
    ScoreStats,
    overview,
    span_of,
)
from shared.evaluations.filters import EvaluationFilters
from shared.evaluations.source import source_of

# The range of DateTime64; there is nothing to show outside.
_OLDEST = to_us(datetime(1900, 1, 1, tzinfo=UTC))
_NEWEST = to_us(datetime(2300, 1, 1, tzinfo=UTC))


class Aggregate(NamedTuple):
    """The aggregates of the matching results.

    `counts` and every chart have an item for each of `buckets`. `featured` are the averages of the
    featured keys, `series` the requested charts in their order; `is_truncated` shows that more were
    requested. `histograms` are those of `score_stats`, None unless requested.
    """

    total: Counts
    score_stats: list[ScoreStats]
    buckets: Buckets
    counts: list[Counts]
    featured: list[Chart]
    series: list[Chart]
    is_truncated: bool
    histograms: list[Histogram] | None


def aggregate(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilters,
    *,
    bucket: str,
    featured_keys: Sequence[str],
    series: Sequence[Selector],
    histogram: int | None = None,
) -> Aggregate:
    """Aggregates all results that `wanted` describes, exactly.

    The buckets reach from `ts_from` to `ts_to`. An open bound is replaced by the first or last
    matching result. Without `featured_keys` the most frequent keys are featured. Only the first
    `MAX_SERIES` of `series` are computed. `histogram` is a number of bins.
    """
    as_of = now_us()
    first, stop = _span(clickhouse, org_id, wanted, as_of)
    buckets = choose(bucket, first, stop)
    # Results that arrived since must not lie outside the range.
    source = source_of(org_id, wanted, as_of=as_of, within=(first, stop))
    keys = list(dict.fromkeys(featured_keys))
    made = series[:MAX_SERIES]
    found = overview(clickhouse, source, buckets, keys)
    return Aggregate(
        total=Counts(*(sum(column) for column in zip(Counts(), *found.counts, strict=True))),
        score_stats=found.stats,
        buckets=buckets,
        counts=found.counts,
        featured=[
            _averages(found, key, buckets)
            for key in keys or [row.key for row in found.stats[:MAX_FEATURED]]
        ],
        series=charts_of(clickhouse, source, buckets, made),
        is_truncated=len(series) > len(made),
        histograms=None
        if histogram is None
        else histograms(clickhouse, source, found.stats, histogram),
    )


def _averages(found: Overview, key: str, buckets: Buckets) -> Chart:
    averages = found.averages.get(key, {})
    selector = Selector(EVERY, EVERY, key, "avg")
    return Chart(selector, [averages.get(number) for number in range(buckets.count)])


def _span(
    clickhouse: ClickHouse, org_id: str, wanted: EvaluationFilters, as_of: int
) -> tuple[int, int]:
    """Returns [first, stop) in microseconds; the range is empty if there is nothing to show.

    Copies of a result do not change the range, so they need not be merged to find an open end.
    """
    first = None if wanted.ts_from is None else max(to_us(wanted.ts_from), _OLDEST)
    stop = None if wanted.ts_to is None else min(to_us(wanted.ts_to), _NEWEST)
    if first is None or stop is None:
        found = span_of(clickhouse, source_of(org_id, wanted, as_of=as_of, merged=False))
        if found is None:
            return 0, 0
        first = found[0] if first is None else first
        stop = found[1] + 1 if stop is None else stop
    return first, stop
