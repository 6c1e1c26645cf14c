"""Counts of the values of dimensions that had no place, of the last 24 hours."""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import timedelta

import redis

from shared.foundation.core.clock import now_us
from shared.foundation.queue.connection import unavailable_when_redis_is_gone

# `keys_full` are attributes whose keys came after the last one that has a place.
REASONS = ("too_long", "too_many", "bad_key", "not_scalar", "keys_full")
HOURS = 24
MAX_SHOWN_KEYS = 20
_HOUR_US = timedelta(hours=1) // timedelta(microseconds=1)


def count(
    client: redis.Redis, org_id: str, counts: Mapping[str, int], keys: Collection[str]
) -> None:
    """Adds to the counts of this hour, and remembers some of the `keys` that were refused.

    Raises `Unavailable` without Redis.
    """
    if not any(counts.values()):
        return
    name, expires = _name(org_id, now_us() // _HOUR_US), timedelta(hours=HOURS + 1)
    with unavailable_when_redis_is_gone(), client.pipeline(transaction=True) as pipe:
        for reason, number in counts.items():
            pipe.hincrby(name, reason, number)
        pipe.expire(name, expires)
        if keys:
            pipe.sadd(f"{name}:keys", *sorted(keys)[:MAX_SHOWN_KEYS])
            pipe.expire(f"{name}:keys", expires)
        pipe.execute()


def read(client: redis.Redis, org_id: str) -> tuple[dict[str, int], list[str]]:
    """Returns the counts by reason, and at most 20 of the refused keys.

    Raises `Unavailable` without Redis.
    """
    hour = now_us() // _HOUR_US
    names = [_name(org_id, one) for one in range(hour - HOURS + 1, hour + 1)]
    with unavailable_when_redis_is_gone(), client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hgetall(name)
        pipe.sunion([f"{name}:keys" for name in names])
        *found, keys = pipe.execute()
    total: Counter[str] = Counter()
    for counts in found:
        total.update({reason.decode(): int(number) for reason, number in counts.items()})
    shown = sorted(key.decode() for key in keys)[:MAX_SHOWN_KEYS]
    return {reason: total[reason] for reason in REASONS}, shown


def _name(org_id: str, hour: int) -> str:
    return f"dimensions:left_out:{org_id}:{hour}"
