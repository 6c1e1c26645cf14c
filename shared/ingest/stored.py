"""Up to which moment an organization's events are in ClickHouse; windows end there."""

from datetime import UTC, datetime, timedelta
from typing import Any

import redis

from shared.ingest.stream import stream_key
from shared.queue import unavailable_when_redis_is_gone

# What collectors and networks take to bring an event; what comes later is late for its window.
SETTLE = timedelta(seconds=2)


def stored_until(client: redis.Redis, org_id: str, now: datetime) -> datetime:
    """The moment before which every event that arrived is stored, `SETTLE` before `now` at most.

    While a backlog waits it is the arrival of the oldest batch of it. Raises `Unavailable` when
    Redis cannot say.
    """
    with unavailable_when_redis_is_gone():
        waiting: Any = client.xrange(stream_key(org_id), count=1)
    settled = now - SETTLE
    if not waiting:
        return settled
    arrival_ms = int(waiting[0][0].partition(b"-")[0])
    return min(settled, datetime.fromtimestamp(arrival_ms / 1000, UTC))
