"""Waits until what a thread wrote is on Redis's disk, and in the memory of its replicas."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.exceptions import ResponseError

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.core.tracing import spans
from shared.foundation.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

_WAIT_MS = 2000
# Errors of a Redis that can never say what is on its disk: it is older than 7.2, or has no
# append-only file.
_CANNOT_SYNC = ("unknown command", "appendonly is disabled")
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


class WriteSync:
    """Waits for the disk, if Redis can report that (7.2 and later), and for `replicas`.

    `disk` and `replicas` are INGEST_SYNC and REDIS_REPLICAS.
    """

    def __init__(self, *, disk: bool, replicas: int = 0) -> None:
        self._disk = disk
        self._replicas = replicas

    @contextmanager
    def covering(self, connection: OwnConnection) -> Iterator[None]:
        """Waits at the end until everything that was written inside is safe.

        It has to be written over `connection`, because Redis answers for a connection's own writes.
        Raises `Unavailable` if the data was not safe in time, or if the connection was replaced
        meanwhile, so that nothing is certain.
        """
        if not (self._disk or self._replicas):
            yield
            return
        with unavailable_when_redis_is_gone():
            connection.refresh()
        before = connection.made
        yield
        if self._disk:
            self._wait_for_disk(connection.client)
        if self._replicas:
            self._wait_for_replicas(connection.client)
        if connection.made != before:
            log.warning("redis_unavailable", reason="the connection was lost after the write")
            raise Unavailable("Redis is unavailable", code="redis_unavailable")

    def _wait_for_disk(self, client: redis.Redis) -> None:
        try:
            # Not in one pipeline with the write: that took 100 ms instead of 0.3.
            with unavailable_when_redis_is_gone(), spans.redis("WAITAOF"):
                synced: Any = client.waitaof(1, 0, _WAIT_MS)
        except ResponseError as error:
            if not any(part in str(error) for part in _CANNOT_SYNC):
                raise
            self._disk = False
            log.warning("ingest_not_synced_to_disk", reason=str(error))
            return
        if synced[0] < 1:
            log.warning("redis_unavailable", reason="the append-only file was not synced in time")
            raise Unavailable("the disk of the queue is too slow", code="redis_unavailable")

    def _wait_for_replicas(self, client: redis.Redis) -> None:
        # Their disks are not waited for: they sync once a second, and report it once a second.
        with unavailable_when_redis_is_gone(), spans.redis("WAIT"):
            reached: Any = client.wait(self._replicas, _WAIT_MS)
        if reached < self._replicas:
            log.warning(
                "redis_unavailable", reason="too few replicas", reached=reached, of=self._replicas
            )
            raise Unavailable("too few replicas of the queue answer", code="redis_unavailable")
