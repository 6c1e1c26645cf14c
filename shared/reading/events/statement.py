"""People's SQL that lists the events of a read: for "Open in SQL", with literals."""

from shared.foundation.clickhouse import literals
from shared.reading.events.filters import EventFilters

MOST_ROWS = 1000

_LISTED = "ts, event_type, agent_id, session_id, environment, summary, id"
_FAILED = "ts, error_type, event_type, tool_name, agent_id, session_id, environment, summary, id"
_OF_SESSION = """ts, event_type, agent_id,
  coalesce(hook_name, tool_name, model, error_type) AS name, summary,
  is_error, duration_ms, input_tokens, output_tokens, id"""


def listed(*, filters: EventFilters, order: str = "desc", **_: object) -> str:
    """Returns the statement that lists the same events."""
    return _newest_of(_LISTED, filters, order)


def failures(*, filters: EventFilters, **_: object) -> str:
    """Returns the statement that lists the failed events among them, newest first."""
    return _newest_of(_FAILED, filters.replace(errored=True), "desc")


def of_session(*, session_id: str, filters: EventFilters, **_: object) -> str:
    """Returns the statement that lists the events of one session, oldest first."""
    conditions = [literals.is_text("session_id", session_id), *filters.sql()]
    return f"SELECT {_OF_SESSION}\nFROM events{literals.clause(conditions)}\nORDER BY ts, id"


def _newest_of(columns: str, filters: EventFilters, order: str) -> str:
    direction = order.upper()
    return (
        f"SELECT {columns}\nFROM events{literals.clause(filters.sql())}\n"
        f"ORDER BY ts {direction}, id {direction}\nLIMIT {MOST_ROWS}"
    )
