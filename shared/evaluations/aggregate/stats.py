"""Counts, statistics of the scores under each key, and averages over time, in one pass."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import us
from shared.evaluations.aggregate.buckets import Buckets
from shared.evaluations.source import Source

# Evaluators choose the keys. More keys than this are unreadable and are not shown.
MAX_KEYS = 500
MAX_FEATURED = 6

# Each score of a result becomes a row, with `place` counting from 1; a result without scores is one
# row of place 0. Measured against the -Map combinators on 200,000 results with 5 scores each,
# medians included: 50 ms to 160.
EACH_SCORE = """LEFT ARRAY JOIN
    mapKeys(scores) AS key, mapValues(scores) AS value, arrayEnumerate(mapKeys(scores)) AS place
"""

# Scores are arbitrary doubles. The sum of large ones, or the distance of two, could be infinite.
# Scaling each by 2^-32, which is exact, avoids that.
SCALED, SCALE = "value / 4294967296", "* 4294967296"
# To save time, ClickHouse would divide the sum instead.
SETTINGS = {**PAGE, "optimize_arithmetic_operations_in_aggregate_functions": 0}


# The bucket of a result.
BUCKET = f"toUInt16(intDiv({us('at')} - {{start:Int64}}, {{width:Int64}}))"


class Counts(NamedTuple):
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
    averages of the featured keys, by key and number of the bucket.
    """

    counts: list[Counts]
    stats: list[ScoreStats]
    averages: dict[str, dict[int, float]]


_STATUSES = Counts._fields[1:]
# Comparing each status is cheaper than searching it in an array: the column has a dictionary.
_CODE = " + ".join(f"(status = '{name}') * {n}" for n, name in enumerate(_STATUSES, 1))
# A result is counted at its first score, or at its row without scores.
_COUNTED = ", ".join(f"countIf(if(place <= 1, code, 0) = {n}) AS count_{n}" for n in (1, 2, 3))

# First groups of a key and a bucket, from which the rest is merged: each score is read once. Then a
# row for each key and for each bucket. Results without scores are a key of their own, because they
# are counted. Only featured keys need their buckets. The order of keys is that of `stats`.
_OVERVIEW = f"""
SELECT is_bucket, bucket, counts,
    row_number() OVER (PARTITION BY is_bucket, is_bare ORDER BY uses DESC, key) AS rank,
    key, uses, total / uses {SCALE}, low, high, middle {SCALE},
    NOT is_bucket AND if({{has_featured}}, has({{{{featured:Array(String)}}}}, key),
        rank <= {MAX_FEATURED}) AS is_featured,
    if(is_featured, places, []), if(is_featured, means, [])
FROM (
SELECT grouping(key) AS is_bucket, is_bare, key, bucket,
    [sum(count_1), sum(count_2), sum(count_3)] AS counts, sum(number) AS uses,
    sum(total) AS total, min(low) AS low, max(high) AS high,
    quantileExactInclusiveMerge(0.5)(middle) AS middle,
    groupArray(bucket) AS places, groupArray(mean) AS means
FROM (
SELECT place = 0 AS is_bare, key, bucket, {_COUNTED},
    count() AS number, sum({SCALED}) AS total, total / number {SCALE} AS mean,
    min(value) AS low, max(value) AS high, quantileExactInclusiveState(0.5)({SCALED}) AS middle
FROM (
SELECT {{bucket}} AS bucket, {_CODE} AS code, scores FROM {{source}}
) {EACH_SCORE}
GROUP BY is_bare, key, bucket
)
GROUP BY GROUPING SETS ((is_bare, key), (bucket))
)
QUALIFY is_bucket OR NOT is_bare AND (rank <= {MAX_KEYS} OR is_featured)
ORDER BY rank
"""


def span_of(clickhouse: ClickHouse, source: Source) -> tuple[int, int] | None:
    """Returns the times of the first and the last result in microseconds, None without any."""
    [(count, first, last)] = clickhouse.rows(
        f"SELECT count(), {us('min(at)')}, {us('max(at)')} FROM {source.sql}",
        source.params,
        settings=SETTINGS,
    )
    return (first, last) if count else None


def overview(
    clickhouse: ClickHouse, source: Source, buckets: Buckets, featured: Sequence[str]
) -> Overview:
    """Computes everything for `source`, all of which must lie within `buckets`.

    Without `featured` keys the most frequent ones are featured.
    """
    times = {"start": buckets.start, "width": buckets.width}
    rows = clickhouse.rows(
        _OVERVIEW.format(source=source.sql, bucket=BUCKET, has_featured=int(bool(featured))),
        {**source.params, **times, "featured": list(featured)},
        settings=SETTINGS,
    )
    counts = [Counts()] * buckets.count
    stats: list[ScoreStats] = []
    averages: dict[str, dict[int, float]] = {}
    for is_bucket, bucket, numbers, rank, key, *figures, is_featured, places, means in rows:
        if is_bucket:
            counts[bucket] = Counts(sum(numbers), *numbers)
            continue
        if rank <= MAX_KEYS:
            stats.append(ScoreStats(key, *figures))
        if is_featured:
            averages[key] = dict(zip(places, means, strict=True))
    return Overview(counts, stats, averages)
