"""Dimensions of events and sessions, and the token classes of a call.

Events that were stored before have none; nothing is rewritten. `agent_sessions` remembers the
values of a session, so that a filter by them reads no events.

- `first_values` has the first `user_id`, the first value of each attribute, and the first
  `agent_version` of each agent, each behind the place of its event.
- `seen_values` has up to 64 values of each dimension, attribute, model and provider.
"""

from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrations.m0001_events import AGENT_SESSIONS_FEED

_EVENT_COLUMNS = {
    "user_id": "Nullable(String) CODEC(ZSTD(1))",
    "agent_version": "LowCardinality(Nullable(String))",
    "tags": "Array(LowCardinality(String))",
    "attributes": "Map(LowCardinality(String), String)",
    "provider": "LowCardinality(Nullable(String))",
    "service_tier": "LowCardinality(Nullable(String))",
    "cache_read_tokens": "Nullable(UInt32)",
    "cache_write_tokens": "Nullable(UInt32)",
    "cache_write_1h_tokens": "Nullable(UInt32)",
    "reasoning_tokens": "Nullable(UInt32)",
    "audio_input_tokens": "Nullable(UInt32)",
    "audio_output_tokens": "Nullable(UInt32)",
    "web_searches": "Nullable(UInt32)",
}
_SESSION_COLUMNS = {
    "first_values": (
        "SimpleAggregateFunction(minMap,"
        " Map(String, Tuple(DateTime64(6, 'UTC'), UInt64, UInt64, String)))"
    ),
    "seen_values": (
        "SimpleAggregateFunction(groupUniqArrayArrayMap(64), Map(String, Array(String)))"
    ),
}

_FIRST = """minMapIf(
        mapFromArrays(
            arrayConcat(
                if(isNull(user_id), [], ['user_id']),
                if(isNull(agent_version), [], [concat('agent_version ', CAST(agent_id, 'String'))]),
                arrayMap(k -> concat('attr.', k), mapKeys(attributes))
            ),
            arrayConcat(
                if(isNull(user_id), [], [(ts, arrival, id, assumeNotNull(user_id))]),
                if(isNull(agent_version), [],
                   [(ts, arrival, id, CAST(assumeNotNull(agent_version), 'String'))]),
                arrayMap(v -> (ts, arrival, id, v), mapValues(attributes))
            )
        ),
        isNotNull(user_id) OR isNotNull(agent_version) OR notEmpty(attributes)
    )"""
_SEEN = """groupUniqArrayArrayMapIf(64)(
        mapFromArrays(
            arrayConcat(
                if(isNull(user_id), [], ['user_id']),
                if(isNull(agent_version), [], ['agent_version']),
                if(empty(tags), [], ['tag']),
                if(isNull(model), [], ['model']),
                if(isNull(provider), [], ['provider']),
                arrayMap(k -> concat('attr.', k), mapKeys(attributes))
            ),
            arrayConcat(
                if(isNull(user_id), [], [[assumeNotNull(user_id)]]),
                if(isNull(agent_version), [], [[CAST(assumeNotNull(agent_version), 'String')]]),
                if(empty(tags), [], [CAST(tags, 'Array(String)')]),
                if(isNull(model), [], [[CAST(assumeNotNull(model), 'String')]]),
                if(isNull(provider), [], [[CAST(assumeNotNull(provider), 'String')]]),
                arrayMap(v -> [v], mapValues(attributes))
            )
        ),
        isNotNull(user_id) OR isNotNull(agent_version) OR isNotNull(model)
            OR isNotNull(provider) OR notEmpty(tags) OR notEmpty(attributes)
    )"""
_QUERY = AGENT_SESSIONS_FEED.partition(" AS\n")[2]
FEED_QUERY = _QUERY.replace(
    " AS agent_ends\n",
    f" AS agent_ends,\n    {_FIRST} AS first_values,\n    {_SEEN} AS seen_values\n",
)


def up(ddl: Ddl) -> None:
    """Adds the columns, then feeds them."""
    for name, type_ in _EVENT_COLUMNS.items():
        ddl.run(f"ALTER TABLE {{table:events}} ADD COLUMN IF NOT EXISTS {name} {type_}")
    for name, type_ in _SESSION_COLUMNS.items():
        ddl.run(f"ALTER TABLE {{table:agent_sessions}} ADD COLUMN IF NOT EXISTS {name} {type_}")
    ddl.run(f"ALTER TABLE {{table:agent_sessions_feed}} MODIFY QUERY {FEED_QUERY}")


def down(ddl: Ddl) -> None:
    """Restores the feed of m0001, and drops the columns."""
    ddl.run(f"ALTER TABLE {{table:agent_sessions_feed}} MODIFY QUERY {_QUERY}")
    for name in _SESSION_COLUMNS:
        ddl.run(f"ALTER TABLE {{table:agent_sessions}} DROP COLUMN IF EXISTS {name}")
    for name in _EVENT_COLUMNS:
        ddl.run(f"ALTER TABLE {{table:events}} DROP COLUMN IF EXISTS {name}")
