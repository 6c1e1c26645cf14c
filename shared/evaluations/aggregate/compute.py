"""The aggregate as a whole: what matches, in which buckets, added up in a few statements."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import us
from shared.clock import from_us, now_us, to_us
from shared.evaluations.aggregate.buckets import Buckets, choose
from shared.evaluations.aggregate.chart import Chart, Counts, charts, count_by_bucket
from shared.evaluations.aggregate.selectors import EVERY, MAX_SERIES, Selector
from shared.evaluations.aggregate.stats import ScoreStats, score_stats
from shared.evaluations.filters import EvaluationFilter
from shared.evaluations.source import Source, source_of

MAX_FEATURED = 6

# What a DateTime64 can hold: there is nothing to show before and after.
_OLDEST = to_us(datetime(1900, 1, 1, tzinfo=UTC))
_NEWEST = to_us(datetime(2300, 1, 1, tzinfo=UTC))


class Aggregate(NamedTuple):
    """What the matching results add up to.

    `counts` has an item for each of `buckets`, and so has every chart. `featured` are the averages
    of the featured keys, `series` what was asked for, in that order; `is_truncated` tells that
    more was.
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
    wanted: EvaluationFilter,
    *,
    bucket: str,
    featured_keys: Sequence[str],
    series: Sequence[Selector],
) -> Aggregate:
    """Adds up all results that `wanted` describes, exactly.

    The buckets reach from `ts_from` to `ts_to`, and where one is open from the first or to the last
    result that matches. Without `featured_keys` the most frequent keys are featured. Of `series`
    the first `MAX_SERIES` are made.
    """
    as_of = now_us()
    first, stop = _span(clickhouse, source_of(org_id, wanted, as_of=as_of), wanted)
    buckets = choose(bucket, first, stop)
    # Results that arrive between the statements must not lie outside of what the first has seen.
    bounded = msgspec.structs.replace(wanted, ts_from=from_us(first), ts_to=from_us(stop))
    source = source_of(org_id, bounded, as_of=as_of)
    stats = score_stats(clickhouse, source)
    keys = list(dict.fromkeys(featured_keys)) or [row.key for row in stats[:MAX_FEATURED]]
    counts = count_by_bucket(clickhouse, source, buckets)
    made = series[:MAX_SERIES]
    selectors = [*(Selector(EVERY, EVERY, key, "avg") for key in keys), *made]
    drawn = charts(clickhouse, source, buckets, selectors)
    return Aggregate(
        total=Counts(*(sum(column) for column in zip(Counts(), *counts, strict=True))),
        score_stats=stats,
        buckets=buckets,
        counts=counts,
        featured=drawn[: len(keys)],
        series=drawn[len(keys) :],
        is_truncated=len(series) > len(made),
    )


def _span(clickhouse: ClickHouse, source: Source, wanted: EvaluationFilter) -> tuple[int, int]:
    """[first, stop) in microseconds; first is not before stop where there is nothing to show."""
    first = None if wanted.ts_from is None else max(to_us(wanted.ts_from), _OLDEST)
    stop = None if wanted.ts_to is None else min(to_us(wanted.ts_to), _NEWEST)
    if first is not None and stop is not None:
        return first, stop
    completed = us("completed_at")
    [(count, oldest, newest)] = clickhouse.rows(
        f"SELECT count(), min({completed}), max({completed}) FROM {source.sql}",
        source.params,
        settings=PAGE,
    )
    if not count:
        return 0, 0
    return oldest if first is None else first, newest + 1 if stop is None else stop
