"""The receipt of a request, with a tally for each of its services."""

from shared.intake.otlp.mapping.naming import service_of
from shared.intake.otlp.records import LogRecord, Records, Span
from shared.intake.otlp.wire.reading import Reading
from shared.intake.otlp.wire.signals import METRICS, Signal
from shared.intake.receipts.origin import Origin, with_service
from shared.intake.receipts.receipt import NEWEST, Receipt, Tally, add_up, reasons_of
from shared.intake.receipts.skipped import Skip
from shared.intake.redaction.excerpts import excerpt_of_record
from shared.intake.redaction.rules import Redactor


def receipt_of(
    origin: Origin, signal: Signal, reading: Reading, digest: str, redactor: Redactor
) -> Receipt:
    """Returns the receipt of a request that was read, and notes its origin in the records."""
    records = reading.records
    records.origin = origin.base
    rows = [with_service(origin.base, service_of(one) or "") for one in records.resources]
    receipt = Receipt(records.received_ms * 1000, {}, digest)
    for resource, tally in _accepted(records).items():
        add_up(receipt.tallies.setdefault(rows[resource], {}), tally)
    for (index, reason), count in reading.rejected.items():
        row = origin.of() if index is None else rows[index]
        skipped = {"skipped": count, **reasons_of({reason: count})}
        add_up(receipt.tallies.setdefault(row, {}), skipped)
    if not receipt.tallies:
        receipt.tallies[rows[0] if rows else origin.of()] = {}
    if signal is METRICS and reading.tally.total:
        lost = {"not_stored": reading.tally.total, **reasons_of({"metrics": reading.tally.total})}
        add_up(next(iter(receipt.tallies.values())), lost)
    for into in receipt.tallies.values():
        into["requests"] = 1
    receipt.skips = tuple(
        (
            origin.of() if bad.resource is None else rows[bad.resource],
            Skip(bad.span_id, bad.reason, excerpt_of_record(bad.excerpt, redactor)),
        )
        for bad in reading.bad
    )
    return receipt


def _end_of(span: Span) -> int:
    return span.end_ns or span.start_ns


def _accepted(records: Records) -> dict[int, Tally]:
    """Returns tallies of the records by the positions of their resources."""
    counts: dict[int, int] = {}
    newest: dict[int, int] = {}
    for record in records.all():
        time_ns = record.time_ns if isinstance(record, LogRecord) else _end_of(record)
        resource = record.resource
        counts[resource] = counts.get(resource, 0) + 1
        if time_ns > newest.get(resource, 0):
            newest[resource] = time_ns
    names = ("accepted", "spans") if records.spans else ("accepted",)
    return {
        resource: {**dict.fromkeys(names, count), NEWEST: newest.get(resource, 0) // 1000}
        for resource, count in counts.items()
    }
