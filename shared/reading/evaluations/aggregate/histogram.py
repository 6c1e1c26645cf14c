"""The distribution of the scores under each key."""

from collections.abc import Sequence

import msgspec

from shared.foundation.clickhouse import ClickHouse
from shared.reading.evaluations.aggregate.stats import EACH_SCORE, SCALED, SETTINGS, ScoreStats
from shared.reading.evaluations.source import ResultSource


class ResultHistogram(msgspec.Struct, frozen=True):
    """The scores under one key in equal bins from `min` to `max`; both are in some bin."""

    key: str
    min: float
    max: float
    counts: list[int]


# Bins include their lower edge, and the last one its upper edge too. So scores that are all equal
# are in the last one. Scores that arrived since the statistics were read may lie outside.
_COUNTS = f"""
SELECT number, count(), if(high > low,
    greatest(0, least(bins - 1, floor((score - low) / (high - low) * bins))), bins - 1) AS bin
FROM (
    SELECT transform(key, {{{{keys:Array(String)}}}}, {{{{numbers:Array(UInt16)}}}}, 0) AS number,
        {SCALED} AS score, {{{{lows:Array(Float64)}}}}[number] AS low,
        {{{{highs:Array(Float64)}}}}[number] AS high, {{{{bins:UInt8}}}} AS bins
    FROM (SELECT scores FROM {{source}}) {EACH_SCORE}
)
WHERE number > 0
GROUP BY number, bin
"""
_SCALE = 2.0**-32


def histograms(
    clickhouse: ClickHouse, source: ResultSource, stats: Sequence[ScoreStats], bins: int | None
) -> list[ResultHistogram] | None:
    """Returns the distributions of the keys of `stats`, in their order; None without `bins`."""
    if bins is None or not stats:
        return None if bins is None else []
    params = {
        **source.params,
        "keys": [row.key for row in stats],
        "numbers": list(range(1, len(stats) + 1)),
        "lows": [row.min * _SCALE for row in stats],
        "highs": [row.max * _SCALE for row in stats],
        "bins": bins,
    }
    counts = [[0] * bins for _ in stats]
    for number, count, place in clickhouse.rows(
        _COUNTS.format(source=source.sql), params, settings=SETTINGS
    ):
        counts[number - 1][int(place)] = count
    return [
        ResultHistogram(row.key, row.min, row.max, found)
        for row, found in zip(stats, counts, strict=True)
    ]
