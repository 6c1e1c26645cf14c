"""Scores by bucket of time."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.reading.evaluations.aggregate.buckets import Buckets
from shared.reading.evaluations.aggregate.selectors import EVERY, Selector
from shared.reading.evaluations.aggregate.stats import BUCKET, EACH_SCORE, SCALE, SCALED, SETTINGS
from shared.reading.evaluations.source import ResultSource


class Chart(NamedTuple):
    """A selector's value in each bucket, None if there is no score."""

    selector: Selector
    values: list[float | None]


def charts_of(
    clickhouse: ClickHouse, source: ResultSource, buckets: Buckets, selectors: Sequence[Selector]
) -> list[Chart]:
    """Returns a chart per selector, with a value for each bucket.

    All of `source` must lie within `buckets`.

    Each is one conditional aggregate, in a single pass: 56 ms for 24 of them over 200,000 results,
    while grouping rows by selector took 260 ms.
    """
    if not selectors:
        return []
    params = {**source.params, "start": buckets.start, "width": buckets.width}
    columns = [_column(number, selector, params) for number, selector in enumerate(selectors)]
    params["keys"] = sorted({selector.key for selector in selectors})
    rows = clickhouse.rows(
        f"SELECT bucket, {', '.join(columns)}"
        f" FROM (SELECT {BUCKET} AS bucket, agent_id, environment, scores"
        f" FROM {source.sql}) {EACH_SCORE}"
        " WHERE key IN {keys:Array(String)} GROUP BY bucket",
        params,
        settings=SETTINGS,
    )
    charts = [Chart(selector, [None] * buckets.count) for selector in selectors]
    for bucket, *values in rows:
        for chart, value in zip(charts, values, strict=True):
            chart.values[bucket] = _finite(value)
    return charts


def _column(number: int, selector: Selector, params: dict[str, object]) -> str:
    """Returns the SQL of a selector's value; adds its parameters to `params`."""
    conditions = []
    for column in ("key", "agent_id", "environment"):
        value = getattr(selector, column)
        if column == "key" or value != EVERY:
            conditions.append(f"{column} = {{{column}_{number}:String}}")
            params[f"{column}_{number}"] = value
    return _AGGREGATES[selector.agg].format(condition=" AND ".join(conditions))


def _scaled(function: str, parameter: str = "") -> str:
    return f"{function}OrNullIf{parameter}({SCALED}, {{condition}}) {SCALE}"


# stddevPop adds up squares: for scores around 10^9 that differ by 0.1 it returns 0.
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
    """Returns None also if the squares of a deviation are larger than any double."""
    return value if value is not None and math.isfinite(value) else None
