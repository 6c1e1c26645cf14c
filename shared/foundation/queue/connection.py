"""The Redis client of a process, and the translation of its failures for callers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ExecAbortError, OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeout
from redis.retry import Retry

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.core.redis_url import SENTINEL_SCHEMES, SentinelUrl
from shared.foundation.queue.sentinel import connect_by_sentinels

log = get_logger(__name__)

# A Redis that refuses writes for now: it cannot save to disk, lacks replicas, or became a replica
# itself. redis-py has no classes for these.
_REFUSALS = (
    "MISCONF",
    "NOREPLICAS",
    "UNBLOCKED",
    "WAIT cannot be used with replica",
    "WAITAOF cannot be used with replica",
)
# redis-py puts the command of a pipeline in front of the error.
_OF_PIPELINE = "of pipeline caused error: "


def connect_redis(url: str) -> redis.Redis:
    """Creates a thread-safe client that replaces a stale connection and repeats the command.

    A command that timed out is not repeated: a Redis that hangs would hold its callers twice as
    long. A URL with `+sentinel` names sentinels, see `SentinelUrl`; raises `ValueError` if it is
    not valid.
    """
    options: dict[str, Any] = {
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "health_check_interval": 30,
        "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    }
    if url.startswith(SENTINEL_SCHEMES):
        return connect_by_sentinels(SentinelUrl.parse(url), **options)
    return redis.Redis.from_url(url, **options)


@contextmanager
def unavailable_when_redis_is_gone() -> Iterator[None]:
    """Raises `Unavailable` if Redis is down, loading or full, or refuses writes for now."""
    try:
        yield
    except (RedisConnectionError, RedisTimeout, ReadOnlyError) as error:
        log.warning("redis_unavailable", reason=type(error).__name__)
        raise Unavailable("Redis is unavailable", code="redis_unavailable") from error
    except OutOfMemoryError as error:
        log.warning("redis_unavailable", reason="maxmemory")
        raise Unavailable("Redis is full", code="redis_unavailable") from error
    except ResponseError as error:
        reason = str(error).rpartition(_OF_PIPELINE)[2]
        # A transaction that was discarded at its end: Redis began to refuse writes within it.
        if not (reason.startswith(_REFUSALS) or isinstance(error, ExecAbortError)):
            raise
        log.warning("redis_unavailable", reason=reason)
        raise Unavailable("Redis takes no writes now", code="redis_unavailable") from error
