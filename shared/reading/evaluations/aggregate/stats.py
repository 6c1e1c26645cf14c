"""Counts, statistics of the scores under each key, and averages over time, in one statement."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import us
from shared.reading.evaluations.aggregate.buckets import Buckets
from shared.reading.evaluations.aggregate.copies import overlaps
from shared.reading.evaluations.source import Range, ResultSource

# Evaluators choose the keys. More keys than this are unreadable and are not shown.
MAX_KEYS = 500
MAX_FEATURED = 6

# Each score of a result becomes a row. Subcolumns are read as they are stored: functions of the map
# copied them first, and that and rows for results without scores took 39 ms of processor time
# instead of 22 (200,000 results with 5 scores each).
EACH_SCORE = "ARRAY JOIN scores.keys AS key, scores.values AS value"

# Scores are arbitrary doubles. The sum of large ones, or the distance of two, could be infinite.
# Scaling each by 2^-32, which is exact, avoids that.
SCALED, SCALE = "value / 4294967296", "* 4294967296"
SETTINGS = {
    **PAGE,
    # To save time, ClickHouse would divide the sum instead.
    "optimize_arithmetic_operations_in_aggregate_functions": 0,
    # All parts of a statement read the same rows.
    "enable_shared_storage_snapshot_in_query": 1,
}


# The bucket of a result.
BUCKET = f"toUInt16(intDiv({us('at')} - {{start:Int64}}, {{width:Int64}}))"


class ResultCounts(NamedTuple):
    """The numbers of results, in total and by status."""

    total: int = 0
    done: int = 0
    error: int = 0
    timeout: int = 0


class ScoreStats(msgspec.Struct, frozen=True):
    """The scores under one key; `p50` is interpolated (quantileExactInclusive)."""

    key: str
    count: int
    avg: float
    min: float
    max: float
    p50: float


class Overview(NamedTuple):
    """The counts of each bucket, the statistics of keys, and averages over time.

    `stats` has at most `MAX_KEYS` keys, the most frequent first, then by name. `averages` has the
    averages of the featured keys, by key and number of the bucket. With `is_doubtful` a copy of a
    result may have been counted.
    """

    counts: list[ResultCounts]
    stats: list[ScoreStats]
    averages: dict[str, dict[int, float]]
    is_doubtful: bool


# First groups of a key and a bucket, from which the rest is merged: each score is read once. A hash
# of both is one number, which is grouped faster than a text and a number (25 ms to 32). Only
# featured keys need their buckets. The order of keys is that of `stats`.
_SCORES = f"""
SELECT rank, key, uses, total / uses {SCALE} AS average, low, high, middle {SCALE} AS median,
    is_featured, if(is_featured, places, []) AS buckets, if(is_featured, means, []) AS averages,
    0 AS bucket, [] AS counts, 0 AS part, 0 AS first, 0 AS last
FROM (
SELECT *, row_number() OVER (ORDER BY uses DESC, key) AS rank,
    if({{has_featured}}, has({{{{featured:Array(String)}}}}, key), rank <= {MAX_FEATURED})
        AS is_featured
FROM (
SELECT key, sum(number) AS uses, sum(total) AS total, min(low) AS low, max(high) AS high,
    quantileExactInclusiveMerge(0.5)(middle) AS middle,
    groupArray(place) AS places, groupArray(mean) AS means
FROM (
SELECT toString(any(name)) AS key, any(bucket) AS place, count() AS number,
    sum({SCALED}) AS total, total / number {SCALE} AS mean, min(value) AS low, max(value) AS high,
    quantileExactInclusiveState(0.5)({SCALED}) AS middle
FROM (SELECT {{bucket}} AS bucket, scores FROM {{source}})
ARRAY JOIN scores.keys AS name, scores.values AS value
GROUP BY bitXor(cityHash64(name), intHash64(bucket))
)
GROUP BY key
))
WHERE rank <= {MAX_KEYS} OR is_featured
"""

_STATUSES = ResultCounts._fields[1:]
_COUNTED = ", ".join(f"countIf(status = '{name}')" for name in _STATUSES)

# The columns of `_SCORES` before those of `_COUNTS`. Results without scores count too.
_OF_KEYS = 10
_COUNTS = f"""
SELECT 0, '', 0, 0, 0, 0, 0, false, [], [], {{bucket}} AS number, [{_COUNTED}], part,
    {us("min(at)")}, {us("max(at)")}
FROM {{source}}
GROUP BY number, part
"""


def spans_of(clickhouse: ClickHouse, source: ResultSource) -> list[Range]:
    """Returns the times of the first and the last result of each part that has some."""
    rows = clickhouse.rows(
        f"SELECT {us('min(at)')}, {us('max(at)')} FROM {source.sql} GROUP BY part",
        source.params,
        settings=SETTINGS,
    )
    return [(first, last) for first, last in rows]


def overview(
    clickhouse: ClickHouse, source: ResultSource, buckets: Buckets, featured: Sequence[str]
) -> Overview:
    """Computes everything for `source`, all of which must lie within `buckets`.

    Without `featured` keys the most frequent ones are featured.
    """
    times = {"start": buckets.start, "width": buckets.width}
    sql = f"{_SCORES} UNION ALL {_COUNTS}"
    rows = clickhouse.rows(
        sql.format(source=source.sql, bucket=BUCKET, has_featured=int(bool(featured))),
        {**source.params, **times, "featured": list(featured)},
        settings=SETTINGS,
    )
    counts, spans = _counted([row[_OF_KEYS:] for row in rows if not row[0]], buckets.count)
    stats: list[ScoreStats] = []
    averages: dict[str, dict[int, float]] = {}
    for rank, key, *figures, is_featured, places, means in sorted(
        row[:_OF_KEYS] for row in rows if row[0]
    ):
        if rank <= MAX_KEYS:
            stats.append(ScoreStats(key, *figures))
        if is_featured:
            averages[key] = dict(zip(places, means, strict=True))
    return Overview(counts, stats, averages, is_doubtful=bool(overlaps(spans)))


def _counted(rows: Iterable[Row], count: int) -> tuple[list[ResultCounts], list[Range]]:
    """Returns the counts of each bucket, and the times of each part whose copies were not removed.

    That parts overlap is seen here again: one may have been stored since `spans_of`.
    """
    counts = [ResultCounts()] * count
    spans: dict[int, Range] = {}
    for bucket, numbers, part, first, last in rows:
        new = ResultCounts(sum(numbers), *numbers)
        counts[bucket] = ResultCounts(
            *(one + two for one, two in zip(counts[bucket], new, strict=True))
        )
        if part >= 0:
            earliest, latest = spans.get(part, (first, last))
            spans[part] = min(first, earliest), max(last, latest)
    return counts, list(spans.values())
