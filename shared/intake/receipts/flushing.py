"""Flushes rows of receipts from Redis into PostgreSQL, each exactly once.

Rows are set aside under a token first. The transaction that adds them records the token, so rows
whose flusher was killed after its commit are recognised and not added again. Flushers of an
organization wait for each other, so no more than one batch is on its way.
"""

import secrets
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec
import redis
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.access import organizations
from shared.foundation.core.clock import from_us
from shared.foundation.core.ids import parse_uuid
from shared.foundation.core.tracing import spans
from shared.foundation.postgres import Postgres, lock_until_commit
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.jobs import FLUSH_RECEIPTS
from shared.intake.receipts.folding import fold
from shared.intake.receipts.keys import ACTIVE, keys_of
from shared.intake.receipts.models import ReceiptFlush
from shared.intake.receipts.receipt import HOUR_US

KEPT_DAYS = 30
_TOKEN = b"token"

# Returns the rows on their way, after it has set some aside if there were none.
_SET_ASIDE = f"""
local rows, flushing = KEYS[1] .. ':rows', KEYS[1] .. ':flushing'
if redis.call('EXISTS', flushing) == 0 and redis.call('EXISTS', rows) == 1 then
    redis.call('RENAME', rows, flushing)
    redis.call('HSET', flushing, '{_TOKEN.decode()}', ARGV[1])
end
return redis.call('HGETALL', flushing)
"""

# Another flusher may have set other rows aside meanwhile.
_REMOVE = f"""
local token = redis.call('HGET', KEYS[1], '{_TOKEN.decode()}')
if token == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
"""

_UNLIST_IF_EMPTY = """
if redis.call('EXISTS', KEYS[1] .. ':log', KEYS[1] .. ':rows', KEYS[1] .. ':flushing') == 0 then
    redis.call('SREM', KEYS[2], ARGV[1])
end
"""

# Names of a tally that begin with `>` keep the largest number, all others are added up.
MERGED = "CASE WHEN name LIKE '>%' THEN max(n::bigint) ELSE sum(n::bigint) END"

_ADD = f"""
INSERT INTO receipts (
    org_id, bucket_start, source, key_id, sender, machine_id, service, first_at, last_at, tally
) VALUES (
    :org_id, :bucket_start, :source, :key_id, :sender, :machine_id, :service, :first_at, :last_at,
    CAST(:tally AS jsonb)
)
ON CONFLICT (org_id, bucket_start, source, key_id, sender, machine_id, service) DO UPDATE SET
    first_at = least(receipts.first_at, excluded.first_at),
    last_at = greatest(receipts.last_at, excluded.last_at),
    tally = (
        SELECT coalesce(jsonb_object_agg(name, n), '{{}}') FROM (
            SELECT name, {MERGED} AS n
            FROM (
                SELECT * FROM jsonb_each_text(receipts.tally)
                UNION ALL SELECT * FROM jsonb_each_text(excluded.tally)
            ) AS both_tallies (name, n)
            GROUP BY name
        ) AS merged
    )
"""

_RECORD = """
INSERT INTO receipt_flushes (org_id, batch) VALUES (:org_id, :batch)
ON CONFLICT (org_id) DO UPDATE SET batch = excluded.batch
"""


def flush(postgres: Postgres, client: redis.Redis, org_id: str) -> None:
    """Brings all receipts of an organization into PostgreSQL.

    Receipts of an organization that was purged are dropped. Raises `Unavailable` if a store is
    down; then a later flush continues.
    """
    keys = keys_of(org_id)
    # Two batches may be on their way: the one of a flusher that was killed, and the present one.
    for _ in range(2):
        with postgres.transaction() as session, unavailable_when_redis_is_gone():
            lock_until_commit(session, keys.base)
            fold(client, org_id)
            rows = _set_aside(client, keys.base)
            if not rows:
                client.eval(_UNLIST_IF_EMPTY, 2, keys.base, ACTIVE, org_id)
                return
            batch = rows.pop(_TOKEN).decode()
            with spans.work(FLUSH_RECEIPTS.actor, attributes={spans.ORGANIZATION: org_id}):
                _store(session, org_id, batch, rows)
        _remove(client, org_id, batch)


def flush_all(postgres: Postgres, client: redis.Redis) -> None:
    """Does the same for every organization that may have receipts in Redis."""
    with unavailable_when_redis_is_gone():
        members: Any = client.smembers(ACTIVE)
    for member in sorted(members):
        flush(postgres, client, member.decode())


def tidy(session: Session) -> int:
    """Deletes rows that are older than 30 days; returns their number."""
    statement = "DELETE FROM receipts WHERE bucket_start < now() - make_interval(days => :days)"
    deleted: Any = session.execute(text(statement), {"days": KEPT_DAYS})
    return int(deleted.rowcount)


def _remove(client: redis.Redis, org_id: str, batch: str) -> None:
    with unavailable_when_redis_is_gone():
        client.eval(_REMOVE, 1, keys_of(org_id).flushing, batch)


def _set_aside(client: redis.Redis, base: str) -> dict[bytes, bytes]:
    flat: Any = client.eval(_SET_ASIDE, 1, base, secrets.token_hex(16))
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _store(session: Session, org_id: str, batch: str, rows: Mapping[bytes, bytes]) -> None:
    parsed = parse_uuid(org_id)
    if parsed is None or parsed not in organizations.hold(session, [parsed]):
        return
    last = session.get(ReceiptFlush, parsed)
    if last is not None and last.batch == batch:
        return
    # In one order, for the locks of rows; there is one flusher of an organization anyway.
    values = [_values(parsed, row, packed) for row, packed in sorted(rows.items())]
    session.execute(text(_ADD), values)
    session.execute(text(_RECORD), {"org_id": parsed, "batch": batch})


def _values(org_id: uuid.UUID, row: bytes, packed: bytes) -> dict[str, object]:
    hour, *origin = row.decode().split("\n")
    tally = _decode(packed)
    names = ("source", "key_id", "sender", "machine_id", "service")
    return {
        **dict(zip(names, origin, strict=True)),
        "org_id": org_id,
        "bucket_start": from_us(int(hour) * HOUR_US),
        "first_at": from_us(tally.pop("<first_us")),
        "last_at": from_us(tally.pop(">last_us")),
        "tally": msgspec.json.encode(tally).decode(),
    }


_decode = msgspec.msgpack.Decoder(dict[str, int]).decode
