"""The ingest streams in Redis: one per organization, read by workers as one consumer group.

An entry stays in its stream until ClickHouse has its events and PostgreSQL the jobs that they
cause. The streams themselves are thus the backlog, and no counter is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis
from redis.exceptions import ResponseError

from shared.core.errors import Unavailable
from shared.core.logs import current_request_id, get_logger
from shared.events.batch import Batch, encode_batch, entries_of
from shared.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

# The organizations that have entries; a stream is listed here as long as it has any.
ACTIVE_KEY = "ingest:active"
GROUP = "persist"
_STREAM_PREFIX = "ingest:events:"
_DISK_WAIT_MS = 2000

# Unlists a stream only if it is empty, in one step, because a collector may be adding to it.
_UNLIST_IF_EMPTY = """
if redis.call('XLEN', KEYS[1]) == 0 then return redis.call('SREM', KEYS[2], ARGV[1]) end
return 0
"""


@dataclass(frozen=True)
class Entry:
    """One entry as read: its position, its organization and its encoded batch."""

    org_id: str
    entry_id: bytes
    org_slug: str
    data: bytes
    request_id: str | None


def stream_key(org_id: str) -> str:
    """Returns the stream of an organization."""
    return _STREAM_PREFIX + org_id


class DiskSync:
    """Waits until written data is on Redis's disk, if Redis can report that (7.2 and later)."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    def wait(self, client: redis.Redis) -> None:
        """Waits until the append-only file has everything that this client wrote.

        `client` must be the single connection that wrote it, because Redis answers for a
        connection's own writes. The call is separate: pipelined with the write it took 100 ms
        instead of 0.3. Raises `Unavailable` if the data was not on disk in time.
        """
        if not self._enabled:
            return
        try:
            with unavailable_when_redis_is_gone():
                synced: Any = client.waitaof(1, 0, _DISK_WAIT_MS)
        except ResponseError as error:
            # Redis before 7.2 does not have this command, and a Redis without an append-only file
            # refuses it.
            self._enabled = False
            log.warning("ingest_not_synced_to_disk", reason=str(error))
            return
        if synced[0] < 1:
            log.warning("redis_unavailable", reason="the append-only file was not synced in time")
            raise Unavailable("the disk of the queue is too slow", code="redis_unavailable")


def append(client: redis.Redis, org_id: str, org_slug: str, batch: Batch) -> int:
    """Adds a batch to its organization's stream, all of it or nothing; returns the bytes added.

    Raises `Unavailable` if Redis did not accept it.
    """
    entries = [encode_batch(piece) for piece in entries_of(batch)]
    request_id = current_request_id() or ""
    with unavailable_when_redis_is_gone(), client.pipeline(transaction=True) as pipe:
        for data in entries:
            fields: dict[Any, Any] = {"slug": org_slug, "data": data, "request_id": request_id}
            pipe.xadd(stream_key(org_id), fields)
        pipe.sadd(ACTIVE_KEY, org_id)
        pipe.execute()
    return sum(map(len, entries))


def active_orgs(client: redis.Redis) -> list[str]:
    """Returns the organizations that have entries, in a stable order."""
    members: set[bytes] = client.smembers(ACTIVE_KEY)  # type: ignore[assignment] # sync client
    return sorted(member.decode() for member in members)


def waiting(client: redis.Redis) -> int:
    """Counts the entries of all streams, including those that a consumer holds."""
    with client.pipeline(transaction=False) as pipe:
        for org_id in active_orgs(client):
            pipe.xlen(stream_key(org_id))
        return sum(pipe.execute())


def read_new(client: redis.Redis, consumer: str, org_ids: Sequence[str], count: int) -> list[Entry]:
    """Reads up to `count` entries of each organization that no consumer has seen."""
    if not org_ids:
        return []
    streams: dict[Any, Any] = {stream_key(org_id): ">" for org_id in org_ids}
    try:
        answer: Any = client.xreadgroup(GROUP, consumer, streams, count=count)
    except ResponseError as error:
        if not str(error).startswith("NOGROUP"):
            raise
        _create_groups(client, org_ids)
        answer = client.xreadgroup(GROUP, consumer, streams, count=count)
    pairs = answer.items() if isinstance(answer, dict) else answer or []
    return [
        entry
        for key, messages in pairs
        for entry in _entries(key.decode().removeprefix(_STREAM_PREFIX), _flat(messages))
    ]


def claim_abandoned(
    client: redis.Redis, consumer: str, org_ids: Sequence[str], idle_ms: int, count: int
) -> list[Entry]:
    """Claims entries that another consumer read `idle_ms` ago and never finished."""
    claimed: list[Entry] = []
    for org_id in org_ids:
        try:
            answer: Any = client.xautoclaim(
                stream_key(org_id), GROUP, consumer, idle_ms, count=count
            )
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            _create_groups(client, [org_id])
            continue
        claimed += _entries(org_id, answer[1])
    return claimed


def finish(client: redis.Redis, entries: Sequence[Entry]) -> None:
    """Removes entries whose events are stored, and unlists streams that are now empty."""
    ids: dict[str, list[bytes]] = {}
    for entry in entries:
        ids.setdefault(entry.org_id, []).append(entry.entry_id)
    with client.pipeline(transaction=False) as pipe:
        for org_id, entry_ids in ids.items():
            pipe.xack(stream_key(org_id), GROUP, *entry_ids)
            pipe.xdel(stream_key(org_id), *entry_ids)
            pipe.eval(_UNLIST_IF_EMPTY, 2, stream_key(org_id), ACTIVE_KEY, org_id)
        pipe.execute()


def forget_dead_consumers(client: redis.Redis, idle_ms: int) -> int:
    """Deletes idle consumers (for `idle_ms`) that hold no entries; returns the number."""
    dropped = 0
    for key in client.scan_iter(match=_STREAM_PREFIX + "*", count=1000):
        try:
            consumers: Any = client.xinfo_consumers(key, GROUP)
        except ResponseError:
            # There is no group yet, or the key is gone since the scan: there is nothing to tidy.
            continue
        for consumer in consumers:
            if consumer["pending"] == 0 and consumer["idle"] > idle_ms:
                client.xgroup_delconsumer(key, GROUP, consumer["name"])
                dropped += 1
    return dropped


def remove(client: redis.Redis, org_id: str) -> int:
    """Removes an organization's stream for good; returns the number of its entries."""
    with client.pipeline(transaction=True) as pipe:
        pipe.xlen(stream_key(org_id))
        pipe.unlink(stream_key(org_id))
        pipe.srem(ACTIVE_KEY, org_id)
        entries, *_ = pipe.execute()
    return int(entries)


def _create_groups(client: redis.Redis, org_ids: Sequence[str]) -> None:
    for org_id in org_ids:
        try:
            client.xgroup_create(stream_key(org_id), GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise


def _flat(messages: Any) -> list[Any]:
    # RESP3 wraps a stream's messages in one more list than RESP2.
    return messages[0] if len(messages) == 1 and isinstance(messages[0], list) else messages


def _entries(org_id: str, messages: Any) -> list[Entry]:
    return [
        Entry(
            org_id=org_id,
            entry_id=entry_id,
            org_slug=fields[b"slug"].decode(),
            data=fields[b"data"],
            request_id=fields[b"request_id"].decode() or None,
        )
        for entry_id, fields in messages
        # A claimed entry that was deleted meanwhile has no fields.
        if fields
    ]
