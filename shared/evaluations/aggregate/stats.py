"""Each score key with what its scores add up to."""

from typing import NamedTuple

import msgspec

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import us
from shared.evaluations.source import Source

# Evaluators name keys as they like; what nobody could read is not shown.
MAX_KEYS = 500

# The scores of a result as rows of their own, `place` counting from 1; without any it is one row of
# place 0. Measured against the -Map combinators on 200,000 results with 5 scores each, medians
# included: 50 ms to 160.
EACH_SCORE = """LEFT ARRAY JOIN
    mapKeys(scores) AS key, mapValues(scores) AS value, arrayEnumerate(mapKeys(scores)) AS place
"""

# Scores are any doubles. A sum of large ones, or the distance of two, would be infinite; taken from
# 2^-32 of each, which is exact, they are not.
SCALED, SCALE = "value / 4294967296", "* 4294967296"
# ClickHouse would divide the sum instead, to save time.
SETTINGS = {**PAGE, "optimize_arithmetic_operations_in_aggregate_functions": 0}


class ScoreStats(msgspec.Struct, frozen=True):
    """The scores under one key; `p50` is interpolated (quantileExactInclusive)."""

    key: str
    count: int
    avg: float
    min: float
    max: float
    p50: float


class Overview(NamedTuple):
    """What there are scores of, and when the first and the last result was completed.

    Microseconds; None where there is no result. `stats` holds the most frequent keys first, those
    of one frequency by name, at most `MAX_KEYS`.
    """

    first: int | None
    last: int | None
    stats: list[ScoreStats]


# Results without scores are a group of their own, for the sake of their moments.
_STATS = f"""
SELECT
    min(min({us("completed_at")})) OVER (),
    max(max({us("completed_at")})) OVER (),
    place = 0 AS is_bare,
    key,
    count(),
    avg({SCALED}) {SCALE},
    min(value),
    max(value),
    quantileExactInclusive(0.5)({SCALED}) {SCALE}
FROM {{source}} {EACH_SCORE}
GROUP BY is_bare, key
ORDER BY is_bare, count() DESC, key
LIMIT {MAX_KEYS}
"""


def overview(clickhouse: ClickHouse, source: Source) -> Overview:
    """Adds up the scores of `source` by key."""
    rows = clickhouse.rows(_STATS.format(source=source.sql), source.params, settings=SETTINGS)
    if not rows:
        return Overview(None, None, [])
    first, last = rows[0][:2]
    return Overview(first, last, [ScoreStats(*row[3:]) for row in rows if not row[2]])
