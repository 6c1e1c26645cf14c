"""The moment up to which an organization's events are in ClickHouse; windows end there."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import redis

from shared.core.clock import from_us
from shared.events.ingest.stream import stream_key
from shared.queue import unavailable_when_redis_is_gone

# The time that collectors and networks usually take; a later event is late for its window.
SETTLE = timedelta(seconds=2)

# Returns the present and the time of each stream's oldest entry, in milliseconds of Redis's clock,
# which stamps them. A script, because reading the entries would transfer their events too.
_OLDEST = """
local time, oldest = redis.call('TIME'), {}
for place, key in ipairs(KEYS) do
    local entry = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
    oldest[place] = entry and tonumber(string.match(entry[1], '^%d+')) or -1
end
return {time[1] * 1000 + math.floor(time[2] / 1000), oldest}
"""


def stored_until_each(client: redis.Redis, org_ids: Sequence[str]) -> list[datetime]:
    """Returns for each organization the moment before which its events are stored.

    By Redis's clock this is `SETTLE` before now, or before the arrival of the oldest waiting batch.
    Raises `Unavailable` if Redis cannot tell.
    """
    with unavailable_when_redis_is_gone():
        answer: Any = client.eval(_OLDEST, len(org_ids), *map(stream_key, org_ids))
    now_ms, oldest = answer
    moments_ms = [now_ms if waiting_ms < 0 else min(now_ms, waiting_ms) for waiting_ms in oldest]
    return [from_us(moment_ms * 1000) - SETTLE for moment_ms in moments_ms]
