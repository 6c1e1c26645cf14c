"""Reads for a turn: new records, and those whose wait is over or whose trace got new ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import redis

from shared.foundation.core.logs import get_logger
from shared.intake.otlp import stream
from shared.intake.otlp.assignment import waiting
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.lease import Lease
from shared.intake.otlp.records import LogRecord, Records, Span, decode_records, encode_records
from shared.intake.otlp.stream import Entry

log = get_logger(__name__)

# A turn reads about this many new records, or this much of them as they are packed, and at most so
# many waiting traces of a shard. A larger turn would keep other assigners, and those who wait for
# the events, waiting; a smaller one would pay more for its round trips to Redis.
READ_RECORDS = 2000
READ_BYTES = 1024 * 1024
READ_TRACES = 500
# Entries that are read at once: few while they may be large.
_FIRST_ENTRIES, _MORE_ENTRIES = 8, 64


@dataclass
class Intake:
    """The records of a turn. `shards` has the shard of each trace of `traces`.

    `alone`: log records of no trace. `unreadable`: data that no record could be made of.
    `was_waiting`: traces of which records waited. `records` and `size` are the number of the new
    records and the bytes of their entries. `is_full`: there may be more to read.
    """

    entries: list[Entry] = field(default_factory=list)
    org_slug: str = ""
    shards: dict[str, int] = field(default_factory=dict)
    traces: dict[str, list[Item]] = field(default_factory=dict)
    alone: list[Item] = field(default_factory=list)
    unreadable: list[bytes] = field(default_factory=list)
    was_waiting: frozenset[str] = frozenset()
    records: int = 0
    size: int = 0
    is_full: bool = False

    def __bool__(self) -> bool:
        return bool(self.entries or self.traces)

    def add(self, entry: Entry) -> None:
        """Adds the records of an entry to those of their traces."""
        self.entries.append(entry)
        self.org_slug = entry.org_slug
        self.size += len(entry.data)
        try:
            records = decode_records(entry.data)
        except ValueError:
            self.unreadable.append(entry.data)
            return
        self.records += len(records)
        since_ms = int(entry.entry_id.partition(b"-")[0])
        for record in records.all():
            self._add(record, records, since_ms, entry.shard)

    def _add(self, record: Span | LogRecord, records: Records, since_ms: int, shard: int) -> None:
        try:
            item = Item(record, records, since_ms)
        except Exception:
            # If one odd record exposes a defect of ours, it may cost that record, but never the
            # records beside it. The log has the traceback.
            log.exception("record_not_read")
            self.unreadable.append(alone(record, records))
            return
        if record.trace_id:
            self.shards[record.trace_id] = shard
            self.traces.setdefault(record.trace_id, []).append(item)
        else:
            self.alone.append(item)


def read(client: redis.Redis, lease: Lease, shards: Sequence[int], now_ms: int) -> Intake:
    """Reads new records of these shards, and the waiting ones that belong to them or are due.

    Leases the shards one after the other until it has read enough, so that under load other
    assigners get the rest of them.
    """
    intake = Intake()
    for shard in shards:
        if intake.is_full:
            break
        if lease.take(shard):
            _read_entries(client, lease, shard, intake)
    org_id = lease.org_id
    due = waiting.due_traces(client, org_id, lease.shards, now_ms, READ_TRACES)
    intake.is_full = intake.is_full or len(due) >= READ_TRACES
    org_slug, waited = waiting.take(client, org_id, intake.shards | due)
    intake.was_waiting = frozenset(waited)
    intake.org_slug = intake.org_slug or org_slug or ""
    for trace_id, items in waited.items():
        intake.traces[trace_id] = items + intake.traces.get(trace_id, [])
    intake.shards |= {trace_id: shard for trace_id, shard in due.items() if trace_id in waited}
    return intake


def _read_entries(client: redis.Redis, lease: Lease, shard: int, intake: Intake) -> None:
    count, after = _FIRST_ENTRIES, None
    while True:
        entries = stream.read(client, lease.org_id, shard, count, after)
        for entry in entries:
            lease.keep()
            intake.add(entry)
            if intake.records >= READ_RECORDS or intake.size >= READ_BYTES:
                intake.is_full = True
                return
        if len(entries) < count:
            return
        count, after = _MORE_ENTRIES, entries[-1].entry_id


def alone(record: Span | LogRecord, records: Records) -> bytes:
    """Returns one record, encoded with everything that it belongs to."""
    spans, logs = ([record], []) if isinstance(record, Span) else ([], [record])
    both = Records(
        records.received_ms, records.resources, records.scopes, spans, logs, records.origin
    )
    return encode_records(both)
