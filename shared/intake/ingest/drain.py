"""Moves accepted batches from Redis into ClickHouse: many entries per insert, in turns.

An entry is removed from Redis only after ClickHouse has its events and PostgreSQL has their
sessions. After any failure before that the entry is read again, by this worker or another one, and
storing an event a second time changes nothing.
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence

import redis

from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import (
    BATCH_EVENTS,
    INSERT_FAILURES,
    INSERT_SECS,
    STORED,
)
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.jobs import PERSIST_EVENTS
from shared.foundation.queue.waiting import orgs_with_events
from shared.intake.ingest import stream
from shared.intake.ingest.block import IngestBlock
from shared.intake.ingest.persist import RulesLookup, persist
from shared.intake.ingest.receipts import count_stored
from shared.intake.ingest.stream import StreamEntry

log = get_logger(__name__)

# A drain gives its thread back after this time and sends a nudge for its successor.
DRAIN_SECS = 5.0
# Entries are about a megabyte at most, so a read is limited to 32 MiB of packed events.
READ_ENTRIES = 32
# While events keep arriving, one drain does all reads, this far apart unless there is enough for an
# insert earlier: an insert costs ClickHouse about the same for a thousand rows as for ten thousand,
# and every part has to be merged. At 20,000 events a second ClickHouse took 0.9 cores with reads
# 0.25 s apart by two drains, and 0.4 with reads 0.5 s apart by one.
GATHER_SECS = 0.7
_LOOK_SECS = 0.1
# Set while a drain keeps up with arrivals, so that other drains do not start. It expires by itself
# if the drain is killed, or hangs in a store.
KEEPS_UP_KEY = "ingest:keeps_up"
KEEPS_UP_MS = 1500
# While a store is down the stream is left alone for this long, so that failing drains do not claim
# all entries.
PAUSE_KEY = "ingest:paused"
PAUSE_MS = 2000
# The log line of an insert names at most this many requests, so that their effects can be found.
MAX_LOGGED = 100


class Drain:
    """One run of the drain, under its own name in the consumer group."""

    def __init__(self, runtime: Runtime, consumer: str, rules_of: RulesLookup) -> None:
        self._runtime = runtime
        self._redis = runtime.redis
        self._consumer = consumer
        self._rules_of = rules_of
        # The organization that was served last; starts at random, so that none is always first.
        self._last_served = new_request_id()

    def run(self) -> int:
        """Stores waiting events, for a few seconds at most; returns the number of events.

        Raises `Unavailable` if a store is down; a later drain stores the entries that were read.
        """
        self._runtime.queue.nudged(PERSIST_EVENTS)
        with unavailable_when_redis_is_gone():
            if self._redis.exists(PAUSE_KEY, KEEPS_UP_KEY):
                return 0
            return self._drain()

    def _drain(self) -> int:
        deadline = time.monotonic() + DRAIN_SECS
        stored = 0
        for read in (self._abandoned, self._new):
            began = time.monotonic()
            while block := read() or self._read_again(read):
                if time.monotonic() > deadline:
                    self._call_others()
                    return stored + self._store(block)
                if block.is_full:
                    # There is more than this worker can store at once, so another one may help.
                    self._call_others()
                    stored += self._store(block)
                else:
                    self._redis.set(KEEPS_UP_KEY, b"1", px=KEEPS_UP_MS)
                    stored += self._store(block)
                    self._gather_until(began + GATHER_SECS)
                began = time.monotonic()
        return stored

    def _read_again(self, read: Callable[[], IngestBlock]) -> IngestBlock:
        """Lets others drain again, then reads entries that came before they could notice."""
        return read() if self._redis.delete(KEEPS_UP_KEY) else IngestBlock()

    def _call_others(self) -> None:
        self._redis.delete(KEEPS_UP_KEY)
        self._runtime.queue.nudge(PERSIST_EVENTS)

    def _gather_until(self, moment: float) -> None:
        """Waits while entries arrive, until `moment` or until they are enough for an insert."""
        while 0 < stream.waiting(self._redis) < READ_ENTRIES:
            left = moment - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, _LOOK_SECS))

    def _abandoned(self) -> IngestBlock:
        """Reads the entries that dead consumers or failed drains left behind."""
        idle_ms = int(self._runtime.settings.ingest_claim_idle_secs * 1000)
        return self._gather(
            lambda org_ids, count: stream.claim_abandoned(
                self._redis, self._consumer, org_ids, idle_ms, count
            )
        )

    def _new(self) -> IngestBlock:
        """Reads entries that no consumer has read yet."""
        return self._gather(
            lambda org_ids, count: stream.read_new(self._redis, self._consumer, org_ids, count)
        )

    def _gather(self, read: Callable[[Sequence[str], int], list[StreamEntry]]) -> IngestBlock:
        """Reads entries of every organization in turn until one insert is full, or none is left."""
        block = IngestBlock()
        org_ids = self._in_turn()
        share = max(1, READ_ENTRIES // max(1, len(org_ids)))
        found = bool(org_ids)
        # On a machine that is so slow that entries become idle again meanwhile, they are claimed
        # twice.
        taken: set[tuple[str, bytes]] = set()
        while found:
            found = False
            for start in range(0, len(org_ids), READ_ENTRIES):
                served = org_ids[start : start + READ_ENTRIES]
                for entry in read(served, share):
                    if (entry.org_id, entry.entry_id) not in taken:
                        taken.add((entry.org_id, entry.entry_id))
                        block.add(entry)
                        found = True
                self._last_served = served[-1]
                if block.is_full:
                    return block
        return block

    def _in_turn(self) -> list[str]:
        """Returns the organizations that have entries, starting after the last one served."""
        org_ids = orgs_with_events(self._redis)
        turn = bisect_right(org_ids, self._last_served)
        return org_ids[turn:] + org_ids[:turn]

    def _store(self, block: IngestBlock) -> int:
        attributes: dict[str, spans.Value] = {
            "messaging.system": "redis",
            "messaging.operation.type": "process",
            "messaging.batch.message_count": len(block.entries),
            "watchpost.events": block.rows,
        }
        if len(block.slugs) == 1:
            [attributes[spans.ORGANIZATION]] = block.slugs
        with spans.work(
            PERSIST_EVENTS.actor, kind="consumer", attributes=attributes, causes=block.causes
        ):
            return self._store_all(block)

    def _store_all(self, block: IngestBlock) -> int:
        started = time.monotonic()
        try:
            persist(self._runtime, block, self._rules_of)
        except Exception:
            # No failure may lose an event: a store that is down, a missing table or a missing
            # grant. The entries stay, and the log has the reason.
            INSERT_FAILURES.add(1)
            self._pause()
            raise
        stream.finish(self._redis, block.entries)
        count_stored(self._redis, block.entries)
        secs = time.monotonic() - started
        STORED.add(block.rows)
        BATCH_EVENTS.observe(block.rows)
        INSERT_SECS.observe(secs)
        log.info(
            "events_stored",
            events=block.rows,
            entries=len(block.entries),
            orgs=len(block.batches),
            request_ids=block.request_ids[:MAX_LOGGED],
            ms=round(secs * 1000),
        )
        return block.rows

    def _pause(self) -> None:
        try:
            self._redis.set(PAUSE_KEY, b"1", px=PAUSE_MS)
            self._redis.delete(KEEPS_UP_KEY)
        except redis.RedisError:
            log.warning("ingest_pause_not_set")
