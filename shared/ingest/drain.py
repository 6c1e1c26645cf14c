"""Moves accepted batches from Redis into ClickHouse: many entries an insert, organizations in turn.

An entry is removed from Redis only after ClickHouse has its events and PostgreSQL knows which
sessions they belong to. Whatever breaks before that, the entry is read again, by this worker or by
another, and storing an event a second time changes nothing.
"""

import time
from collections.abc import Callable, Sequence

import redis

from shared.errors import Unavailable
from shared.events.rows import Windows
from shared.ingest import stream
from shared.ingest.block import Block
from shared.ingest.jobs import PERSIST_EVENTS
from shared.ingest.persist import persist
from shared.logs import get_logger
from shared.queue import unavailable_when_redis_is_gone
from shared.runtime import Runtime

log = get_logger(__name__)

# A drain gives its thread back after this long and sends its own successor.
DRAIN_SECS = 5.0
# Entries are about a megabyte at most, so a read is bounded to 32 MiB of packed events.
READ_ENTRIES = 32
# While a store is down the stream is left alone for this long, so that entries do not all pass
# into the hands of drains that fail.
PAUSE_KEY = "ingest:paused"
PAUSE_MS = 2000

Rotation = Callable[[], Sequence[str]]


class Drain:
    """One run of the drain, under its own name in the consumer group."""

    def __init__(self, runtime: Runtime, consumer: str, window_of: Windows) -> None:
        self._runtime = runtime
        self._redis = runtime.redis
        self._consumer = consumer
        self._window_of = window_of
        self._turn = 0

    def run(self) -> int:
        """Stores what there is, for a few seconds at most; returns how many events.

        Raises `Unavailable` when a store is down; what was read is left for a later drain.
        """
        self._runtime.queue.nudged(PERSIST_EVENTS)
        with unavailable_when_redis_is_gone():
            if self._redis.exists(PAUSE_KEY):
                return 0
            return self._drain()

    def _drain(self) -> int:
        deadline = time.monotonic() + DRAIN_SECS
        stored = self._store(self._abandoned())
        while time.monotonic() < deadline:
            block = self._gather()
            if not block.entries:
                return stored
            if block.is_full:
                # More than this worker can store at once: another one may help.
                self._runtime.queue.nudge(PERSIST_EVENTS)
            stored += self._store(block)
        self._runtime.queue.nudge(PERSIST_EVENTS)
        return stored

    def _abandoned(self) -> Block:
        """What consumers that are gone, or drains that failed, left behind."""
        block = Block()
        idle_ms = int(self._runtime.settings.ingest_claim_idle_secs * 1000)
        for org_id in stream.active_orgs(self._redis):
            if block.is_full:
                break
            for entry in stream.claim_abandoned(
                self._redis, self._consumer, [org_id], idle_ms, READ_ENTRIES
            ):
                block.add(entry)
        return block

    def _gather(self) -> Block:
        """Reads entries of every organization in turn until one insert is full."""
        block = Block()
        while not block.is_full:
            org_ids = self._next_orgs()
            share = max(1, READ_ENTRIES // max(1, len(org_ids)))
            entries = stream.read_new(self._redis, self._consumer, org_ids, share)
            if not entries:
                break
            for entry in entries:
                block.add(entry)
        return block

    def _next_orgs(self) -> list[str]:
        """The next organizations whose turn it is, `READ_ENTRIES` at most."""
        org_ids = stream.active_orgs(self._redis)
        if not org_ids:
            return []
        start = self._turn % len(org_ids)
        chosen = (org_ids[start:] + org_ids[:start])[:READ_ENTRIES]
        self._turn = start + len(chosen)
        return chosen

    def _store(self, block: Block) -> int:
        if not block.entries:
            return 0
        started = time.monotonic()
        try:
            persist(self._runtime, block, self._window_of)
        except Unavailable:
            self._pause()
            raise
        except Exception:
            # Anything unforeseen (a table that is not there, a grant that is missing) may not
            # cost an event: the entries stay, and the log says why they do.
            self._pause()
            raise
        stream.finish(self._redis, block.entries)
        log.info(
            "events_stored",
            events=block.rows,
            entries=len(block.entries),
            orgs=len(block.batches),
            ms=round((time.monotonic() - started) * 1000),
        )
        return block.rows

    def _pause(self) -> None:
        try:
            self._redis.set(PAUSE_KEY, b"1", px=PAUSE_MS)
        except redis.RedisError:
            log.warning("ingest_pause_not_set")
