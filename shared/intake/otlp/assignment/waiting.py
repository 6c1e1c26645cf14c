"""The records that wait for others, in Redis; grouped by trace, so that one look assigns them.

- `otlp:waiting:<organization>:<shard>`, a hash: the encoded records by trace.
- `otlp:due:<organization>:<shard>` and `otlp:since:<organization>:<shard>`, sorted sets: the traces
  by the moment at which their records wait no longer, and by the arrival of the oldest.
- `otlp:moments`, a sorted set: the shards by the first of these moments.

They are written in the transaction that removes the records from their stream, or that adds their
events, so a record is always in exactly one of them. All moments are milliseconds of Redis's clock.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import redis
from redis.client import Pipeline

from shared.foundation.queue.waiting import MOMENTS_KEY, SHARDS, since_key, waiting_key
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.cutting import part_of
from shared.intake.otlp.records import LogRecord, Records, Span

_SCHEDULE = """
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if first[1] then
    redis.call('ZADD', KEYS[2], first[2], ARGV[1])
else
    redis.call('ZREM', KEYS[2], ARGV[1])
end
"""


class WaitingTrace(msgspec.Struct, array_like=True, gc=False):
    """The waiting records of a trace, each part with the moment of its arrival."""

    org_slug: str
    parts: list[tuple[int, Records]]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(WaitingTrace).decode


def due_key(org_id: str, shard: int) -> str:
    """Returns the key of the moments of a shard's traces."""
    return f"otlp:due:{org_id}:{shard}"


def due_shards(client: redis.Redis, now_ms: int) -> list[tuple[str, int]]:
    """Returns the organizations and shards with records whose moment has come."""
    members: Any = client.zrangebyscore(MOMENTS_KEY, "-inf", now_ms)
    pairs = (member.decode().rpartition(":") for member in members)
    return [(org_id, int(shard)) for org_id, _, shard in pairs]


def next_moment(client: redis.Redis) -> float | None:
    """Returns the first moment at which a record waits no longer."""
    first: Any = client.zrange(MOMENTS_KEY, 0, 0, withscores=True)
    return first[0][1] if first else None


def due_traces(
    client: redis.Redis, org_id: str, shards: Sequence[int], now_ms: int, count: int
) -> dict[str, int]:
    """Returns traces whose moment has come with their shards, `count` of each shard at most."""
    with client.pipeline(transaction=False) as pipe:
        for shard in shards:
            pipe.zrangebyscore(due_key(org_id, shard), "-inf", now_ms, start=0, num=count)
        found = pipe.execute()
    return {
        trace.decode(): shard
        for shard, traces in zip(shards, found, strict=True)
        for trace in traces
    }


def take(
    client: redis.Redis, org_id: str, traces: Mapping[str, int]
) -> tuple[str | None, dict[str, list[Item]]]:
    """Reads the waiting records of traces, which are given with their shards.

    Returns the slug of the organization, None if nothing waits, and the items by trace.
    """
    by_shard: dict[int, list[str]] = {}
    for trace_id, shard in traces.items():
        by_shard.setdefault(shard, []).append(trace_id)
    with client.pipeline(transaction=False) as pipe:
        for shard, ids in by_shard.items():
            pipe.hmget(waiting_key(org_id, shard), ids)
        found = pipe.execute()
    slug: str | None = None
    items: dict[str, list[Item]] = {}
    for ids, values in zip(by_shard.values(), found, strict=True):
        for trace_id, value in zip(ids, values, strict=True):
            if value is not None:
                waiting = _decode(value)
                slug = waiting.org_slug
                items[trace_id] = [
                    Item(record, part, since_ms)
                    for since_ms, part in waiting.parts
                    for record in part.all()
                ]
    return slug, items


