"""Limits how many statements an organization runs at once, over all processes.

The database checks the time and its client between blocks, and some functions, such as regular
expressions, take minutes for one block. A statement whose client is gone keeps its slot until it
has really ended. Otherwise one organization could fill the database with such statements, four at a
time, until no other organization could run any.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import redis

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.errors import RateLimited
from shared.foundation.core.logs import get_logger
from shared.foundation.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

RUNS_AT_ONCE = 4
# Longer than any run: the slot of a killed process is free again after this.
LEASE_MS = 30_000
RETRY_AFTER_SECS = 2
# A statement without an answer may not have reached the database yet: its place is kept for this
# long, whether the database lists it or not.
ARRIVAL_MS = 1000
# For organizations that never run another statement.
_LEFT_KEPT_MS = 24 * 3600 * 1000

_NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# KEYS: the runs that are waited for, and the query ids of the others. One member per run; its score
# is the end of the lease, or the moment from which the database is checked for it, by Redis's own
# clock.
_TAKE = f"""{_NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""
_LEAVE = f"""{_NOW}
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
"""
_LEFT = f"""{_NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)
"""


@dataclass(frozen=True)
class QueryPlaces:
    """A sort of places of an organization, and their number; sorts share no places.

    `what` names the statements that take them, in the plural.
    """

    sort: str
    at_once: int
    what: str = "queries"


OF_PEOPLE = QueryPlaces("queries", RUNS_AT_ONCE)
# Its alerts run one statement at a time; the second place serves while a killed worker's is held.
OF_ALERTS = QueryPlaces("alert-queries", 2)


class Slot:
    """One statement's place among those of its organization."""

    def __init__(self) -> None:
        self.left: tuple[str, int] | None = None

    def leave(self, query_id: str, has_begun: bool) -> None:
        """Reports that nobody waits for a query any more, although it may still run.

        `has_begun` tells whether its answer has begun.
        """
        self.left = (query_id, 0 if has_begun else ARRIVAL_MS)


class QuerySlots:
    """The places for statements of an organization, kept in Redis."""

    def __init__(
        self, client: redis.Redis, clickhouse: ClickHouse, places: QueryPlaces = OF_PEOPLE
    ) -> None:
        """Prepares the slots.

        `clickhouse` belongs to a user that can list all running statements.
        """
        self._redis = client
        self._clickhouse = clickhouse
        self._places = places
        self._take = client.register_script(_TAKE)
        self._leave = client.register_script(_LEAVE)
        self._left = client.register_script(_LEFT)

    @contextmanager
    def hold(self, org_id: str) -> Iterator[Slot]:
        """Holds a slot during the block, and after it until a statement that was left has ended.

        Raises `RateLimited` while all are taken, and `Unavailable` without Redis, or without
        ClickHouse if it has to be asked.
        """
        sort = self._places.sort
        running, left = f"{sort}:running:{org_id}", f"{sort}:left:{org_id}"
        run, slot = uuid.uuid4().hex, Slot()
        with unavailable_when_redis_is_gone():
            taken = self._takes(running, left, run) or (
                self._forget_ended(left) and self._takes(running, left, run)
            )
        if not taken:
            raise RateLimited(
                f"an organization can run {self._places.at_once} {self._places.what} at once",
                code=f"too_many_{self._places.what}",
                retry_after_secs=RETRY_AFTER_SECS,
            )
        try:
            yield slot
        finally:
            self._free(running, left, run, slot)

    def _takes(self, running: str, left: str, run: str) -> bool:
        return bool(self._take(keys=[running, left], args=[run, self._places.at_once, LEASE_MS]))

    def _forget_ended(self, left: str) -> bool:
        """Returns whether statements that were left have ended; then their places are free."""
        query_ids = [one.decode() for one in self._left(keys=[left])]
        if not query_ids:
            return False
        processes = self._clickhouse.layout.everywhere("system.processes")
        rows = self._clickhouse.rows(
            f"SELECT initial_query_id FROM {processes}"
            " WHERE initial_query_id IN {query_ids:Array(String)}",
            {"query_ids": query_ids},
        )
        ended = set(query_ids).difference(query_id for (query_id,) in rows)
        return bool(ended) and bool(self._redis.zrem(left, *ended))

    def _free(self, running: str, left: str, run: str, slot: Slot) -> None:
        try:
            if slot.left is not None:
                self._leave(keys=[left], args=[*slot.left, _LEFT_KEPT_MS])
            self._redis.zrem(running, run)
        except redis.RedisError as error:
            # The lease expires by itself, and the answer matters more than the slot.
            log.warning("redis_unavailable", reason=type(error).__name__)
