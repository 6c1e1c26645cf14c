"""The dimensions that stored events lack and their payloads have."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.where import Where, us
from shared.intake.ingest.dimensions import (
    DimensionRules,
    EventDimensions,
    OmittedValues,
    drop_refused,
    places_of_dimensions,
    read_dimensions,
)
from shared.intake.ingest.fields import read_fields

_SETTINGS = {
    "os_threads_nice_value_query": 10,
    "max_threads": 1,
    "do_not_merge_across_partitions_select_final": 1,
    "max_execution_time": 120,
}
_EVENTS = f"""
SELECT {us("ts")} AS at, session_id, id, CAST(event_type, 'String'), payload,
    user_id, CAST(agent_version, 'Nullable(String)'), CAST(tags, 'Array(String)'),
    CAST(attributes, 'Map(String, String)')
FROM {TABLE} {{merged}}
ORDER BY ts, session_id, id
LIMIT {{limit}}
"""
_PAYLOAD = 4

Columns = Sequence[Sequence[Any]]


class FilledRows(NamedTuple):
    """The keys of events that get more dimensions, and all dimensions of each."""

    keys: list[tuple[int, str, int]]
    values: list[tuple[object, ...]]


def read(clickhouse: ClickHouse, where: Where, limit: int) -> Columns:
    """Returns the columns of the first events by key; the first three are the key."""
    sql = _EVENTS.format(merged=merged(where), limit=limit)
    return clickhouse.columns(sql, where.params, settings=_SETTINGS)


def bytes_of(columns: Columns) -> int:
    """Returns the size of the payloads."""
    return sum(map(len, columns[_PAYLOAD]))


def fill(columns: Columns, rules: DimensionRules) -> FilledRows:
    """Reads the payloads of events as ingest does. What an event has already stays."""
    filled = FilledRows([], [])
    if not columns:
        return filled
    ts, session_ids, ids, event_types, sent, *stored = columns
    payloads = [one if isinstance(one, bytes) else one.encode() for one in sent]
    fields = list(map(read_fields, payloads))
    # What has no place was counted when the event came, or nobody counts it now.
    ignored = OmittedValues()
    places = places_of_dimensions(fields, rules)
    found = [
        read_dimensions(event_types[place], fields[place], payloads[place], rules, ignored)
        for place in places
    ]
    drop_refused(found, rules, ignored)
    for place, new in zip(places, found, strict=True):
        old = EventDimensions(*(column[place] for column in stored))
        both = (
            old.user_id or new.user_id,
            old.agent_version or new.agent_version,
            list(old.tags or new.tags),
            {**new.attributes, **old.attributes},
        )
        if both != (old.user_id, old.agent_version, list(old.tags), dict(old.attributes)):
            filled.keys.append((ts[place], session_ids[place], ids[place]))
            filled.values.append(both)
    return filled
