"""How many statements an organization runs at once, over all processes.

The database looks at the time and at its client between blocks, and some functions, a regular
expression among them, take minutes for one. A statement that nobody waits for any more keeps its
slot until it has really ended: else one organization could fill the database with such statements,
four at a time, until nobody else's ran.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import redis

from shared.clickhouse import ClickHouse
from shared.core.errors import RateLimited
from shared.core.logs import get_logger
from shared.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

RUNS_AT_ONCE = 4
# Longer than any run: what a killed process held is free again after this.
LEASE_MS = 30_000
RETRY_AFTER_SECS = 2
# A statement that has not begun to answer may not have come to the database yet: its place is kept
# for so long, whether it is found there or not.
ARRIVAL_MS = 1000
# For organizations that never ask again.
_LEFT_KEPT_MS = 24 * 3600 * 1000

_NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# KEYS: runs that are waited for, and the query ids of those that are not. A member a run, its score
# when the lease ends, or from when on it is looked for, by Redis's own clock.
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
class Places:
    """Of what sort an organization's places are, and how many it has; sorts do not share any.

    `what` takes them, in the plural.
    """

    sort: str
    at_once: int
    what: str = "queries"


OF_PEOPLE = Places("queries", RUNS_AT_ONCE)
# Its alerts run one statement at a time; the second place is for while a killed worker's is held.
OF_ALERTS = Places("alert-queries", 2)


class Slot:
    """One statement's place among those of its organization."""

    def __init__(self) -> None:
        self.left: tuple[str, int] | None = None

    def leave(self, query_id: str, has_begun: bool) -> None:
        """Says that nobody waits any more for a query, which may still run.

        `has_begun`: to answer.
        """
        self.left = (query_id, 0 if has_begun else ARRIVAL_MS)


class Slots:
    """Places for statements of an organization, kept in Redis."""

    def __init__(
        self, client: redis.Redis, clickhouse: ClickHouse, places: Places = OF_PEOPLE
    ) -> None:
        """`clickhouse` is asked which statements still run: the user that sees all of them."""
        self._redis = client
        self._clickhouse = clickhouse
        self._places = places
        self._take = client.register_script(_TAKE)
        self._leave = client.register_script(_LEAVE)
        self._left = client.register_script(_LEFT)

    @contextmanager
    def hold(self, org_id: str) -> Iterator[Slot]:
        """A slot for as long as the block runs, and where it is left until the statement ended.

        Raises `RateLimited` while all are taken, `Unavailable` without Redis, or without ClickHouse
        where that has to be asked.
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
                f"an organization runs {self._places.at_once} {self._places.what} at once",
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
        """Whether statements that were left have ended; their places are free then."""
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
            # The lease ends by itself, and the answer is worth more than the slot.
            log.warning("redis_unavailable", reason=type(error).__name__)
