"""The values of a dimension, with the number of sessions that have each."""

from datetime import timedelta
from typing import NamedTuple

import msgspec
import redis
import xxhash

from shared.foundation.cache.answers import remembered
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.slices import FUTURE_US, TimeRange
from shared.foundation.clickhouse.where import us
from shared.foundation.core.clock import now_us, to_us
from shared.foundation.core.errors import Invalid
from shared.reading.dimensions.names import PREFIX, is_key
from shared.reading.sessions.matching import matching
from shared.reading.sessions.selection import SessionFilters

MAX_VALUES = 500
FRESH = timedelta(seconds=60)

# A field → SQL of the values that one row of `agent_sessions` has of it.
_VALUES = {
    name: f"seen_values['{name}']"
    for name in ("user_id", "agent_version", "tag", "model", "provider")
} | {"agent_id": "agents"}
# The environment of a session is that of its first event, which merging its rows tells.
_ENVIRONMENT = "environment"
FIELDS = (*_VALUES, _ENVIRONMENT)

_PAGE = f"""
SELECT value, uniqExact(session_id) AS sessions, {us("max(last_event_at)")}
FROM ({{rows}})
WHERE value != '' AND positionCaseInsensitiveUTF8(value, {{{{q:String}}}}) > 0
GROUP BY value
ORDER BY sessions DESC, value
LIMIT {{{{limit:UInt32}}}}
"""
_SEEN = """
SELECT session_id, last_event_at, arrayJoin({values}) AS value FROM agent_sessions
WHERE org_id = {{org_id:String}} AND session_id IN (SELECT session_id FROM ({sessions}))
"""
_ENVIRONMENTS = """
SELECT session_id, max(last_event_at) AS last_event_at, argMinMerge(first_event).2 AS value
FROM agent_sessions
WHERE org_id = {{org_id:String}} AND session_id IN (SELECT session_id FROM ({sessions}))
GROUP BY session_id
"""


class ValueCount(NamedTuple):
    """A value; `last_seen_at` is the last event of its sessions, in microseconds."""

    value: str
    sessions: int
    last_seen_at: int


class CountedValues(NamedTuple):
    """The values with the most sessions; there are more if `truncated`."""

    values: list[ValueCount]
    truncated: bool


def require_field(field: str) -> None:
    """Raises `Invalid` naming `field` unless it is a dimension."""
    is_attribute = field.startswith(PREFIX) and is_key(field.removeprefix(PREFIX))
    if field not in FIELDS and not is_attribute:
        raise Invalid.field("field", f"must be one of {', '.join(FIELDS)}, {PREFIX}<key>")


def values_of(
    clickhouse: ClickHouse,
    client: redis.Redis,
    org_id: str,
    field: str,
    wanted: SessionFilters,
    *,
    q: str = "",
    limit: int = 20,
) -> CountedValues:
    """Returns the values of `field` in the sessions that `wanted` describes.

    `q` is any part of a value, in any case. Exact, at most 60 s old. Raises `Invalid` naming
    `field`.
    """
    require_field(field)
    question = msgspec.json.encode((field, q, limit, repr(wanted)))
    return remembered(
        client,
        f"dimensions:values:{org_id}:{xxhash.xxh3_128_hexdigest(question)}",
        CountedValues,
        FRESH,
        lambda: _read(clickhouse, org_id, field, wanted, q, limit),
    )


def _read(
    clickhouse: ClickHouse, org_id: str, field: str, wanted: SessionFilters, q: str, limit: int
) -> CountedValues:
    start = 0 if wanted.ts_from is None else to_us(wanted.ts_from)
    stop = now_us() + FUTURE_US if wanted.ts_to is None else to_us(wanted.ts_to)
    matches = matching(org_id, wanted, TimeRange(start, stop))
    if field == _ENVIRONMENT:
        rows = _ENVIRONMENTS.format(sessions=matches.sessions)
    else:
        found = _VALUES.get(field, "seen_values[{field:String}]")
        rows = _SEEN.format(values=found, sessions=matches.sessions)
    params = {**matches.params, "q": q, "limit": limit + 1, "field": field}
    page = clickhouse.rows(_PAGE.format(rows=rows), params, settings=PAGE)
    return CountedValues([ValueCount(*row) for row in page[:limit]], len(page) > limit)
