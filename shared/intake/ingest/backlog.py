"""The size of the backlog (accepted events that are not stored), measured on the streams.

A counter would stay wrong after a process was killed between two steps.
"""

import threading
import time
from typing import Any

import redis

from shared.foundation.core.errors import Unavailable
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.waiting import (
    SHARDS,
    event_stream,
    orgs_with_events,
    orgs_with_records,
    record_keys,
    record_stream,
)

RETRY_AFTER_SECS = 2
# One organization's burst leaves room for the events of the others.
ORG_SHARE = 0.75
# The rest of Redis's `maxmemory` must stay free: a full Redis refuses the messages that wake the
# workers, and then the backlog would never shrink.
MEMORY_SHARE = 0.8
_REMEASURE_SECS = 0.25


class Backlog:
    """A process's view of the backlog, measured at most four times a second."""

    def __init__(self, client: redis.Redis, limit_bytes: int) -> None:
        self._redis = client
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._measuring = threading.Lock()
        self._measured_at = float("-inf")
        self._sizes: dict[str, int] = {}
        self._redis_is_full = False

    def require_room(self, org_id: str) -> None:
        """Raises `Unavailable` with `Retry-After` while the backlog is full."""
        sizes = self._current()
        if sum(sizes.values()) >= self._limit or self._redis_is_full:
            full = "the ingest backlog"
        elif sizes.get(org_id, 0) >= self._limit * ORG_SHARE:
            full = "this organization's ingest backlog"
        else:
            return
        raise Unavailable(f"{full} is full", code="backlog_full", retry_after_secs=RETRY_AFTER_SECS)

    def added(self, org_id: str, size: int) -> None:
        """Adds the bytes of this process until the next measurement includes them."""
        with self._lock:
            self._sizes[org_id] = self._sizes.get(org_id, 0) + size

    def _current(self) -> dict[str, int]:
        """Returns the sizes as last measured.

        One thread measures, and the others do not wait for it.

        Raises `Unavailable` in that thread if Redis is down.
        """
        due = time.monotonic() - self._measured_at > _REMEASURE_SECS
        if due and self._measuring.acquire(blocking=False):
            try:
                self._measure()
            finally:
                self._measuring.release()
        with self._lock:
            return dict(self._sizes)

    def _measure(self) -> None:
        with unavailable_when_redis_is_gone():
            sizes = measure(self._redis)
            self._redis_is_full = is_full(self._redis)
        with self._lock:
            self._sizes = sizes
        self._measured_at = time.monotonic()


def is_full(client: redis.Redis) -> bool:
    """Returns whether Redis uses more than `MEMORY_SHARE` of its `maxmemory`, if it has one."""
    memory: Any = client.info("memory")
    maximum = memory.get("maxmemory", 0)
    return bool(maximum) and memory["used_memory"] > maximum * MEMORY_SHARE


def measure(client: redis.Redis) -> dict[str, int]:
    """Returns the bytes that each organization's accepted events and records take in Redis."""
    keys = [(org_id, event_stream(org_id)) for org_id in orgs_with_events(client)]
    for org_id in orgs_with_records(client):
        keys += [(org_id, key) for key in record_keys(org_id)]
    with client.pipeline(transaction=False) as pipe:
        for _, key in keys:
            # All nodes instead of a sample: entries of one stream may differ a thousandfold in
            # size.
            pipe.memory_usage(key, samples=0)
        sizes: dict[str, int] = {}
        for (org_id, _), size in zip(keys, pipe.execute(), strict=True):
            sizes[org_id] = sizes.get(org_id, 0) + (size or 0)
        return sizes


def lag_secs(client: redis.Redis) -> float:
    """Returns the age in seconds of the oldest entry of a stream that no worker finished yet.

    0.0 if there is none. Records that wait for others are not late.
    """
    keys = [event_stream(org_id) for org_id in orgs_with_events(client)]
    for org_id in orgs_with_records(client):
        keys += [record_stream(org_id, shard) for shard in range(SHARDS)]
    with client.pipeline(transaction=False) as pipe:
        for key in keys:
            pipe.xrange(key, count=1)
        firsts = [entries[0][0] for entries in pipe.execute() if entries]
    if not firsts:
        return 0.0
    oldest_ms = min(int(entry_id.partition(b"-")[0]) for entry_id in firsts)
    seconds, microseconds = client.time()
    now_ms = int(seconds) * 1000 + int(microseconds) // 1000
    return float(max(0, now_ms - oldest_ms)) / 1000
