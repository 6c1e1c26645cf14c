"""The whole aggregate: the range of the matching results, their buckets, then everything else."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import now_us, to_us
from shared.reading.evaluations.aggregate.buckets import Buckets, choose
from shared.reading.evaluations.aggregate.chart import Chart, charts_of
from shared.reading.evaluations.aggregate.copies import ranges_to_merge
from shared.reading.evaluations.aggregate.histogram import ResultHistogram, histograms
from shared.reading.evaluations.aggregate.selectors import EVERY, MAX_SERIES, Selector
from shared.reading.evaluations.aggregate.stats import (
    MAX_FEATURED,
    Overview,
    ResultCounts,
    ScoreStats,
    overview,
    spans_of,
)
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.source import Range, source_of

# The range of DateTime64; there is nothing to show outside.
_OLDEST = to_us(datetime(1900, 1, 1, tzinfo=UTC))
_NEWEST = to_us(datetime(2300, 1, 1, tzinfo=UTC))


class _Extent(NamedTuple):
    """The range [first, stop) in microseconds, empty if there is nothing to show.

    Results that were completed in `copies` are merged with theirs; all results if it is None.
    """

    first: int
    stop: int
    copies: list[Range] | None


_NOTHING = _Extent(0, 0, None)


class ResultAggregates(NamedTuple):
    """The aggregates of the matching results.

    `counts` and every chart have an item for each of `buckets`. `featured` are the averages of the
    featured keys, `series` the requested charts in their order; `is_truncated` shows that more were
    requested. `histograms` are those of `score_stats`, None unless requested.
    """

    total: ResultCounts
    score_stats: list[ScoreStats]
    buckets: Buckets
    counts: list[ResultCounts]
    featured: list[Chart]
    series: list[Chart]
    is_truncated: bool
    histograms: list[ResultHistogram] | None


def aggregate(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilters,
    *,
    bucket: str,
    featured_keys: Sequence[str],
    series: Sequence[Selector],
    histogram: int | None = None,
) -> ResultAggregates:
    """Aggregates all results that `wanted` describes, exactly.

    The buckets reach from `ts_from` to `ts_to`. An open bound is replaced by the first or last
    matching result. Without `featured_keys` the most frequent keys are featured. Only the first
    `MAX_SERIES` of `series` are computed. `histogram` is a number of bins.
    """
    as_of = now_us()
    first, stop, copies = _extent(clickhouse, org_id, wanted, as_of)
    buckets = choose(bucket, first, stop)
    # Results that arrived since must not lie outside the range.
    source = partial(source_of, org_id, wanted, as_of=as_of, within=(first, stop))
    keys = list(dict.fromkeys(featured_keys))
    made = series[:MAX_SERIES]
    found = overview(clickhouse, source(copies=copies), buckets, keys)
    if found.is_doubtful:
        found = overview(clickhouse, source(), buckets, keys)
    return ResultAggregates(
        total=ResultCounts(
            *(sum(column) for column in zip(ResultCounts(), *found.counts, strict=True))
        ),
        score_stats=found.stats,
        buckets=buckets,
        counts=found.counts,
        featured=[
            _averages(found, key, buckets)
            for key in keys or [row.key for row in found.stats[:MAX_FEATURED]]
        ],
        series=charts_of(clickhouse, source(), buckets, made),
        is_truncated=len(series) > len(made),
        histograms=None
        if histogram is None
        else histograms(clickhouse, source(), found.stats, histogram),
    )


def buckets_of(
    clickhouse: ClickHouse, org_id: str, wanted: EvaluationFilters, bucket: str
) -> Buckets:
    """Returns the buckets that `aggregate` would fill now."""
    first, stop, _ = _extent(clickhouse, org_id, wanted, now_us())
    return choose(bucket, first, stop)


def _averages(found: Overview, key: str, buckets: Buckets) -> Chart:
    averages = found.averages.get(key, {})
    selector = Selector(EVERY, EVERY, key, "avg")
    return Chart(selector, [averages.get(number) for number in range(buckets.count)])


def _extent(clickhouse: ClickHouse, org_id: str, wanted: EvaluationFilters, as_of: int) -> _Extent:
    """Returns the range of the answer, and where results have to be merged with their copies."""
    first = None if wanted.ts_from is None else max(to_us(wanted.ts_from), _OLDEST)
    stop = None if wanted.ts_to is None else min(to_us(wanted.ts_to), _NEWEST)
    # Servers of a cluster do not agree on their parts, and other times do not tell copies.
    are_merged = clickhouse.layout.cluster is not None or wanted.is_by_session
    if are_merged and first is not None and stop is not None:
        return _Extent(first, stop, None)
    spans = spans_of(clickhouse, source_of(org_id, wanted, as_of=as_of, copies=()))
    copies = None if are_merged else ranges_to_merge(spans)
    if not spans:
        return _Extent(first, stop, None) if first is not None and stop is not None else _NOTHING
    first = min(one[0] for one in spans) if first is None else first
    stop = max(one[1] for one in spans) + 1 if stop is None else stop
    return _Extent(first, stop, copies)
