"""Waits until what a thread wrote is on Redis's disk."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.exceptions import ResponseError

from shared.core.errors import Unavailable
from shared.core.logs import get_logger
from shared.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

_WAIT_MS = 2000
# A connection that rested longer may have been closed by Redis.
_FRESH_SECS = 1.0


class OwnConnection:
    """A client that sends everything over one connection, pipelines too.

    The pipelines of `redis.Redis.client()` would take another connection of its pool. `made` counts
    how often the connection was made.
    """

    def __init__(self, client: redis.Redis) -> None:
        pool = client.connection_pool
        own = redis.ConnectionPool(
            connection_class=pool.connection_class,
            max_connections=1,
            **pool.connection_kwargs | {"redis_connect_func": self._connect},
        )
        self.client = redis.Redis(connection_pool=own)
        self.made = 0
        self._used_at = float("-inf")

    def refresh(self) -> None:
        """Makes the connection if it is not there, or may be gone."""
        if time.monotonic() - self._used_at > _FRESH_SECS:
            self.client.ping()
        self._used_at = time.monotonic()

    def _connect(self, connection: Any) -> None:
        self.made += 1
        connection.on_connect()


class DiskSync:
    """Waits for the disk, if Redis can report that (7.2 and later)."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    @contextmanager
    def covering(self, connection: OwnConnection) -> Iterator[None]:
        """Waits at the end until the append-only file has everything that was written inside.

        It has to be written over `connection`, because Redis answers for a connection's own writes.
        Raises `Unavailable` if the data was not on disk in time, or if the connection was replaced
        meanwhile, so that nothing is certain.
        """
        if not self._enabled:
            yield
            return
        with unavailable_when_redis_is_gone():
            connection.refresh()
        before = connection.made
        yield
        try:
            # Not in one pipeline with the write: that took 100 ms instead of 0.3.
            with unavailable_when_redis_is_gone():
                synced: Any = connection.client.waitaof(1, 0, _WAIT_MS)
        except ResponseError as error:
            # Redis before 7.2 does not have this command, and a Redis without an append-only file
            # refuses it.
            self._enabled = False
            log.warning("ingest_not_synced_to_disk", reason=str(error))
            return
        if connection.made != before:
            log.warning("redis_unavailable", reason="the connection was lost after the write")
            raise Unavailable("Redis is unavailable", code="redis_unavailable")
        if synced[0] < 1:
            log.warning("redis_unavailable", reason="the append-only file was not synced in time")
            raise Unavailable("the disk of the queue is too slow", code="redis_unavailable")
