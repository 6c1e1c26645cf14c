"""How many statements an organization runs at once, over all processes."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from shared.errors import RateLimited
from shared.logs import get_logger
from shared.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

RUNS_AT_ONCE = 4
# Longer than any run: what a killed process held is free again after this.
LEASE_MS = 30_000
RETRY_AFTER_SECS = 2

# A member a run, its score when the lease ends, by Redis's own clock.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""


class Slots:
    """`RUNS_AT_ONCE` leases an organization, kept in Redis."""

    def __init__(self, client: redis.Redis) -> None:
        self._redis = client
        self._take = client.register_script(_TAKE)

    @contextmanager
    def hold(self, org_id: str) -> Iterator[None]:
        """A slot for as long as the block runs.

        Raises `RateLimited` while all are taken, `Unavailable` without Redis.
        """
        key, run = f"queries:running:{org_id}", uuid.uuid4().hex
        with unavailable_when_redis_is_gone():
            taken = self._take(keys=[key], args=[run, RUNS_AT_ONCE, LEASE_MS])
        if not taken:
            raise RateLimited(
                f"an organization runs {RUNS_AT_ONCE} queries at once",
                code="too_many_queries",
                retry_after_secs=RETRY_AFTER_SECS,
            )
        try:
            yield
        finally:
            self._free(key, run)

    def _free(self, key: str, run: str) -> None:
        try:
            self._redis.zrem(key, run)
        except redis.RedisError as error:
            # The lease ends by itself, and the answer is worth more than the slot.
            log.warning("redis_unavailable", reason=type(error).__name__)
