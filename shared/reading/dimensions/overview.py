"""The attribute keys of an organization, and the numbers of its users, versions and tags."""

from datetime import timedelta
from typing import NamedTuple

import redis

from shared.foundation.cache.answers import remembered
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import us
from shared.reading.dimensions.attribute_keys import MAX_KEYS
from shared.reading.dimensions.names import PREFIX

FRESH = timedelta(seconds=60)
DAYS = 30

_KEYS = f"""
SELECT substring(name, {len(PREFIX) + 1}) AS key, uniqExact(session_id) AS sessions,
    {us("max(last_event_at)")}
FROM agent_sessions ARRAY JOIN mapKeys(seen_values) AS name
WHERE org_id = {{org_id:String}} AND startsWith(name, '{PREFIX}')
GROUP BY key
ORDER BY sessions DESC, key
LIMIT {MAX_KEYS}
"""
_NUMBERS = f"""
SELECT uniqExactArray(seen_values['user_id']), uniqExactArray(seen_values['agent_version']),
    uniqExactArray(seen_values['tag'])
FROM agent_sessions
WHERE org_id = {{org_id:String}} AND last_event_at >= now64(6) - INTERVAL {DAYS} DAY
"""


class KeyCount(NamedTuple):
    """A key; `last_seen_at` is the last event of its sessions, in microseconds."""

    key: str
    sessions: int
    last_seen_at: int


class DimensionOverview(NamedTuple):
    """All keys, those of most sessions first; the other numbers are of the last 30 days."""

    attributes: list[KeyCount]
    users: int
    versions: int
    tags: int


def overview(clickhouse: ClickHouse, client: redis.Redis, org_id: str) -> DimensionOverview:
    """Returns the overview of an organization, at most 60 s old."""
    return remembered(
        client,
        f"dimensions:overview:{org_id}",
        DimensionOverview,
        FRESH,
        lambda: _read(clickhouse, org_id),
    )


def _read(clickhouse: ClickHouse, org_id: str) -> DimensionOverview:
    params = {"org_id": org_id}
    keys = clickhouse.rows(_KEYS, params, settings=PAGE)
    [numbers] = clickhouse.rows(_NUMBERS, params, settings=PAGE)
    return DimensionOverview([KeyCount(*row) for row in keys], *numbers)
