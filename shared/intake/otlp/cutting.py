"""Cuts the records of a request into entries: all records of a trace come into one stream."""

from collections.abc import Iterator
from typing import TypeVar
from zlib import crc32

from shared.foundation.queue.waiting import SHARDS
from shared.intake.ingest.batch import ENTRY_BYTES
from shared.intake.otlp.records import LogRecord, Records, Span, encode_records

T = TypeVar("T")


def shard_of(record: Span | LogRecord) -> int:
    """Returns the stream of a record: its trace's, or any if it has no trace."""
    if record.trace_id:
        return crc32(record.trace_id.encode()) % SHARDS
    return record.digest % SHARDS if isinstance(record, LogRecord) else 0


def entries_of(records: Records) -> Iterator[tuple[int, bytes]]:
    """Yields shards and the encoded entries for them, each of about `ENTRY_BYTES` at most.

    The records are moved into the entries and must not be used afterwards.
    """
    spans: list[list[Span]] = [[] for _ in range(SHARDS)]
    logs: list[list[LogRecord]] = [[] for _ in range(SHARDS)]
    for span in records.spans:
        spans[shard_of(span)].append(span)
    for log in records.logs:
        logs[shard_of(log)].append(log)
    for shard in range(SHARDS):
        if spans[shard] or logs[shard]:
            for encoded in _pieces(part_of(records, spans[shard], logs[shard])):
                yield shard, encoded


def _pieces(records: Records) -> Iterator[bytes]:
    encoded = encode_records(records)
    if len(encoded) <= ENTRY_BYTES or len(records) == 1:
        yield encoded
        return
    spans, logs = (len(records.spans) + 1) // 2, (len(records.logs) + 1) // 2
    yield from _pieces(part_of(records, records.spans[:spans], records.logs[:logs]))
    yield from _pieces(part_of(records, records.spans[spans:], records.logs[logs:]))


def part_of(records: Records, spans: list[Span], logs: list[LogRecord]) -> Records:
    """Returns some of the records with the resources and scopes that they use.

    The records are moved as in `entries_of`.
    """
    part = Records(records.received_ms, [], [], spans, logs, records.origin)
    resources: dict[int, int] = {}
    scopes: dict[int, int] = {}
    both: list[Span | LogRecord] = [*spans, *logs]
    for record in both:
        record.resource = _moved(record.resource, records.resources, part.resources, resources)
        record.scope = _moved(record.scope, records.scopes, part.scopes, scopes)
    return part


def _moved(position: int, old: list[T], new: list[T], moved: dict[int, int]) -> int:
    """Returns the position in `new` of what is at `position` in `old`, and copies it once."""
    if position not in moved:
        moved[position] = len(new)
        new.append(old[position])
    return moved[position]
