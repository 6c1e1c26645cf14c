"""People's SQL that lists the sessions of a read: for "Open in SQL", with literals."""

from shared.foundation.clickhouse import literals
from shared.reading.evaluations.latest import NEWEST_RESULTS
from shared.reading.sessions.selection import SessionFilters
from shared.reading.sessions.sorting import LAST_EVENT, check_sort, score_key_of

MOST_ROWS = 1000

_COLUMNS = """session_id, agent_id, environment, started_at, last_event_at, ended_at,
  event_count, error_count, input_tokens, output_tokens, input_tokens + output_tokens AS tokens,
  cost_usd"""
_DURATION = "dateDiff('microsecond', started_at, last_event_at)"


def listed(
    *, filters: SessionFilters, sort: str = LAST_EVENT, order: str = "desc", **_: object
) -> str:
    """Returns the statement that lists the same sessions in the same order.

    Raises `Invalid` naming `sort` for one that is none.
    """
    check_sort(sort)
    direction = order.upper()
    key = score_key_of(sort)
    join = f" LEFT JOIN ({NEWEST_RESULTS}) AS results USING (session_id)" if key else ""
    ties = f"session_id {direction}" if sort == LAST_EVENT else "last_event_at DESC, session_id"
    nulls = " NULLS LAST" if key or sort == "cost_usd" else ""
    return (
        f"SELECT {_COLUMNS}\nFROM agent_sessions{join}{literals.clause(filters.sql())}\n"
        f"ORDER BY {_value(sort, key)} {direction}{nulls}, {ties}\n"
        f"LIMIT {MOST_ROWS}"
    )


def _value(sort: str, key: str | None) -> str:
    if key is not None:
        # The key stands in the statement once, as it may be long.
        is_key = literals.is_text("k", key)
        pairs = "mapValues(newest_scores), mapKeys(newest_scores)"
        return f"arrayFirstOrNull((v, k) -> {is_key}, {pairs})"
    return _DURATION if sort == "duration" else sort
