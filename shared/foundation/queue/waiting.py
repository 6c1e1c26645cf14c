"""The data that waits in Redis: batches of events, and OpenTelemetry's records that become events.

Ingest writes and takes it. Reads ask here for the moment up to which an organization's events are
in ClickHouse, and their windows end there.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import redis

from shared.foundation.core.clock import from_us
from shared.foundation.queue.connection import unavailable_when_redis_is_gone

# The organizations that have entries; a stream is listed here as long as it has any.
EVENTS_ACTIVE = "ingest:active"
EVENTS_PREFIX = "ingest:events:"

# The streams of an organization, so that several workers can assign its records at the same time.
SHARDS = 4
# The streams that have entries, and the streams of which records wait for others, as
# `<organization>:<shard>`.
RECORDS_ACTIVE = "otlp:active"
MOMENTS_KEY = "otlp:moments"

# The time that collectors and networks usually take; a later event is late for its window.
SETTLE = timedelta(seconds=2)

# Returns the present and the oldest receipt of each organization, in milliseconds of Redis's clock,
# which stamps them. A script, because reading the entries would transfer their events too. For each
# organization: streams, then sorted sets of receipts.
_STREAMS, _SETS = 1 + SHARDS, 1 + SHARDS
_OLDEST = f"""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local oldest = {{}}
for first = 1, #KEYS, {_STREAMS + _SETS} do
    local moment = now
    for index = first, first + {_STREAMS - 1} do
        local entry = redis.call('XRANGE', KEYS[index], '-', '+', 'COUNT', 1)[1]
        if entry then moment = math.min(moment, tonumber(string.match(entry[1], '^%d+'))) end
    end
    for index = first + {_STREAMS}, first + {_STREAMS + _SETS - 1} do
        local receipt = redis.call('ZRANGE', KEYS[index], 0, 0, 'WITHSCORES')[2]
        if receipt then moment = math.min(moment, tonumber(receipt)) end
    end
    oldest[#oldest + 1] = moment
end
return oldest
"""


def event_stream(org_id: str) -> str:
    """Returns the key of the stream of an organization's batches."""
    return EVENTS_PREFIX + org_id


def delayed_key(org_id: str) -> str:
    """Returns the sorted set of entries with earlier events, by their receipts in milliseconds."""
    return f"ingest:delayed:{org_id}"


def orgs_with_events(client: redis.Redis) -> list[str]:
    """Returns the organizations that have batches, in a stable order."""
    members: set[bytes] = client.smembers(EVENTS_ACTIVE)  # type: ignore[assignment] # sync client
    return sorted(member.decode() for member in members)


def record_stream(org_id: str, shard: int) -> str:
    """Returns the key of a stream of records."""
    return f"otlp:records:{org_id}:{shard}"


def waiting_key(org_id: str, shard: int) -> str:
    """Returns the key of the hash of a shard's waiting records."""
    return f"otlp:waiting:{org_id}:{shard}"


def since_key(org_id: str, shard: int) -> str:
    """Returns the key of the sorted set of the receipts of a shard's waiting records."""
    return f"otlp:since:{org_id}:{shard}"


def record_keys(org_id: str) -> list[str]:
    """Returns the keys that contain records of an organization."""
    shards = range(SHARDS)
    return [key(org_id, shard) for key in (record_stream, waiting_key) for shard in shards]


def orgs_with_records(client: redis.Redis) -> set[str]:
    """Returns the organizations with records that are no events yet."""
    streams: Any = client.smembers(RECORDS_ACTIVE)
    waiting: Any = client.zrange(MOMENTS_KEY, 0, -1)
    return {member.decode().rpartition(":")[0] for member in (*streams, *waiting)}


def stored_until_each(client: redis.Redis, org_ids: Sequence[str]) -> list[datetime]:
    """Returns for each organization the moment before which its events are stored.

    By Redis's clock this is `SETTLE` before now, or before the arrival of the oldest waiting batch
    or record. Raises `Unavailable` if Redis cannot tell.
    """
    keys = [key for org_id in org_ids for key in _dated_keys(org_id)]
    with unavailable_when_redis_is_gone():
        oldest: Any = client.eval(_OLDEST, len(keys), *keys)
    return [from_us(moment_ms * 1000) - SETTLE for moment_ms in oldest]


def _dated_keys(org_id: str) -> list[str]:
    shards = range(SHARDS)
    streams = [event_stream(org_id), *(record_stream(org_id, shard) for shard in shards)]
    return [*streams, delayed_key(org_id), *(since_key(org_id, shard) for shard in shards)]
