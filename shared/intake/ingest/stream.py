"""The ingest streams in Redis: one per organization, read by workers as one consumer group.

An entry stays in its stream until ClickHouse has its events and PostgreSQL the jobs that they
cause. The streams themselves are thus the backlog, and no counter is needed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import redis
from redis.client import Pipeline
from redis.exceptions import ResponseError, WatchError

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import current_request_id, get_logger
from shared.foundation.core.tracing import spans
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.waiting import (
    EVENTS_ACTIVE,
    EVENTS_PREFIX,
    delayed_key,
    event_stream,
    orgs_with_events,
)
from shared.intake.ingest.batch import Batch, encode_batch, entries_of
from shared.intake.receipts.receipt import Receipt
from shared.reading.evaluations.records import Evaluation

log = get_logger(__name__)

GROUP = "persist"
_PAGE = 32

# Begins a pipeline's transaction, on a condition.
Guard = Callable[[Pipeline], None]

# Unlists a stream only if it is empty, in one step, because a collector may be adding to it.
_UNLIST_IF_EMPTY = """
if redis.call('XLEN', KEYS[1]) == 0 then return redis.call('SREM', KEYS[2], ARGV[1]) end
return 0
"""


_encode_evaluations = msgspec.msgpack.Encoder().encode
_decode_evaluations = msgspec.msgpack.Decoder(tuple[Evaluation, ...]).decode
_NO_EVALUATIONS = _encode_evaluations(())


@dataclass(frozen=True)
class StreamEntry:
    """One entry as read: its position, its organization and its encoded batch.

    `idle_only`: its sessions are evaluated when they are idle, and not when their root agent ends.
    `evaluations`: results that came with the events. `delayed`: its name among the entries whose
    events arrived before it, see `delayed_key`. `receipt`: the mark of its request's receipt.
    `traceparent`: the span that added it, while traces of Watchpost itself are on. `version`: its
    events replace stored ones, and this is the version of their rows.
    """

    org_id: str
    entry_id: bytes
    org_slug: str
    data: bytes
    request_id: str | None
    idle_only: bool = False
    evaluations: tuple[Evaluation, ...] = ()
    delayed: bytes | None = None
    receipt: str | None = None
    traceparent: str | None = None
    version: int | None = None


class Replacement(NamedTuple):
    """Events that take the places of stored ones with the same keys, by a higher `version`."""

    batch: Batch
    version: int


def append(
    client: redis.Redis,
    org_id: str,
    org_slug: str,
    batch: Batch,
    receipt: Receipt | None = None,
    *,
    data: bytes | None = None,
    idle_only: bool = False,
    evaluations: Sequence[Evaluation] = (),
    guard: Guard | None = None,
    replacement: Replacement | None = None,
) -> int:
    """Adds a batch to its organization's stream, all of it or nothing; returns the bytes added.

    `data` is the batch if it is encoded already. The receipt is counted in the same write, and the
    `replacement` comes behind the batch.
    `idle_only` and `evaluations` as in `StreamEntry`. A `guard` begins the transaction
    (`WATCH … MULTI`), which fails if a watched key changes, or raises an error of its own. Raises
    `Unavailable` if Redis did not accept the batch.
    """
    with unavailable_when_redis_is_gone(), client.pipeline(transaction=True) as pipe:
        if guard is not None:
            guard(pipe)
        mark = None if receipt is None else receipt.mark
        size = 0
        if batch.ids:
            size += add(
                pipe,
                org_id,
                org_slug,
                batch,
                data=data,
                idle_only=idle_only,
                evaluations=evaluations,
                mark=mark,
            )
        if replacement is not None:
            size += add(pipe, org_id, org_slug, replacement.batch, version=replacement.version)
        if receipt is not None:
            receipt.add_to(pipe, org_id)
        try:
            with spans.redis("XADD"):
                pipe.execute()
        except WatchError:
            raise Unavailable("it took too long: try again") from None
    return size


def add(
    pipe: Pipeline,
    org_id: str,
    org_slug: str,
    batch: Batch,
    *,
    data: bytes | None = None,
    idle_only: bool = False,
    evaluations: Sequence[Evaluation] = (),
    since_ms: int | None = None,
    mark: str | None = None,
    version: int | None = None,
) -> int:
    """Adds the commands to a transaction that append a batch; returns the bytes of its entries.

    `data` is the batch if it is encoded already. `idle_only`, `evaluations` and `version` as in
    `StreamEntry`; `mark` is its `receipt`. `since_ms` is the oldest receipt of its events, by
    Redis's clock, if they were received before this.
    """
    fields: dict[Any, Any] = {"slug": org_slug, "request_id": current_request_id() or ""}
    if idle_only:
        fields["idle_only"] = 1
    if mark is not None:
        fields["receipt"] = mark
    if version is not None:
        fields["version"] = version
    if (traceparent := spans.traceparent()) is not None:
        fields["traceparent"] = traceparent
    size = 0
    encoded = map(encode_batch, entries_of(batch)) if data is None else [data]
    for place, fields["data"] in enumerate(encoded):
        if since_ms is not None:
            fields["delayed"] = new_request_id()
            pipe.zadd(delayed_key(org_id), {fields["delayed"]: since_ms})
        first = (
            {"evaluations": _encode_evaluations(evaluations)} if evaluations and not place else {}
        )
        pipe.xadd(event_stream(org_id), fields | first)
        size += sum(map(len, (fields["data"], *first.values())))
    pipe.sadd(EVENTS_ACTIVE, org_id)
    return size


def waiting(client: redis.Redis) -> int:
    """Counts the entries of all streams, including those that a consumer holds."""
    with client.pipeline(transaction=False) as pipe:
        for org_id in orgs_with_events(client):
            pipe.xlen(event_stream(org_id))
        return sum(pipe.execute())


def waiting_entries(client: redis.Redis, org_id: str) -> Iterator[StreamEntry]:
    """Yields the entries of an organization, oldest first, those that a consumer holds as well."""
    begin = "-"
    while True:
        page: Any = client.xrange(event_stream(org_id), min=begin, count=_PAGE)
        yield from _entries(org_id, page)
        if len(page) < _PAGE:
            return
        begin = f"({page[-1][0].decode()}"


def read_new(
    client: redis.Redis, consumer: str, org_ids: Sequence[str], count: int
) -> list[StreamEntry]:
    """Reads up to `count` entries of each organization that no consumer has seen."""
    if not org_ids:
        return []
    streams: dict[Any, Any] = {event_stream(org_id): ">" for org_id in org_ids}
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
        for entry in _entries(key.decode().removeprefix(EVENTS_PREFIX), _flat(messages))
    ]


def claim_abandoned(
    client: redis.Redis, consumer: str, org_ids: Sequence[str], idle_ms: int, count: int
) -> list[StreamEntry]:
    """Claims entries that another consumer read `idle_ms` ago and never finished."""
    claimed: list[StreamEntry] = []
    for org_id in org_ids:
        try:
            answer: Any = client.xautoclaim(
                event_stream(org_id), GROUP, consumer, idle_ms, count=count
            )
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            _create_groups(client, [org_id])
            continue
        claimed += _entries(org_id, answer[1])
    return claimed


def finish(client: redis.Redis, entries: Sequence[StreamEntry]) -> None:
    """Removes entries whose events are stored, and unlists streams that are now empty."""
    ids: dict[str, list[bytes]] = {}
    delayed: dict[str, list[bytes]] = {}
    for entry in entries:
        ids.setdefault(entry.org_id, []).append(entry.entry_id)
        if entry.delayed is not None:
            delayed.setdefault(entry.org_id, []).append(entry.delayed)
    # In one step, because the name of a delayed entry that is gone would hold up alerts for good.
    with client.pipeline(transaction=True) as pipe:
        for org_id, names in delayed.items():
            pipe.zrem(delayed_key(org_id), *names)
        for org_id, entry_ids in ids.items():
            pipe.xack(event_stream(org_id), GROUP, *entry_ids)
            pipe.xdel(event_stream(org_id), *entry_ids)
            pipe.eval(_UNLIST_IF_EMPTY, 2, event_stream(org_id), EVENTS_ACTIVE, org_id)
        with spans.redis("XDEL"):
            pipe.execute()


def forget_dead_consumers(client: redis.Redis, idle_ms: int) -> int:
    """Deletes idle consumers (for `idle_ms`) that hold no entries; returns the number."""
    dropped = 0
    for key in client.scan_iter(match=EVENTS_PREFIX + "*", count=1000):
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
        pipe.xlen(event_stream(org_id))
        pipe.unlink(event_stream(org_id), delayed_key(org_id))
        pipe.srem(EVENTS_ACTIVE, org_id)
        entries, *_ = pipe.execute()
    return int(entries)


def _create_groups(client: redis.Redis, org_ids: Sequence[str]) -> None:
    for org_id in org_ids:
        try:
            client.xgroup_create(event_stream(org_id), GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise


def _flat(messages: Any) -> list[Any]:
    # RESP3 wraps a stream's messages in one more list than RESP2.
    return messages[0] if len(messages) == 1 and isinstance(messages[0], list) else messages


def _entries(org_id: str, messages: Any) -> list[StreamEntry]:
    return [
        StreamEntry(
            org_id=org_id,
            entry_id=entry_id,
            org_slug=fields[b"slug"].decode(),
            data=fields[b"data"],
            request_id=fields[b"request_id"].decode() or None,
            idle_only=b"idle_only" in fields,
            evaluations=_decode_evaluations(fields.get(b"evaluations", _NO_EVALUATIONS)),
            delayed=fields.get(b"delayed"),
            receipt=fields[b"receipt"].decode() if b"receipt" in fields else None,
            traceparent=fields[b"traceparent"].decode() if b"traceparent" in fields else None,
            version=int(fields[b"version"]) if b"version" in fields else None,
        )
        for entry_id, fields in messages
        # A claimed entry that was deleted meanwhile has no fields.
        if fields
    ]
