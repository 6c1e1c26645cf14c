"""The Redis client of a process, and the translation of its failures for callers."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeout
from redis.retry import Retry

from shared.core.errors import Unavailable
from shared.core.logs import get_logger

log = get_logger(__name__)


def connect_redis(url: str) -> redis.Redis:
    """Creates a thread-safe client that replaces a stale connection and repeats the command.

    A command that timed out is not repeated: a Redis that hangs would hold its callers twice as
    long.
    """
    return redis.Redis.from_url(
        url,
        socket_timeout=5,
        socket_connect_timeout=2,
        health_check_interval=30,
        retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    )


@contextmanager
def unavailable_when_redis_is_gone() -> Iterator[None]:
    """Raises `Unavailable` if Redis is down, loading, full or read-only."""
    try:
        yield
    except (RedisConnectionError, RedisTimeout, ReadOnlyError) as error:
        log.warning("redis_unavailable", reason=type(error).__name__)
        raise Unavailable("Redis is unavailable", code="redis_unavailable") from error
    except OutOfMemoryError as error:
        log.warning("redis_unavailable", reason="maxmemory")
        raise Unavailable("Redis is full", code="redis_unavailable") from error
    except ResponseError as error:
        # Redis cannot save to disk and refuses writes until it can.
        if not str(error).startswith("MISCONF"):
            raise
        log.warning("redis_unavailable", reason="MISCONF")
        raise Unavailable("the queue is full", code="redis_unavailable") from error
