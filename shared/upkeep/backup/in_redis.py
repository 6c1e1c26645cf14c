"""Accepted data in Redis: batches, records, decisions about traces, dead letters.

Everything moves in one direction: records, waiting records, batches, ClickHouse. The kinds are read
in that order and before the other stores, so what has left one place by the time it is read is
found in a later one. Finding it twice changes nothing.

Not included is what a deployment makes again by itself: messages, moments, leases, caches, the
lines that were not accepted, and limits of sign-in. Receipts are brought into PostgreSQL first.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import redis

from shared.access.organizations import CANARY_ID
from shared.foundation.objects import Objects
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.waiting import (
    EVENTS_ACTIVE,
    RECORDS_ACTIVE,
    SHARDS,
    delayed_key,
    event_stream,
    orgs_with_events,
    orgs_with_records,
    record_stream,
)
from shared.intake.ingest import dead_letters
from shared.intake.otlp import stream as records
from shared.intake.otlp.assignment import waiting
from shared.intake.receipts import flushing
from shared.upkeep.backup.files import BackupWriter, Row, Tell, in_blocks
from shared.upkeep.backup.manifest import BackupTable
from shared.upkeep.backup.redis_rows import (
    BATCHES,
    COLUMNS,
    DEAD,
    DECISIONS,
    RECORDS,
    WAITING,
    fields_of,
    owner_of,
)

_DECISIONS_KEYS = ("otlp:trace:", "otlp:spans:")
_PAGE = 32
_SCAN = 1000


def tables() -> list[BackupTable]:
    """Describes the kinds, in the order in which they are read."""
    return [BackupTable("redis", name, columns) for name, columns in COLUMNS.items()]


def copy_out(
    client: redis.Redis, objects: Objects, table: BackupTable, tell: Tell, org_id: str | None = None
) -> None:
    """Writes everything of a kind, of one organization or of all."""
    writer = BackupWriter(objects, table, tell)
    with unavailable_when_redis_is_gone():
        # An entry can have a megabyte.
        for block in in_blocks(_READERS[table.name](client, org_id), _PAGE):
            writer.add_rows(block)
    writer.finish()


def _records(client: redis.Redis, org_id: str | None) -> Iterator[Row]:
    for org, shard in records.active(client):
        if org_id in (None, org):
            key = record_stream(org, shard)
            for entry_id, fields in _entries(client, key):
                yield key.encode(), entry_id, fields


def _waiting(client: redis.Redis, org_id: str | None) -> Iterator[Row]:
    pattern = f"otlp:waiting:{org_id or '*'}:*"
    for key in client.scan_iter(match=pattern, count=_SCAN):
        org, _, shard = key.decode().removeprefix("otlp:waiting:").rpartition(":")
        for trace_id, packed in client.hscan_iter(key, count=_PAGE):
            yield org.encode(), int(shard), trace_id, packed


def _decisions(client: redis.Redis, org_id: str | None) -> Iterator[Row]:
    for prefix in _DECISIONS_KEYS:
        found = client.scan_iter(match=f"{prefix}{org_id or '*'}:*", count=_SCAN)
        for keys in in_blocks(found, _PAGE):
            with client.pipeline(transaction=False) as pipe:
                for key in keys:
                    pipe.hgetall(key)
                    pipe.pttl(key)
                values = pipe.execute()
            for key, fields, lives_ms in zip(keys, values[::2], values[1::2], strict=True):
                if fields and lives_ms > 0:
                    yield key, lives_ms, [part for pair in fields.items() for part in pair]


def _batches(client: redis.Redis, org_id: str | None) -> Iterator[Row]:
    for org in orgs_with_events(client):
        if org_id in (None, org):
            key = event_stream(org)
            for entry_id, fields in _entries(client, key):
                values = dict(zip(fields[::2], fields[1::2], strict=True))
                delayed = values.get(b"delayed")
                since: Any = delayed and client.zscore(delayed_key(org), delayed)
                yield key.encode(), entry_id, fields, None if since is None else int(since)


def _dead(client: redis.Redis, org_id: str | None) -> Iterator[Row]:
    for entry_id, fields in _entries(client, dead_letters.STREAM_KEY):
        values = dict(zip(fields[::2], fields[1::2], strict=True))
        if org_id in (None, values[b"org_id"].decode()):
            yield dead_letters.STREAM_KEY.encode(), entry_id, fields


_READERS = {
    RECORDS: _records,
    WAITING: _waiting,
    DECISIONS: _decisions,
    BATCHES: _batches,
    DEAD: _dead,
}


def _entries(client: redis.Redis, key: str) -> Iterator[tuple[bytes, list[bytes]]]:
    begin = "-"
    while True:
        page: Any = client.xrange(key, min=begin, count=_PAGE)
        for entry_id, fields in page:
            yield entry_id, [part for pair in fields.items() for part in pair]
        if len(page) < _PAGE:
            return
        begin = f"({page[-1][0].decode()}"


def copy_in(client: redis.Redis, table: BackupTable, rows: Iterator[Row]) -> None:
    """Adds rows of a kind, see `redis_rows`. No worker sees what waits before `activate`.

    Raises `Conflict` for a row that is not of its kind; those before it are stored.
    """
    with unavailable_when_redis_is_gone():
        for some in in_blocks(rows, _PAGE):
            for row in some:
                owner_of(table.name, row)
            with client.pipeline(transaction=False) as pipe:
                for row in some:
                    _add(pipe, table.name, row)
                pipe.execute()


def _add(pipe: Any, kind: str, row: Row) -> None:
    if kind == WAITING:
        org_id, shard, trace_id, packed = row
        waiting.put_back(pipe, org_id.decode(), shard, trace_id.decode(), packed)
        return
    if kind == DECISIONS:
        key, lives_ms, fields = row
        pipe.hset(key, items=fields)
        pipe.pexpire(key, lives_ms)
        return
    key, entry_id, fields = row[:3]
    values = fields_of(fields)
    if kind == BATCHES:
        # The receipt of the request is complete: a lag of days would only distort its figures.
        values.pop(b"receipt", None)
        _delay(pipe, key.decode(), entry_id.decode(), values, row[3])
    # The stream of dead letters is one for all organizations, and may have newer ones.
    pipe.xadd(key, values, id="*" if kind == DEAD else entry_id)


def _delay(
    pipe: Any, key: str, entry_id: str, values: dict[bytes, bytes], since_ms: int | None
) -> None:
    if b"delayed" in values:
        org_id = key.rpartition(":")[2]
        received = int(entry_id.partition("-")[0]) if since_ms is None else since_ms
        pipe.zadd(delayed_key(org_id), {values[b"delayed"]: received})


def activate(client: redis.Redis, org_ids: Sequence[str]) -> None:
    """Lets workers find the batches and records of these organizations."""
    with unavailable_when_redis_is_gone():
        for org_id in org_ids:
            if client.exists(event_stream(org_id)):
                client.sadd(EVENTS_ACTIVE, org_id)
            for shard in range(SHARDS):
                if client.exists(record_stream(org_id, shard)):
                    client.sadd(RECORDS_ACTIVE, f"{org_id}:{shard}")
                waiting.schedule(client, org_id, shard)


def is_empty(client: redis.Redis) -> bool:
    """Returns whether no accepted data and no dead letter waits, except the canary's."""
    with unavailable_when_redis_is_gone():
        orgs = {*orgs_with_events(client), *orgs_with_records(client)} - {str(CANARY_ID)}
        return not orgs and not dead_letters.count(client)


def empty(client: redis.Redis, org_id: str | None = None) -> None:
    """Removes what an unfinished restore added, or an unfinished import of an organization."""
    patterns = ("ingest:*", "otlp:*") if org_id is None else (f"*:{org_id}*",)
    with unavailable_when_redis_is_gone():
        if org_id is not None:
            dead_letters.drop_all(client, org_id)
        for pattern in patterns:
            for key in client.scan_iter(match=pattern, count=_SCAN):
                client.unlink(key)


def flush_receipts(postgres: Any, client: redis.Redis, org_id: str | None) -> None:
    """Brings receipts of what was accepted so far into PostgreSQL."""
    if org_id is None:
        flushing.flush_all(postgres, client)
    else:
        flushing.flush(postgres, client, org_id)
