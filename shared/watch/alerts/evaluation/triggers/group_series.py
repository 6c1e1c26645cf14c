"""The same aggregates over many windows, of each group, in one statement."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.foundation.clickhouse import ClickHouse, OverMemory, Row
from shared.foundation.core.errors import QueryTimeout
from shared.watch.alerts.evaluation.triggers.aggregates import TIME_LIMIT_SECS, Aggregate, scan
from shared.watch.alerts.evaluation.triggers.grouping import (
    HAS_EVENTS,
    Values,
    bound_by,
    by_group,
    merged_of,
)
from shared.watch.alerts.evaluation.triggers.series import SETTINGS, shares_of

# The values of windows by their number; of windows without events there are none.
GroupWindows = dict[int, Values]
MOST_ROWS = 500_000


def read_group_series(
    clickhouse: ClickHouse, org_id: str, by: str, windows: Sequence[Sequence[Aggregate]]
) -> dict[str, GroupWindows]:
    """Returns the values of the aggregates of each group and window.

    All windows need the same aggregates, apart from their time. Raises `Unavailable`, and
    `QueryTimeout` if the statement takes more time or memory than it may.
    """
    last = windows[-1][0].rows.stop
    whole = [one._replace(rows=replace(one.rows, stop=last)) for one in windows[0]]
    part = scan(org_id, whole, "State")
    keys, sizes = shares_of(windows)
    sql = f"""
        SELECT grp, nth, {", ".join(merged_of(whole))} FROM ({by_group(by, part, keys)})
        ARRAY JOIN range(first, past) AS nth
        GROUP BY grp, nth
        HAVING {HAS_EVENTS}
        LIMIT {MOST_ROWS + 1}
    """
    found: dict[str, GroupWindows] = {}
    params = {**part.params, **bound_by(by), **sizes}
    for group, nth, *values in rows_of(clickhouse, sql, params):
        found.setdefault(group, {})[nth] = values
    return found


def rows_of(clickhouse: ClickHouse, sql: str, params: Mapping[str, object]) -> list[Row]:
    """Returns the rows of a replay; raises `QueryTimeout` if they are too many or take too much."""
    try:
        rows = clickhouse.rows(sql, dict(params), settings=SETTINGS)
    except (QueryTimeout, OverMemory) as error:
        limit = f"{TIME_LIMIT_SECS} s" if isinstance(error, QueryTimeout) else "the memory it may"
        raise QueryTimeout(
            f"the groups take more than {limit}: choose a shorter span, or a filter"
        ) from error
    if len(rows) > MOST_ROWS:
        raise QueryTimeout("there are too many groups: choose a shorter span, or a filter")
    return rows
