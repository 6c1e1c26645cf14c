"""The moment up to which an organization's events are in ClickHouse; windows end there."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import redis

from shared.core.clock import from_us
from shared.events.ingest.stream import delayed_key, stream_key
from shared.events.ingest.upstream import SHARDS, record_stream, since_key
from shared.queue import unavailable_when_redis_is_gone

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
    for place = first, first + {_STREAMS - 1} do
        local entry = redis.call('XRANGE', KEYS[place], '-', '+', 'COUNT', 1)[1]
        if entry then moment = math.min(moment, tonumber(string.match(entry[1], '^%d+'))) end
    end
    for place = first + {_STREAMS}, first + {_STREAMS + _SETS - 1} do
        local receipt = redis.call('ZRANGE', KEYS[place], 0, 0, 'WITHSCORES')[2]
        if receipt then moment = math.min(moment, tonumber(receipt)) end
    end
    oldest[#oldest + 1] = moment
end
return oldest
"""


def stored_until_each(client: redis.Redis, org_ids: Sequence[str]) -> list[datetime]:
    """Returns for each organization the moment before which its events are stored.

    By Redis's clock this is `SETTLE` before now, or before the arrival of the oldest waiting batch
    or record. Raises `Unavailable` if Redis cannot tell.
    """
    keys = [key for org_id in org_ids for key in _keys_of(org_id)]
    with unavailable_when_redis_is_gone():
        oldest: Any = client.eval(_OLDEST, len(keys), *keys)
    return [from_us(moment_ms * 1000) - SETTLE for moment_ms in oldest]


def _keys_of(org_id: str) -> list[str]:
    shards = range(SHARDS)
    streams = [stream_key(org_id), *(record_stream(org_id, shard) for shard in shards)]
    return [*streams, delayed_key(org_id), *(since_key(org_id, shard) for shard in shards)]
