"""The Redis client of a process, and what its failures mean to a caller."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeout
from redis.retry import Retry

from shared.errors import Unavailable
from shared.logs import get_logger

log = get_logger(__name__)


def connect_redis(url: str) -> redis.Redis:
    """A thread-safe client; a connection that went stale is replaced and the command sent again."""
    return redis.Redis.from_url(
        url,
        socket_timeout=5,
        socket_connect_timeout=2,
        health_check_interval=30,
        retry=Retry(NoBackoff(), 1),
    )


@contextmanager
def unavailable_when_redis_is_gone() -> Iterator[None]:
    """Raises `Unavailable` in place of Redis being down, loading, full or read-only."""
    try:
        yield
    except (RedisConnectionError, RedisTimeout, ReadOnlyError) as error:
        log.warning("redis_unavailable", reason=type(error).__name__)
        raise Unavailable("the queue is unavailable", code="redis_unavailable") from error
    except ResponseError as error:
        if not str(error).startswith(("OOM", "LOADING", "MISCONF")):
            raise
        log.warning("redis_unavailable", reason=str(error).partition(" ")[0])
        raise Unavailable("the queue is full", code="redis_unavailable") from error
