"""Turns assigned records into what the stream of events takes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from redis.client import Pipeline

from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.logs import get_logger
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.stream import add as append
from shared.intake.otlp.assignment.assign import AssignedItem
from shared.intake.otlp.assignment.counts import Counts
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.mapping import (
    Event,
    log_evaluations,
    log_events,
    span_evaluations,
    span_events,
)
from shared.intake.otlp.records import Span
from shared.intake.otlp.redacting import redact_evaluation
from shared.intake.redaction.rules import Redactor
from shared.reading.evaluations.records import Evaluation

log = get_logger(__name__)

# The type of the events of log records that no convention describes.
LOG = "log"
# Positions of events of pending spans begin here. If such an event arrives in the same millisecond
# as the finished span's, it is the later one and loses.
_PENDING_POSITIONS = 1 << (POSITION_BITS - 1)

# Called now and then during long work.
Keep = Callable[[], None]
_KEEP_EVERY = 200


@dataclass
class Output:
    """Events in their order, and rows of evaluations that came as telemetry.

    `since_ms`: the oldest arrival of their records. `mark`: that of the receipt of one of them.
    """

    batch: Batch = field(default_factory=lambda: Batch([], [], [], [], [], [], [], []))
    evaluations: list[Evaluation] = field(default_factory=list)
    since_ms: int | None = None
    mark: str | None = None

    def __bool__(self) -> bool:
        return bool(self.batch.ids)

    def write(self, pipe: Pipeline, org_id: str, org_slug: str, *, idle_only: bool) -> None:
        """Adds the commands to a transaction that append it to the stream of events."""
        append(
            pipe,
            org_id,
            org_slug,
            self.batch,
            idle_only=idle_only,
            evaluations=self.evaluations,
            since_ms=self.since_ms,
            mark=self.mark,
        )


class Writer:
    """Makes the output of one organization's turn.

    `arrival` of an event is the moment at which its record came, and a position: starts come before
    ends, and parents before children if they were assigned together. Of the copies of an event the
    one that arrived first is stored, so the start of a finished span counts and not that of the
    pending span.
    """

    def __init__(self, org_id: str, redactor: Redactor, max_event_bytes: int, keep: Keep) -> None:
        self._org_id = org_id
        self._redactor = redactor
        self._max_bytes = max_event_bytes
        self._keep = keep
        self._position = 0
        self._made = 0
        self.failed: list[Item] = []
        self.counts = Counts()

    def write(self, records: Sequence[AssignedItem], output: Output) -> dict[str, int]:
        """Adds the events of assigned records of one session to `output`.

        Returns the arrival of the start of each pending span, by span id.
        """
        announced: dict[str, int] = {}
        ends: list[tuple[int, Event]] = []
        for record in records:
            received = record.item.source.received_ms << POSITION_BITS
            for index, event in enumerate(self._made_of(record, output)):
                if index:
                    ends.append((received, event))
                    continue
                arrival = received | self._next()
                if record.assignment.pending:
                    announced[record.item.record.span_id] = arrival
                    arrival |= _PENDING_POSITIONS
                self._add(output.batch, event, record.start_arrival or arrival)
        for received, event in ends:
            self._add(output.batch, event, received | self._next())
        return announced

    def _made_of(self, record: AssignedItem, output: Output) -> list[Event]:
        since = record.item.since_ms
        output.since_ms = since if output.since_ms is None else min(output.since_ms, since)
        output.mark = output.mark or self.counts.mark_of(record.item)
        self._made += 1
        if self._made % _KEEP_EVERY == 0:
            self._keep()
        try:
            events = self._events(record, output)
        except Exception:
            # If one odd record exposes a defect of ours, it may cost that record, but never the
            # records beside it. The log has the traceback.
            log.exception("record_not_mapped")
            self.failed.append(record.item)
            return []
        self.counts.assigned(record, events)
        return events

    def _events(self, record: AssignedItem, output: Output) -> list[Event]:
        item, assignment = record.item, record.assignment
        if isinstance(item.record, Span):
            events = span_events(
                self._org_id, item.record, item.resource, item.scope, assignment, self._max_bytes
            )
            if item.record.events and not assignment.pending:
                rows = span_evaluations(self._org_id, item.record, item.resource, assignment)
                output.evaluations += self._redacted(rows)
            return events
        rows = log_evaluations(self._org_id, item.record, item.resource, assignment)
        output.evaluations += self._redacted(rows)
        events = log_events(
            self._org_id, item.record, item.resource, item.scope, assignment, self._max_bytes
        )
        if record.drops_logs:
            return [event for event in events if event.event_type != LOG]
        return events

    def _redacted(self, rows: Iterable[Evaluation]) -> list[Evaluation]:
        return [redact_evaluation(row, self._redactor) for row in rows]

    def _next(self) -> int:
        self._position = (self._position + 1) % _PENDING_POSITIONS
        return self._position

    def _add(self, batch: Batch, event: Event, arrival: int) -> None:
        payload = self._redactor.redact(event.payload) if self._redactor else event.payload
        batch.ids.append(event.id)
        batch.ts.append(event.ts)
        batch.arrivals.append(arrival)
        batch.session_ids.append(event.session_id)
        batch.agent_ids.append(event.agent_id)
        batch.event_types.append(event.event_type)
        batch.environments.append(event.environment)
        batch.payloads.append(payload)
