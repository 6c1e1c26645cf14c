"""The events of a batch that are stored already or wait for it, and the sessions to leave alone.

The stream of waiting events is read first and ClickHouse second: an entry leaves the stream only
after ClickHouse has it, so every event that was accepted before is found in one of the two.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import redis

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.imports.node import Node, read_document
from shared.intake.ingest import stream
from shared.intake.ingest.batch import Batch, decode_batch
from shared.intake.ingest.envelope import EventRejected

# The most ids and sessions that one statement asks for.
_IDS, _SESSIONS = 20_000, 2_000
_LIMITS: Mapping[str, object] = {"max_execution_time": 10}
# Redaction may have taken the words that tell where an event came from. Then it counts as one of
# the same import, so that the rest of its file is not refused.
_REDACTED = "[redacted]"
_FOREIGN = f"""
    JSONExtractString(payload, 'source') != '{_REDACTED}'
    AND JSONExtractString(payload, 'source', 'format') NOT IN ({{format:String}}, '{_REDACTED}')
"""


_OF_FORMAT = "JSONExtractString(payload, 'source', 'format') = {format:String}"
_ARRIVALS = f"""
SELECT session_id, {us("ts")}, id, min(arrival)
FROM events
WHERE {{where}}
GROUP BY session_id, ts, id
"""

T = TypeVar("T")


class Others(NamedTuple):
    """Events that came in another way than by imports of `format`, before a moment."""

    format: str
    before_ms: int

    @property
    def arrival(self) -> int:
        """Returns the first arrival at the moment or after it."""
        return self.before_ms << POSITION_BITS


class EventIdentity(NamedTuple):
    """What makes an event the same in every store; `ts` in microseconds since the epoch."""

    session_id: str
    ts: int
    id: int


class ExistingRows(NamedTuple):
    """The ids that exist, and the sessions that have events of `Others`.

    `arrivals` has the events that imports of the same format brought, with their first arrivals.
    """

    ids: set[int]
    sessions: set[str]
    arrivals: dict[EventIdentity, int]


def existing(
    runtime: Runtime, org_id: str, batch: Batch, others: Others | None, replaced: str | None = None
) -> ExistingRows:
    """Looks up the events of a batch, and those of `others` in its sessions.

    With `replaced`, the name of a format, also those that imports of it brought. Raises
    `Unavailable` or `QueryTimeout` if a store cannot tell.
    """
    found = ExistingRows(set(), set(), {})
    if not batch.ids:
        return found
    with unavailable_when_redis_is_gone():
        _look_into_stream(runtime.redis, org_id, batch, others, found, replaced)
    _look_into_clickhouse(runtime.clickhouse, org_id, batch, others, found, replaced)
    return found


def _look_into_stream(
    client: redis.Redis,
    org_id: str,
    batch: Batch,
    others: Others | None,
    found: ExistingRows,
    replaced: str | None,
) -> None:
    ids, sessions = set(batch.ids), set(batch.session_ids)
    for entry in stream.waiting_entries(client, org_id):
        try:
            waiting = decode_batch(entry.data)
        except ValueError:
            # It becomes a dead letter.
            continue
        found.ids.update(ids.intersection(waiting.ids))
        if replaced is not None:
            _note_arrivals(waiting, ids, replaced, found.arrivals)
        if others is None:
            continue
        for session, arrival, payload in zip(
            waiting.session_ids, waiting.arrivals, waiting.payloads, strict=True
        ):
            if session in sessions and arrival < others.arrival and _is_foreign(payload, others):
                found.sessions.add(session)


def _note_arrivals(
    waiting: Batch, ids: Collection[int], format_name: str, arrivals: dict[EventIdentity, int]
) -> None:
    for place, event_id in enumerate(waiting.ids):
        if event_id not in ids:
            continue
        if _document(waiting.payloads[place]).node("source").text("format") == format_name:
            key = EventIdentity(waiting.session_ids[place], waiting.ts[place], event_id)
            arrival = waiting.arrivals[place]
            arrivals[key] = min(arrival, arrivals.get(key, arrival))


def _is_foreign(payload: bytes, others: Others) -> bool:
    node = _document(payload)
    told = node.node("source").text("format")
    return node.text("source") != _REDACTED and told not in (others.format, _REDACTED)


def _document(payload: bytes) -> Node:
    try:
        return read_document(payload)
    except EventRejected:
        return Node()


def _look_into_clickhouse(
    clickhouse: ClickHouse,
    org_id: str,
    batch: Batch,
    others: Others | None,
    found: ExistingRows,
    replaced: str | None,
) -> None:
    spans = dict(_spans(clickhouse, org_id, list(dict.fromkeys(batch.session_ids))))
    known = [
        (session, event_id)
        for session, event_id in zip(batch.session_ids, batch.ids, strict=True)
        if session in spans
    ]
    for part in _parts(known, _IDS):
        where = _within(org_id, {session: spans[session] for session, _ in part})
        where.any_of("id", [event_id for _, event_id in part], "UInt64")
        rows = clickhouse.rows(
            f"SELECT DISTINCT id FROM events WHERE {where}", where.params, settings=_LIMITS
        )
        found.ids.update(int(row[0]) for row in rows)
        if replaced is not None:
            where.add(_OF_FORMAT, format=replaced)
            rows = clickhouse.rows(_ARRIVALS.format(where=where), where.params, settings=_LIMITS)
            # The stored row has the first arrival, whatever waits.
            found.arrivals.update((EventIdentity(*key), arrival) for *key, arrival in rows)
    if others is None:
        return
    for some in _parts(list(spans.items()), _SESSIONS):
        where = _within(org_id, dict(some))
        where.add("arrival < {before:UInt64}", before=others.arrival)
        where.add(_FOREIGN, format=others.format)
        rows = clickhouse.rows(
            f"SELECT DISTINCT session_id FROM events WHERE {where}", where.params, settings=_LIMITS
        )
        found.sessions.update(str(row[0]) for row in rows)


def _spans(
    clickhouse: ClickHouse, org_id: str, sessions: Sequence[str]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields the sessions that are stored, with the times of their first and last events."""
    for some in _parts(sessions, _SESSIONS):
        where = Where(org_id).any_of("session_id", some)
        sql = (
            f"SELECT session_id, {us('min(started_at)')}, {us('max(last_event_at)')}"
            f" FROM agent_sessions WHERE {where} GROUP BY session_id"
        )
        for session, first, last in clickhouse.rows(sql, where.params, settings=_LIMITS):
            yield str(session), (int(first), int(last))


def _within(org_id: str, spans: Mapping[str, tuple[int, int]]) -> Where:
    first = min(first for first, _ in spans.values())
    last = max(last for _, last in spans.values())
    return Where(org_id).any_of("session_id", list(spans)).within("ts", first, last + 1)


def _parts(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
