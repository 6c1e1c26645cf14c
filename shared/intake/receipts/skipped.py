"""Bad lines and records: the last 1000 of an organization, in Redis, for 7 days."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple

import msgspec
import redis

from shared.foundation.core.clock import from_us, now_us
from shared.foundation.core.cursor import Page, decode_cursor, encode_cursor
from shared.foundation.core.text import storable
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.receipts.keys import keys_of

KEPT = 1000
KEPT_FOR = timedelta(days=7)
MAX_EXCERPT = 200
_MAX_REASON = 200

_EntryId = Annotated[str, msgspec.Meta(pattern=r"^\d{1,15}-\d{1,15}$")]


class Skip(NamedTuple):
    """A bad line or record: a line number or a span id, the reason, and the redacted beginning."""

    where: str
    reason: str
    excerpt: str


class Skipped(NamedTuple):
    """A bad line or record as it is listed; None where its request did not say."""

    at: datetime
    source: str
    key_id: str | None
    sender: str
    service: str | None
    where: str
    reason: str
    excerpt: str


def note(pipe: redis.Redis, org_id: str, skips: Iterable[tuple[str, Skip]]) -> None:
    """Adds the commands to a pipeline that keep these; each with its origin (`Origin.of`)."""
    key = keys_of(org_id).skipped
    for origin, skip in skips:
        reason, excerpt = storable(skip.reason, _MAX_REASON), storable(skip.excerpt, MAX_EXCERPT)
        kept = _encode((origin, Skip(storable(skip.where), reason, excerpt)))
        pipe.xadd(key, {"skip": kept}, maxlen=KEPT, approximate=False)
    pipe.expire(key, KEPT_FOR)


def list_skipped(
    client: redis.Redis,
    org_id: str,
    *,
    source: str | None,
    key_id: str | None,
    cursor: str | None,
    limit: int,
) -> Page[Skipped]:
    """Lists bad lines and records, newest first.

    Raises `Unavailable` if Redis is down, `Invalid` for a cursor that is none.
    """
    newest = "+" if cursor is None else "(" + decode_cursor(cursor, tuple[_EntryId])[0]
    oldest_ms = now_us() // 1000 - KEPT_FOR // timedelta(milliseconds=1)
    with unavailable_when_redis_is_gone():
        entries: Any = client.xrevrange(keys_of(org_id).skipped, max=newest, min=str(oldest_ms))
    found = [
        (entry_id, skipped)
        for entry_id, skipped in ((one.decode(), _read(one, fields)) for one, fields in entries)
        if source in (None, skipped.source) and key_id in (None, skipped.key_id)
    ]
    page = found[:limit]
    is_last = len(found) <= limit
    return Page([row for _, row in page], None if is_last else encode_cursor((page[-1][0],)))


def forget(
    client: redis.Redis, org_id: str, is_meant: Callable[[str], bool], *, remove: bool = True
) -> int:
    """Removes bad lines for whose text `is_meant` is true, or only counts them.

    Raises `Unavailable` if Redis is down.
    """
    key = keys_of(org_id).skipped
    with unavailable_when_redis_is_gone():
        entries: Any = client.xrange(key)
        meant = [one for one, fields in entries if any(map(is_meant, _decode(fields[b"skip"])[1]))]
        if meant and remove:
            client.xdel(key, *meant)
    return len(meant)


def _read(entry_id: bytes, fields: dict[bytes, bytes]) -> Skipped:
    origin, skip = _decode(fields[b"skip"])
    source, key_id, sender, _machine_id, service = origin.split("\n")
    at = from_us(int(entry_id.partition(b"-")[0]) * 1000)
    return Skipped(at, source, key_id or None, sender, service or None, *skip)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[str, Skip]).decode