class Changes:
    """The changes to what waits in one shard."""

    def __init__(self, org_id: str, org_slug: str, shard: int) -> None:
        self._org_id, self._org_slug, self._shard = org_id, org_slug, shard
        self._kept: dict[str, bytes] = {}
        self._due: dict[str, int] = {}
        self._since: dict[str, int] = {}
        self._gone: list[str] = []

    def keep(self, trace_id: str, items: Sequence[Item], due_ms: int) -> None:
        """Lets these records of a trace wait, and no others."""
        self._kept[trace_id] = _encode(WaitingTrace(self._org_slug, list(_parts(items))))
        self._due[trace_id] = due_ms
        self._since[trace_id] = min(item.since_ms for item in items)

    def forget(self, trace_id: str) -> None:
        """Lets no record of a trace wait any longer."""
        self._gone.append(trace_id)

    def write(self, pipe: Pipeline) -> None:
        """Adds the commands to a transaction."""
        keys = [key(self._org_id, self._shard) for key in (waiting_key, due_key, since_key)]
        if self._kept:
            pipe.hset(keys[0], mapping=self._kept)  # type: ignore[arg-type] # names are text
            pipe.zadd(keys[1], self._due)
            pipe.zadd(keys[2], self._since)
        if self._gone:
            pipe.hdel(keys[0], *self._gone)
            pipe.zrem(keys[1], *self._gone)
            pipe.zrem(keys[2], *self._gone)
        if self._kept or self._gone:
            pipe.eval(_SCHEDULE, 2, keys[1], MOMENTS_KEY, f"{self._org_id}:{self._shard}")


def put_back(pipe: Pipeline, org_id: str, shard: int, trace_id: str, packed: bytes) -> None:
    """Adds the commands that let records of a backup wait again; their wait is over at once.

    `packed` is the value of the hash. `schedule` announces them.
    """
    since_ms = min(received for received, _ in _decode(packed).parts)
    pipe.hset(waiting_key(org_id, shard), trace_id, packed)
    pipe.zadd(due_key(org_id, shard), {trace_id: since_ms})
    pipe.zadd(since_key(org_id, shard), {trace_id: since_ms})


def is_readable(packed: bytes) -> bool:
    """Returns whether `put_back` and `take` can use a value of the hash."""
    try:
        parts = _decode(packed).parts
        items = [Item(record, part, since) for since, part in parts for record in part.all()]
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return bool(items) and all(item.since_ms >= 0 for item in items)


def schedule(client: redis.Redis, org_id: str, shard: int) -> None:
    """Notes the first moment at which a record of a shard waits no longer."""
    client.eval(_SCHEDULE, 2, due_key(org_id, shard), MOMENTS_KEY, f"{org_id}:{shard}")


def renamed(packed: bytes, org_slug: str) -> bytes:
    """Returns a value of the hash for another slug."""
    return _encode(WaitingTrace(org_slug, _decode(packed).parts))


def remove_all(client: redis.Redis, org_id: str) -> int:
    """Removes an organization's waiting records for good; returns the number of their traces."""
    with client.pipeline(transaction=True) as pipe:
        for shard in range(SHARDS):
            pipe.hlen(waiting_key(org_id, shard))
        for shard in range(SHARDS):
            pipe.unlink(*(key(org_id, shard) for key in (waiting_key, due_key, since_key)))
            pipe.zrem(MOMENTS_KEY, f"{org_id}:{shard}")
        return sum(pipe.execute()[:SHARDS])


def _parts(items: Iterable[Item]) -> Iterable[tuple[int, Records]]:
    """Returns the records of items, with those together that arrived together."""
    together: dict[tuple[int, int], list[Item]] = {}
    for item in items:
        together.setdefault((id(item.source), item.since_ms), []).append(item)
    for (_, since_ms), same in together.items():
        sent = [item.sent for item in same]
        spans = [record for record in sent if isinstance(record, Span)]
        logs = [record for record in sent if isinstance(record, LogRecord)]
        yield since_ms, part_of(same[0].source, spans, logs)
