"""The streams of records in Redis that have not become events yet: a few per organization.

An entry stays in its stream until everything of it is in the stream of events, or waits in a
smaller entry. So these streams are a part of the backlog.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import redis
from redis.client import Pipeline

from shared.foundation.core.logs import current_request_id
from shared.foundation.core.tracing import spans
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.waiting import RECORDS_ACTIVE, SHARDS, record_stream
from shared.intake.otlp.cutting import entries_of
from shared.intake.otlp.records import Records
from shared.intake.receipts.receipt import Receipt

# Unlists a stream only if it is empty, in one step, because a request may be adding to it.
_UNLIST_IF_EMPTY = """
if redis.call('XLEN', KEYS[1]) == 0 then return redis.call('SREM', KEYS[2], ARGV[1]) end
return 0
"""


@dataclass(frozen=True)
class Entry:
    """One entry as read: its position, its organization, its shard and its encoded records."""

    org_id: str
    shard: int
    entry_id: bytes
    org_slug: str
    data: bytes
    request_id: str | None
    traceparent: str | None = None


def stream_keys(org_id: str) -> list[str]:
    """Returns all streams of an organization."""
    return [record_stream(org_id, shard) for shard in range(SHARDS)]


def append(
    client: redis.Redis,
    org_id: str,
    org_slug: str,
    records: Records,
    receipt: Receipt | None = None,
) -> int:
    """Adds records to their organization's streams, all or none; returns the bytes added.

    The receipt is counted in the same write. The records are moved and must not be used afterwards.
    Raises `Unavailable` if Redis did not accept them.
    """
    entries = list(entries_of(records))
    request_id = current_request_id() or ""
    with unavailable_when_redis_is_gone(), client.pipeline(transaction=True) as pipe:
        for shard, data in entries:
            add(pipe, org_id, org_slug, shard, data, request_id)
        if receipt is not None:
            receipt.add_to(pipe, org_id)
        with spans.redis("XADD"):
            pipe.execute()
    return sum(len(data) for _, data in entries)


def add(
    pipe: Pipeline, org_id: str, org_slug: str, shard: int, data: bytes, request_id: str
) -> None:
    """Adds the commands for one more entry to a pipeline."""
    fields: dict[Any, Any] = {"slug": org_slug, "data": data, "request_id": request_id}
    if (traceparent := spans.traceparent()) is not None:
        fields["traceparent"] = traceparent
    pipe.xadd(record_stream(org_id, shard), fields)
    pipe.sadd(RECORDS_ACTIVE, f"{org_id}:{shard}")


def active(client: redis.Redis) -> list[tuple[str, int]]:
    """Returns the organizations and shards that have entries, in a stable order."""
    members: set[bytes] = client.smembers(RECORDS_ACTIVE)  # type: ignore[assignment] # sync client
    pairs = (member.decode().rpartition(":") for member in members)
    return sorted((org_id, int(shard)) for org_id, _, shard in pairs)


def read(
    client: redis.Redis, org_id: str, shard: int, count: int, after: bytes | None = None
) -> list[Entry]:
    """Returns the oldest `count` entries of a stream, or the oldest behind the entry `after`."""
    begin = "-" if after is None else b"(" + after
    messages: Any = client.xrange(record_stream(org_id, shard), min=begin, count=count)
    return [
        Entry(
            org_id=org_id,
            shard=shard,
            entry_id=entry_id,
            org_slug=fields[b"slug"].decode(),
            data=fields[b"data"],
            request_id=fields[b"request_id"].decode() or None,
            traceparent=fields[b"traceparent"].decode() if b"traceparent" in fields else None,
        )
        for entry_id, fields in messages
    ]


def remove(pipe: Pipeline, org_id: str, shard: int, entry_ids: Iterable[bytes]) -> None:
    """Adds the commands to a pipeline that remove entries, and unlist the stream if it is empty."""
    pipe.xdel(record_stream(org_id, shard), *entry_ids)
    keys: Sequence[str] = (record_stream(org_id, shard), RECORDS_ACTIVE)
    pipe.eval(_UNLIST_IF_EMPTY, 2, *keys, f"{org_id}:{shard}")


def remove_all(client: redis.Redis, org_id: str) -> int:
    """Removes an organization's streams for good; returns the number of their entries."""
    keys = stream_keys(org_id)
    with client.pipeline(transaction=True) as pipe:
        for key in keys:
            pipe.xlen(key)
        pipe.unlink(*keys)
        pipe.srem(RECORDS_ACTIVE, *(f"{org_id}:{shard}" for shard in range(SHARDS)))
        return sum(pipe.execute()[: len(keys)])
