"""One import of an organization at a time looks up what is new and adds it."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.client import Pipeline

from shared.foundation.core.errors import Unavailable
from shared.foundation.queue import unavailable_when_redis_is_gone

# Far longer than the look-ups take. If a process is killed, others wait for so long.
LEASE_MS = 30_000
WAIT_SECS = 5.0
_LOOK_SECS = 0.02
_RETRY_AFTER_SECS = 3

_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class Lock:
    """A lock that is held."""

    def __init__(self, key: str, token: bytes) -> None:
        self.key, self.token = key, token

    def guard(self, pipe: Pipeline) -> None:
        """Lets the pipeline's transaction fail if the lock is not held any more.

        Raises `Unavailable` if that is so already.
        """
        pipe.watch(self.key)  # type: ignore[no-untyped-call] # redis-py
        if pipe.get(self.key) != self.token:
            raise _busy()
        pipe.multi()


@contextmanager
def locked(client: redis.Redis, org_id: str) -> Iterator[Lock]:
    """Holds the organization's lock; raises `Unavailable` if it is not free within `WAIT_SECS`."""
    lock = Lock(f"imports:lock:{org_id}", uuid.uuid4().hex.encode())
    deadline = time.monotonic() + WAIT_SECS
    with unavailable_when_redis_is_gone():
        while not client.set(lock.key, lock.token, nx=True, px=LEASE_MS):
            if time.monotonic() > deadline:
                raise _busy()
            time.sleep(_LOOK_SECS)
    try:
        yield lock
    finally:
        with unavailable_when_redis_is_gone():
            client.eval(_RELEASE, 1, lock.key, lock.token)


def _busy() -> Unavailable:
    return Unavailable(
        "other imports of this organization take long: try again",
        code="imports_busy",
        retry_after_secs=_RETRY_AFTER_SECS,
    )
