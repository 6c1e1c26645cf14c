"""Counts of failed events over a range of time."""

from typing import Any

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.core.clock import format_us, now_us, to_us
from shared.reading.dimensions.conditions import FIRSTS
from shared.reading.events import messages
from shared.reading.events.filters import EventFilters

BINS = 24
_DAY_MS = 24 * 3600 * 1000

# One statement, so that the bins add up to the total while events arrive.
_SUMMARY = f"""
SELECT total, sessions, agents, last_us, from_ms, to_ms,
    arrayMap(n -> arrayCount(ms -> intDiv((ms - from_ms) * {BINS}, to_ms - from_ms) = n, moments),
        range({BINS}))
FROM (
    SELECT count() AS total, uniqExact(session_id) AS sessions, uniqExact(agent_id) AS agents,
        max({us("ts")}) AS last_us, groupArray(intDiv({us("ts")}, 1000)) AS moments,
        {{from_ms}} AS from_ms, {{to_ms}} AS to_ms
    FROM {TABLE} FINAL
    WHERE {{where}}
)
WHERE total > 0
"""


# Groups of these; agents are never null. `message` is the template of the message, and the user and
# the version are the effective ones.
MESSAGE = "message"
GROUPS = ("error_type", "tool_name", "agent_id", "user_id", "agent_version", "model", MESSAGE)
LARGEST_GROUPS = 50
_GROUPS = f"""
SELECT CAST({{column}}, 'Nullable(String)') AS key, count() AS total, uniqExact(session_id),
    {us("max(ts)")}
FROM {TABLE} FINAL
WHERE {{where}}
GROUP BY key
ORDER BY total DESC, key NULLS LAST
LIMIT {LARGEST_GROUPS}
"""


_EFFECTIVE = f"""
SELECT coalesce(CAST(own, 'Nullable(String)'), of_session) AS key, count() AS total,
    uniqExact(session_id), {us("max(ts)")}
FROM (SELECT session_id, ts, {{column}} AS own FROM {TABLE} FINAL WHERE {{where}}) AS e
LEFT JOIN (
    SELECT session_id, nullIf({{first}}, '') AS of_session FROM agent_sessions
    WHERE org_id = {{{{org_id:String}}}}
        AND session_id IN (SELECT session_id FROM {TABLE} WHERE {{where}} AND isNull({{column}}))
    GROUP BY session_id
) AS s USING (session_id)
GROUP BY key
ORDER BY total DESC, key NULLS LAST
LIMIT {LARGEST_GROUPS}
"""


def _by_message(where: Where) -> str:
    """Returns SQL of groups by message, or by outcome without one.

    What has neither, and the smaller groups, are one group.
    """
    return f"""
    SELECT if(rank <= {LARGEST_GROUPS}, key, NULL) AS shown, sum(times) AS total,
        uniqExactMerge(sessions), max(last)
    FROM (
        SELECT coalesce(nullIf(template, ''), nullIf(ended, '')) AS key, count() AS times,
            uniqExactState(session_id) AS sessions, {us("max(ts)")} AS last,
            row_number() OVER (ORDER BY isNull(key), times DESC, key) AS rank
        FROM (
            SELECT session_id, ts, CAST(outcome, 'Nullable(String)') AS ended,
                {messages.TEXT} AS text, {messages.TEMPLATE} AS template
            FROM {TABLE} FINAL
            WHERE {where}
        )
        GROUP BY key
    )
    GROUP BY shown
    ORDER BY isNull(shown), total DESC, shown
    """


def error_groups(
    clickhouse: ClickHouse, org_id: str, filters: EventFilters, column: str
) -> list[dict[str, Any]]:
    """Returns the largest groups of failed events that match: `{key, total, sessions, last_ts}`.

    `column` is one of `GROUPS`. The key is null for events that lack it, and by message for all
    that are in no other group.
    """
    if column not in GROUPS:
        raise ValueError(f"{column} is none of {GROUPS}")
    where = _failed(org_id, filters)
    if column == MESSAGE:
        sql = _by_message(where)
    elif column in FIRSTS:
        sql = _EFFECTIVE.format(column=column, where=where, first=FIRSTS[column])
    else:
        sql = _GROUPS.format(column=column, where=where)
    rows = clickhouse.rows(sql, where.params, settings=PAGE)
    return [
        {"key": key, "total": total, "sessions": sessions, "last_ts": format_us(last_us)}
        for key, total, sessions, last_us in rows
    ]


def _failed(org_id: str, filters: EventFilters) -> Where:
    return filters.where(org_id).between("ts", filters.ts_from, filters.ts_to).add("is_error")


def error_summary(clickhouse: ClickHouse, org_id: str, filters: EventFilters) -> dict[str, Any]:
    """Returns the failed events that match: `{total, sessions, agents, last_ts, bins, bounds}`.

    `bins` counts them in 24 equal parts of [from_ms, to_ms), in milliseconds since the epoch. A
    bound is the filter's, rounded outwards. Without one it is the events': the millisecond of the
    first event, and the one after the last event. If nothing matches, a missing bound is 24 hours
    from the other one, and `to_ms` is now if both are missing. Raises `QueryTimeout` after 20 s.
    """
    from_ms = None if filters.ts_from is None else to_us(filters.ts_from) // 1000
    to_ms = None if filters.ts_to is None else -(-to_us(filters.ts_to) // 1000)
    where = _failed(org_id, filters)
    where.params.update(first=from_ms or 0, stop=to_ms or 0)
    sql = _SUMMARY.format(
        where=where,
        from_ms="arrayMin(moments)" if from_ms is None else "{first:Int64}",
        to_ms="arrayMax(moments) + 1" if to_ms is None else "{stop:Int64}",
    )
    rows = clickhouse.rows(sql, where.params, settings=PAGE)
    none = (0, 0, 0, None, *_empty_bounds(from_ms, to_ms), [0] * BINS)
    total, sessions, agents, last_us, from_ms, to_ms, bins = rows[0] if rows else none
    return {
        "total": total,
        "sessions": sessions,
        "agents": agents,
        "last_ts": None if last_us is None else format_us(last_us),
        "bins": bins,
        "bounds": {"from_ms": from_ms, "to_ms": to_ms},
    }


def _empty_bounds(from_ms: int | None, to_ms: int | None) -> tuple[int, int]:
    if to_ms is None:
        to_ms = now_us() // 1000 if from_ms is None else from_ms + _DAY_MS
    return (to_ms - _DAY_MS if from_ms is None else from_ms), to_ms
