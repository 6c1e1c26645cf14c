"""The pairs themselves, such as calls of tools, the longest first."""

from typing import Any, NamedTuple

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.core.clock import format_us
from shared.reading.events.latency.aggregate import of_pairs
from shared.reading.events.latency.query import LatencyQuery
from shared.reading.events.latency.settings import LATENCY

# Whether pairs are odd is known only from all of them, so then one row says it.
_CALLS = """
SELECT started, start_id, latency, failed, name, has_odd, countIf(matches) OVER () AS total
FROM (
    SELECT started, start_id, latency, failed, name, max(is_odd) OVER () AS has_odd,
        counts {bounds} AS matches
    FROM ({pairs})
)
WHERE matches OR has_odd
ORDER BY latency DESC, started, start_id
LIMIT {limit}
"""
_HAS_ODD, _TOTAL = 5, 6

_SESSIONS = f"""
SELECT id, {us("ts")}, any(session_id) FROM {TABLE} WHERE {{where}} GROUP BY id, ts
"""


class Band(NamedTuple):
    """The latencies to list, in milliseconds: from the first one on, below the second one."""

    lowest: float | None = None
    below: float | None = None


def latency_calls(
    clickhouse: ClickHouse, org_id: str, query: LatencyQuery, band: Band, *, limit: int
) -> dict[str, Any]:
    """Returns the longest `limit` pairs of the aggregate within `band`, and the number of all.

    A pair is named by its starting event. Raises `QueryTimeout` after 20 s.
    """

    def ask(where: Where, pairs: str) -> list[Row]:
        bounds = ""
        if band.lowest is not None:
            bounds += " AND latency >= {lowest:Float64}"
        if band.below is not None:
            bounds += " AND latency < {below:Float64}"
        where.params.update(lowest=band.lowest or 0.0, below=band.below or 0.0)
        sql = _CALLS.format(pairs=pairs, bounds=bounds, limit=limit)
        return clickhouse.rows(sql, where.params, settings=LATENCY)

    rows = of_pairs(clickhouse, org_id, query, ask, lambda row: bool(row[_HAS_ODD]))
    sessions = _sessions(clickhouse, org_id, query, [row[1] for row in rows])
    return {
        "total": rows[0][_TOTAL] if rows else 0,
        "calls": [
            {
                "ts": format_us(started),
                "session_id": sessions[event_id, started],
                "event_id": event_id,
                "key": name,
                "latency_ms": latency,
                "is_error": bool(failed),
            }
            for started, event_id, latency, failed, name, *_ in rows
            if (event_id, started) in sessions
        ],
    }


def _sessions(
    clickhouse: ClickHouse, org_id: str, query: LatencyQuery, ids: list[int]
) -> dict[tuple[int, int], str]:
    """Returns the session of each start, by its id and time; those deleted since are missing."""
    if not ids:
        return {}
    where = Where(org_id).within("ts", query.start, query.stop)
    where.add("event_type = {kind:String} AND id IN {ids:Array(UInt64)}", kind=query.start_type)
    where.params["ids"] = ids
    rows = clickhouse.rows(_SESSIONS.format(where=where), where.params, settings=LATENCY)
    return {(event_id, at): session_id for event_id, at, session_id in rows}
