"""The same aggregates over many windows, read in one statement.

The windows are equally long and equally far apart, so a row lies in consecutive ones. Rows in the
same windows are aggregated first, and each window then merges what it contains: every row is read
once, however many windows share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shared.foundation.clickhouse import ClickHouse, OverMemory
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import us
from shared.foundation.core.errors import QueryTimeout
from shared.watch.alerts.evaluation.triggers.aggregates import (
    SCALED,
    TIME_LIMIT_SECS,
    Aggregate,
    scan,
)

# A person waits for the result, so it may use as many threads as a page.
SETTINGS = {**PAGE, **SCALED, "max_execution_time": TIME_LIMIT_SECS}


def read_series(
    clickhouse: ClickHouse, org_id: str, windows: Sequence[Sequence[Aggregate]]
) -> list[list[Any]]:
    """Returns the values of the aggregates of each window, oldest window first.

    All windows need the same aggregates, apart from their time. Raises `Unavailable`, and
    `QueryTimeout` if the statement takes more time or memory than it may.
    """
    oldest, newest = windows[0], windows[-1]
    whole = [
        first._replace(rows=replace(first.rows, stop=last.rows.stop))
        for first, last in zip(oldest, newest, strict=True)
    ]
    wanted = list(dict.fromkeys(whole))
    sql, params = _statement(org_id, wanted, windows)
    try:
        rows = clickhouse.rows(sql, params, settings=SETTINGS)
    except (QueryTimeout, OverMemory) as error:
        limit = f"{TIME_LIMIT_SECS} s" if isinstance(error, QueryTimeout) else "the memory it may"
        raise QueryTimeout(
            f"the windows take more than {limit}: choose a shorter span, or shorter windows"
        ) from error
    places = [wanted.index(aggregate) for aggregate in whole]
    return [[values[place] for place in places] for _nth, *values in rows]


def _statement(
    org_id: str, wanted: Sequence[Aggregate], windows: Sequence[Sequence[Aggregate]]
) -> tuple[str, dict[str, object]]:
    """Returns one SELECT with a row per window: its number from 0 on, and the aggregates."""
    part = scan(org_id, wanted, "State")
    keys, sizes = shares_of(windows)
    states = [f"{sql} AS a{place}" for place, sql in enumerate(part.columns)]
    merged = [f"{aggregate.combined('Merge')}(a{place})" for place, aggregate in enumerate(wanted)]
    # Without rows in it, a window gets the defaults, which are the aggregates of no rows.
    sql = f"""
        SELECT nth, {", ".join(merged)} FROM (
            {part.prelude}SELECT
                {keys["first"]} AS first,
                {keys["past"]} AS past,
                {", ".join(states)}
            {part.source}
            GROUP BY first, past
        )
        ARRAY JOIN range(first, past) AS nth
        GROUP BY nth
        ORDER BY nth WITH FILL FROM 0 TO {len(windows)}
    """
    return sql, {**part.params, **sizes}


def shares_of(
    windows: Sequence[Sequence[Aggregate]],
) -> tuple[Mapping[str, str], Mapping[str, object]]:
    """Returns SQL of the numbers of a row's first window and of the one past its last.

    They are called `first` and `past`. The second value has the parameters.
    """
    first = windows[0][0].rows
    step = windows[1][0].rows.stop - first.stop if len(windows) > 1 else 1
    age = f"({us(first.table.moment)} - {{start:Int64}})"
    sql = {
        "first": (
            f"if({age} < {{width:Int64}}, 0, intDiv({age} - {{width:Int64}}, {{step:Int64}}) + 1)"
        ),
        "past": f"least({{windows:Int64}}, intDiv({age}, {{step:Int64}}) + 1)",
    }
    sizes = {"width": first.stop - first.start, "step": step, "windows": len(windows)}
    return sql, sizes
