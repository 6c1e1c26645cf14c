"""Results and scores by bucket of time."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import us
from shared.evaluations.aggregate.buckets import Buckets
from shared.evaluations.aggregate.selectors import EVERY, Selector
from shared.evaluations.aggregate.stats import EACH_SCORE, SCALE, SCALED, SETTINGS
from shared.evaluations.source import Source


class Counts(NamedTuple):
    """How many results there are, and how they ended."""

    total: int = 0
    done: int = 0
    error: int = 0
    timeout: int = 0


class Chart(NamedTuple):
    """A selector's value in each bucket, None where it has no score there."""

    selector: Selector
    values: list[float | None]


_BUCKET = f"toUInt16(intDiv({us('completed_at')} - {{start:Int64}}, {{width:Int64}}))"


def count_by_bucket(clickhouse: ClickHouse, source: Source, buckets: Buckets) -> list[Counts]:
    """The counts of each bucket; all of `source` must lie within `buckets`."""
    by_status = (f"countIf(status = '{name}')" for name in Counts._fields[1:])
    rows = clickhouse.rows(
        f"SELECT {_BUCKET} AS bucket, count(), {', '.join(by_status)}"
        f" FROM {source.sql} GROUP BY bucket",
        {**source.params, "start": buckets.start, "width": buckets.width},
        settings=PAGE,
    )
    counts = [Counts()] * buckets.count
    for bucket, *found in rows:
        counts[bucket] = Counts(*found)
    return counts


def charts(
    clickhouse: ClickHouse, source: Source, buckets: Buckets, selectors: Sequence[Selector]
) -> list[Chart]:
    """A chart for each of `selectors`; all of `source` must lie within `buckets`.

    One conditional aggregate each, in one pass: 56 ms for 24 of them over 200,000 results, where
    rows that are grouped by what they belong to took 260.
    """
    if not selectors:
        return []
    params = {**source.params, "start": buckets.start, "width": buckets.width}
    columns = [_column(number, selector, params) for number, selector in enumerate(selectors)]
    params["keys"] = sorted({selector.key for selector in selectors})
    rows = clickhouse.rows(
        f"SELECT bucket, {', '.join(columns)}"
        f" FROM (SELECT {_BUCKET} AS bucket, agent_id, environment, scores FROM {source.sql})"
        f" {EACH_SCORE} WHERE key IN {{keys:Array(String)}} GROUP BY bucket",
        params,
        settings=SETTINGS,
    )
    found = [Chart(selector, [None] * buckets.count) for selector in selectors]
    for bucket, *values in rows:
        for chart, value in zip(found, values, strict=True):
            chart.values[bucket] = _finite(value)
    return found


def _column(number: int, selector: Selector, params: dict[str, object]) -> str:
    """SQL of a selector's value; its parameters go into `params`."""
    conditions = []
    for column in ("key", "agent_id", "environment"):
        value = getattr(selector, column)
        if column == "key" or value != EVERY:
            conditions.append(f"{column} = {{{column}_{number}:String}}")
            params[f"{column}_{number}"] = value
    return _AGGREGATES[selector.agg].format(condition=" AND ".join(conditions))


def _scaled(function: str, parameter: str = "") -> str:
    return f"{function}OrNullIf{parameter}({SCALED}, {{condition}}) {SCALE}"


# stddevPop adds up squares: of scores around 10^9 that differ by 0.1 it makes 0.
_AGGREGATES = {
    "avg": _scaled("avg"),
    "min": "minOrNullIf(value, {condition})",
    "max": "maxOrNullIf(value, {condition})",
    "stddev": _scaled("stddevPopStable"),
    **{
        f"p{percent}": _scaled("quantileExactInclusive", f"({percent / 100})")
        for percent in (50, 75, 90, 95, 99)
    },
}


def _finite(value: float | None) -> float | None:
    """None too where the squares that a deviation is made of are larger than any double."""
    return value if value is not None and math.isfinite(value) else None
