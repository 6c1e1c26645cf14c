"""The right to assign the records of a shard: one assigner at a time has it.

An assigner writes only in a transaction that fails unless it still has its leases. So two assigners
never decide from the same waiting records, however slow one of them is.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.client import Pipeline

from shared.foundation.core.ids import new_request_id
from shared.foundation.core.tracing import spans

# If an assigner is killed, its shards are free after this time.
LEASE_SECS = 5.0
_RENEW_SECS = 1.0

_RENEW = """
for _, key in ipairs(KEYS) do
    if redis.call('GET', key) == ARGV[1] then redis.call('PEXPIRE', key, ARGV[2]) end
end
"""

_RELEASE = """
for _, key in ipairs(KEYS) do
    if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
"""


class LeaseLost(Exception):
    """Another assigner may have the shards by now, so nothing was written."""


class Lease:
    """The leases of some shards of one organization, of none at first."""

    def __init__(self, client: redis.Redis, org_id: str) -> None:
        self.org_id = org_id
        self.shards: list[int] = []
        self._redis = client
        self._keys: list[str] = []
        self._token = new_request_id()
        self._renew_at = time.monotonic() + _RENEW_SECS

    def take(self, shard: int) -> bool:
        """Takes one more shard, unless another assigner has it; returns whether it did."""
        key = lease_key(self.org_id, shard)
        if not self._redis.set(key, self._token, nx=True, px=_ttl_ms()):
            return False
        self.shards.append(shard)
        self._keys.append(key)
        return True

    def keep(self) -> None:
        """Renews the leases if it is time to; call it often."""
        if time.monotonic() >= self._renew_at:
            self._redis.eval(_RENEW, len(self._keys), *self._keys, self._token, _ttl_ms())
            self._renew_at = time.monotonic() + _RENEW_SECS

    @contextmanager
    def transaction(self) -> Iterator[Pipeline]:
        """Yields a transaction, and executes it. Raises `LeaseLost` if it was not executed."""
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.watch(*self._keys)  # type: ignore[no-untyped-call] # redis-py
            tokens: Any = pipe.mget(self._keys)
            if any(token != self._token.encode() for token in tokens):
                raise LeaseLost
            pipe.multi()
            yield pipe
            try:
                with spans.redis("EXEC"):
                    pipe.execute()
            except redis.WatchError:
                raise LeaseLost from None

    def release(self) -> None:
        """Gives the shards back."""
        if self._keys:
            self._redis.eval(_RELEASE, len(self._keys), *self._keys, self._token)


def lease_key(org_id: str, shard: int) -> str:
    """Returns the key of a shard's lease."""
    return f"otlp:placer:{org_id}:{shard}"


def _ttl_ms() -> int:
    return round(LEASE_SECS * 1000)
