"""The values that filter bars offer: distinct values of a column, cached for up to a minute."""

from dataclasses import dataclass
from datetime import timedelta

import redis

from shared.foundation.cache.answers import remembered
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.where import Where

MAX_VALUES = 500
# A longer value is not a name to choose from, and a few of a megabyte would fill the list.
MAX_VALUE_BYTES = 1024
FRESH = timedelta(seconds=60)


@dataclass(frozen=True)
class Facet:
    """A column, the order of its values, and the period that is searched."""

    column: str
    about: str
    by_name: bool = False
    days: int | None = None


FACETS: dict[str, Facet] = {
    "environments": Facet("environment", "Environments of events, by name.", by_name=True),
    "event_types": Facet("event_type", "Types of events, by name.", by_name=True),
    "agent_ids": Facet("agent_id", "Agents seen in events, most active first."),
    "models": Facet("model", "Models seen in events, most used first."),
    "tool_names": Facet("tool_name", "Tools seen in events, most used first."),
    "hook_names": Facet("hook_name", "Hooks seen in events, most used first."),
    "error_types": Facet("error_type", "Error types seen in events, most frequent first."),
    "trigger_events": Facet(
        "trigger_event", "Trigger events of hooks in the last 90 days, most used first.", days=90
    ),
}


def facet_values(clickhouse: ClickHouse, client: redis.Redis, org_id: str, name: str) -> list[str]:
    """Returns at most 500 values, sorted by name or by use; up to 60 s old."""
    return remembered(
        client,
        f"facet:{org_id}:{name}",
        list[str],
        FRESH,
        lambda: _read(clickhouse, org_id, FACETS[name]),
    )


def _read(clickhouse: ClickHouse, org_id: str, facet: Facet) -> list[str]:
    column = facet.column
    where = Where(org_id).add(
        f"isNotNull({column}) AND length({column}) BETWEEN 1 AND {MAX_VALUE_BYTES:d}"
    )
    if facet.days is not None:
        where.add(f"ts >= now64(6) - INTERVAL {facet.days:d} DAY")
    order = column if facet.by_name else f"uses DESC, {column}"
    rows = clickhouse.rows(
        # Resent events are counted twice until they are merged, which at most swaps neighbours.
        # Exact counts would cost ten times as much.
        f"SELECT toString({column}) AS value, count() AS uses FROM {TABLE} WHERE {where}"
        f" GROUP BY {column} ORDER BY {order} LIMIT {MAX_VALUES:d}",
        where.params,
        settings={"max_execution_time": 20},
    )
    return [str(value) for value, _ in rows]
