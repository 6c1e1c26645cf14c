"""Accepts an export: all steps up to the moment when its sender may forget the records."""

import time
import uuid

import msgspec

from shared.access.settings.reading import value
from shared.foundation.cache import EpochCache
from shared.foundation.core.body import unpack
from shared.foundation.core.errors import Forbidden, UnsupportedMediaType
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import ASSIGN_RECORDS
from shared.intake.ingest.accept import Ingest, count_batch
from shared.intake.ingest.decode import PARSING
from shared.intake.ingest.sender import Sender
from shared.intake.otlp import stream
from shared.intake.otlp.mapping import session_name
from shared.intake.otlp.receipts import receipt_of
from shared.intake.otlp.records import Records
from shared.intake.otlp.redacting import redact
from shared.intake.otlp.wire.reading import JSON, PROTOBUF, Reading
from shared.intake.otlp.wire.signals import LOGS, METRICS, Signal
from shared.intake.receipts.receipt import Receipt, digest_of

SETTING = "otel.ingest_enabled"


class ExportOutcome(msgspec.Struct):
    """The number of rejected records, and a message about them, or a warning; "" for neither."""

    rejected: int
    message: str


class OtlpIngest:
    """The ingest of OpenTelemetry of one process."""

    def __init__(self, runtime: Runtime, ingest: Ingest) -> None:
        self._runtime = runtime
        self._ingest = ingest
        self._enabled: EpochCache[str, bool] = EpochCache()

    def accept(
        self, sender: Sender, signal: Signal, body: bytes, media_type: str, encoding: str
    ) -> ExportOutcome:
        """Accepts the good records of a request; after this returns they will become events.

        Raises `UnsupportedMediaType`, `BadRequest` or `TooLarge` for the body as a whole,
        `Forbidden` if the organization accepts no OpenTelemetry, and `Unavailable` if the backlog
        is full or a store that is needed is down; then no record was accepted.
        """
        if media_type not in (PROTOBUF, JSON):
            raise UnsupportedMediaType(
                f"Content-Type must be {PROTOBUF} or {JSON}", code="unsupported_content_type"
            )
        with self._ingest.refusals_counted(sender):
            self._require_enabled(sender)
            self._ingest.require_room(sender.org_id)
            redactor = self._ingest.redactor(sender)
            with self._ingest.unpacking():
                unpacked = unpack(body, encoding, self._runtime.settings.otlp_max_bytes)
                reading = _read(signal, media_type, unpacked)
                sender.admit(len(reading.records))
                accepted = ExportOutcome(reading.tally.rejected, _message(signal, reading))
                receipt = receipt_of(sender.origin, signal, reading, digest_of(unpacked), redactor)
                if reading.records and redactor:
                    redact(reading.records, redactor)
                self._keep(sender, reading.records, receipt)
        if signal is not METRICS:
            taken = reading.tally.total - accepted.rejected
            count_batch(sender.origin, taken, accepted.rejected)
        return accepted

    def _require_enabled(self, sender: Sender) -> None:
        org_id = sender.org_id
        if not self._enabled.get(org_id, sender.epoch, lambda: self._load_enabled(org_id)):
            raise Forbidden(
                f"this organization accepts no OpenTelemetry: its setting {SETTING} is off",
                code="otel_disabled",
            )

    def _load_enabled(self, org_id: str) -> bool:
        with self._runtime.postgres.transaction() as session:
            return bool(value(session, self._runtime.settings, uuid.UUID(org_id), SETTING))

    def _keep(self, sender: Sender, records: Records, receipt: Receipt) -> None:
        org_id, slug = sender.org_id, sender.org_slug
        if not records:
            self._ingest.count(org_id, receipt)
            return
        self._ingest.keep(
            org_id,
            lambda client: stream.append(client, org_id, slug, records, receipt),
            ASSIGN_RECORDS,
        )


def _read(signal: Signal, media_type: str, body: bytes) -> Reading:
    reading = Reading(signal, media_type, time.time_ns())
    steps = reading.steps(body) if body else iter(())
    going = True
    while going:
        # One thread of a process parses at a time, and lets others go on after each step.
        with PARSING:
            going = next(steps, _END) is not _END
    return reading


_END = object()


def _message(signal: Signal, reading: Reading) -> str:
    """Returns what a sender has to know about a request that was accepted, or ""."""
    if signal is METRICS:
        return "metrics are not stored" if reading.tally.total else ""
    sentence = reading.tally.sentence(signal.noun)
    if signal is LOGS and not sentence:
        resources = reading.records.resources
        lost = sum(
            not log.trace_id and session_name(log, resources[log.resource]) is None
            for log in reading.records.logs
        )
        if lost:
            return (
                f"{lost} of {reading.tally.total} log records are not stored, because they belong"
                " to no trace and name no session: set session.id"
            )
    return sentence
