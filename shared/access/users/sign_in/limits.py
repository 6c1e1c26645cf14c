"""Limits on how often a client may request and try sign-in codes (docs/run/security.md)."""

import hashlib
import math
import time
from collections.abc import Sequence

import redis
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import RedisStorage
from limits.strategies import MovingWindowRateLimiter

from shared.foundation.core.errors import RateLimited
from shared.foundation.queue import unavailable_when_redis_is_gone

REQUESTS_PER_ADDRESS = RateLimitItemPerMinute(5, 15, "code-requests-of-address")
REQUESTS_PER_CLIENT = RateLimitItemPerMinute(30, 15, "code-requests-of-client")
STARTS_PER_CLIENT = RateLimitItemPerMinute(60, 15, "provider-starts-of-client")
TRIES_PER_CLIENT = RateLimitItemPerMinute(10, 1, "code-tries-of-client")

Count = tuple[RateLimitItem, str]


class SignInLimits:
    """Sliding windows in Redis, shared by all processes; `client` is the origin of a request.

    All methods raise `RateLimited`, and `Unavailable` while Redis is down.
    """

    def __init__(self, client: redis.Redis) -> None:
        # The library requires a URL, but the pool already knows the address of Redis.
        storage = RedisStorage(
            "redis://", connection_pool=client.connection_pool, key_prefix="sign-in"
        )
        self._windows = MovingWindowRateLimiter(storage)

    def count_request(self, client: str, email: str) -> None:
        """Counts a request for a code; Redis holds only a hash of the address."""
        hashed = hashlib.sha256(email.encode()).hexdigest()
        self._take([(REQUESTS_PER_CLIENT, client), (REQUESTS_PER_ADDRESS, hashed)])

    def count_start(self, client: str) -> None:
        """Counts a sign-in that begins at the provider, because Redis keeps it for a while."""
        self._take([(STARTS_PER_CLIENT, client)])

    def count_try(self, client: str) -> None:
        """Counts a try of a code, right or wrong, of a mail or of the provider."""
        self._take([(TRIES_PER_CLIENT, client)])

    def _take(self, counts: Sequence[Count]) -> None:
        """Adds to all counts, or to none and raises.

        All counts are checked before the first one is changed, so a refused client does not use up
        the requests of an address. A request that loses a race between check and change may count
        in one place.
        """
        with unavailable_when_redis_is_gone():
            for take in (self._windows.test, self._windows.hit):
                for count in counts:
                    if not take(*count):
                        raise self._refusal(*count)

    def _refusal(self, limit: RateLimitItem, whose: str) -> RateLimited:
        free_at = self._windows.get_window_stats(limit, whose).reset_time
        return RateLimited(
            "too many attempts to sign in; try again later",
            retry_after_secs=max(1, math.ceil(free_at - time.time())),
        )
