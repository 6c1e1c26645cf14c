"""Assigns the records of all organizations, in turns."""

import time
from bisect import bisect_right
from typing import Any

import redis

from shared.foundation.core.ids import new_request_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.jobs import ASSIGN_RECORDS, PERSIST_EVENTS
from shared.intake.otlp import stream
from shared.intake.otlp.assignment import waiting
from shared.intake.otlp.assignment.lease import LEASE_SECS, Lease, LeaseLost
from shared.intake.otlp.assignment.rules import OrganizationRules
from shared.intake.otlp.assignment.turn import take_turn

# An assigner gives its thread back after this time and sends a nudge for its successor.
RUN_SECS = 5.0
# Rounds are this far apart while they find little, because many small ones cost more.
GATHER_SECS = 0.1
# The rest is in the hands of another assigner, or a store is down: look again after this time.
AGAIN_SECS = 1.0


class Assigner:
    """One run of the assignment."""

    def __init__(self, runtime: Runtime, rules_of: OrganizationRules) -> None:
        self._runtime = runtime
        self._redis = runtime.redis
        self._rules_of = rules_of
        # The organization that was served last; starts at random, so that none is always first.
        self._last_served = new_request_id()
        self._turns = 0

    def run(self) -> int:
        """Assigns records, for a few seconds at most; returns the number of events.

        Sees to it that the records that go on waiting are looked at in time. Raises `Unavailable`
        if a store is down.
        """
        queue = self._runtime.queue
        queue.nudged(ASSIGN_RECORDS)
        # If this process is killed, another one looks when the leases have ended.
        queue.nudge_in(ASSIGN_RECORDS, LEASE_SECS)
        try:
            with unavailable_when_redis_is_gone():
                return self._run()
        finally:
            self._look_again()

    def _run(self) -> int:
        ends = time.monotonic() + RUN_SECS
        events = 0
        while work := self._work():
            is_full = False
            for org_id, shards in self._in_turn(work):
                made, has_more = self._serve(org_id, shards)
                events, is_full = events + made, is_full or has_more
                if time.monotonic() > ends:
                    self._runtime.queue.nudge(ASSIGN_RECORDS)
                    return events
            if is_full:
                # There is more than one turn takes, so another assigner may help.
                self._runtime.queue.nudge(ASSIGN_RECORDS)
            else:
                time.sleep(GATHER_SECS)
        return events

    def _work(self) -> dict[str, list[int]]:
        """Returns the organizations with records to look at, and their shards."""
        self._now_ms = now_ms(self._redis)
        shards: dict[str, list[int]] = {}
        found = {*stream.active(self._redis), *waiting.due_shards(self._redis, self._now_ms)}
        for org_id, shard in sorted(found):
            shards.setdefault(org_id, []).append(shard)
        return shards

    def _in_turn(self, work: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
        """Returns the organizations, starting after the last one served."""
        org_ids = list(work)
        turn = bisect_right(org_ids, self._last_served)
        return [(org_id, work[org_id]) for org_id in org_ids[turn:] + org_ids[:turn]]

    def _serve(self, org_id: str, shards: list[int]) -> tuple[int, bool]:
        """Takes a turn of an organization; returns its events and whether there is more."""
        self._last_served = org_id
        # A full turn reads the first shards only, so each turn begins with another one.
        self._turns += 1
        first = self._turns % len(shards)
        held = Lease(self._redis, org_id)
        try:
            taken = take_turn(
                self._runtime,
                held,
                shards[first:] + shards[:first],
                self._rules_of,
                self._now_ms,
            )
        except LeaseLost:
            return 0, False
        finally:
            held.release()
        if taken.events:
            self._runtime.queue.nudge(PERSIST_EVENTS)
        return taken.events, taken.is_full

    def _look_again(self) -> None:
        """Wakes an assigner for records that are left, and for the next moment."""
        with unavailable_when_redis_is_gone():
            moment = waiting.next_moment(self._redis)
            if stream.active(self._redis):
                self._runtime.queue.nudge_in(ASSIGN_RECORDS, AGAIN_SECS)
            elif moment is not None:
                secs = (moment - now_ms(self._redis)) / 1000
                self._runtime.queue.nudge_in(ASSIGN_RECORDS, max(secs, 0.0))


def now_ms(client: redis.Redis) -> int:
    """Returns the time of Redis in milliseconds."""
    clock: Any = client.time()
    seconds, microseconds = clock
    return int(seconds) * 1000 + int(microseconds) // 1000
