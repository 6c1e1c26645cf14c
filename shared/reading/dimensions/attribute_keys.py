"""The attribute keys of an organization: at most 1,000 within 30 days."""

from collections.abc import Collection
from datetime import timedelta

import redis

from shared.foundation.core.clock import now_us
from shared.foundation.queue.connection import unavailable_when_redis_is_gone

MAX_KEYS = 1000
DAYS = 30
_DAY_US = timedelta(days=1) // timedelta(microseconds=1)

# Notes the day of each key that has a place, and returns the others.
_ADMIT = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[2])
local refused = {}
for i = 4, #ARGV do
    if redis.call('ZSCORE', KEYS[1], ARGV[i])
        or redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[3]) then
        redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i])
    else
        refused[#refused + 1] = ARGV[i]
    end
end
redis.call('EXPIRE', KEYS[1], ARGV[2] * 86400)
return refused
"""


class AttributeKeys:
    """The keys that have a place; a process asks Redis about a key once a day."""

    def __init__(self, client: redis.Redis) -> None:
        self._redis = client
        self._admit = client.register_script(_ADMIT)
        self._day = 0
        self._admitted: dict[str, set[str]] = {}

    def refused(self, org_id: str, keys: Collection[str]) -> frozenset[str]:
        """Returns those of `keys` that have no place; raises `Unavailable` without Redis."""
        day = now_us() // _DAY_US
        if day != self._day:
            self._day, self._admitted = day, {}
        admitted = self._admitted.setdefault(org_id, set())
        asked = [key for key in keys if key not in admitted]
        if not asked:
            return frozenset()
        with unavailable_when_redis_is_gone():
            answer = self._admit(
                keys=[f"dimensions:keys:{org_id}"], args=[day, DAYS, MAX_KEYS, *asked]
            )
        refused = frozenset(key.decode() for key in answer)
        admitted.update(asked)
        admitted -= refused
        return refused
