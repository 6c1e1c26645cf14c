"""Answers that many requests repeat, kept in Redis for a short time."""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import msgspec
import redis

from shared.foundation.core.clock import now, to_us
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")


def remembered(
    client: redis.Redis, key: str, kind: type[T], fresh: timedelta, answer: Callable[[], T]
) -> T:
    """Returns what `answer` returned to any process less than `fresh` ago, else calls it.

    Without Redis it is called every time: the cache only saves time.
    """
    try:
        cached = client.get(key)
        if isinstance(cached, bytes):
            return msgspec.json.decode(cached, type=kind)
    except redis.RedisError as error:
        log.warning("cache_unavailable", key=key, reason=type(error).__name__)
    # Starts before the answer is made, so that none is shown for longer than announced.
    until = now() + fresh
    value = answer()
    try:
        client.set(key, msgspec.json.encode(value), pxat=to_us(until) // 1000)
    except redis.RedisError as error:
        log.warning("cache_unavailable", key=key, reason=type(error).__name__)
    return value
