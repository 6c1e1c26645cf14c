"""Requests of OTLP in JSON, one a line or one document: assigned together, without any wait."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.clock import now_us
from shared.foundation.core.errors import TooLarge, WatchpostError
from shared.foundation.core.logs import get_logger
from shared.intake.imports.assembling import Conversion, ImportTarget
from shared.intake.imports.file import ImportFile, Line
from shared.intake.imports.node import Node, read_document
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.decode import MAX_BAD, MAX_ERRORS, LineError
from shared.intake.ingest.envelope import EventRejected
from shared.intake.otlp.assignment.assign import PARENT_WAIT_MS, AssignedItem, assign, assign_alone
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.mapping import (
    Event,
    log_evaluations,
    log_events,
    named_environment,
    span_evaluations,
    span_events,
)
from shared.intake.otlp.records import Records, Span
from shared.intake.otlp.redacting import redact, redact_evaluation
from shared.intake.otlp.wire.reading import JSON, Reading
from shared.intake.otlp.wire.signals import LOGS, TRACES
from shared.intake.redaction.excerpts import excerpt_of_record
from shared.intake.redaction.rules import Redactor
from shared.reading.evaluations.records import Evaluation

log = get_logger(__name__)

NAME = "otlp"
_LOG = "log"
_SIGNALS = (TRACES, LOGS)

_encode = msgspec.json.Encoder().encode
_members = msgspec.json.Decoder(dict[str, Raw]).decode


def knows(node: Node) -> bool:
    """Returns whether a line is of this format."""
    return any(signal.groups in node for signal in _SIGNALS)


def read(file: ImportFile, target: ImportTarget) -> Conversion:
    """Reads all records of a file, and makes their events.

    The ids of the events are those that they have when they arrive by OTLP.
    """
    lines = file.lines()
    if len(lines) > 1 and not _is_object(lines[0]):
        text = file.text.strip()
        lines = [Line(1, text, text)]
    held = 1 if lines and file.is_cut(lines[-1]) else 0
    reading = _Reading(target.redactor)
    for line in lines[: len(lines) - held]:
        reading.read(line)
    batch, evaluations = _Events(file.path, target, reading).made()
    bad = sorted(reading.bad.items())
    return Conversion(
        batch=batch,
        lines=len(lines),
        skipped=len(bad),
        ignored=reading.ignored,
        held_back=held,
        errors=[LineError(line, reason) for line, reason in bad[:MAX_ERRORS]],
        evaluations=evaluations,
        idle_only=True,
        reasons=Counter(reading.bad.values()),
        bad=dict(bad[:MAX_BAD]),
    )


def excerpt(line: bytes, redactor: Redactor) -> str:
    """Returns the beginning of a bad line, without the values of redacted keys."""
    return excerpt_of_record(line.decode(errors="replace"), redactor)


def _is_object(line: Line) -> bool:
    try:
        read_document(line.text)
    except EventRejected:
        return False
    return True


class _Reading:
    """The records of the lines that were read so far."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.traces: dict[str, list[Item]] = {}
        self.alone: list[Item] = []
        self.bad: dict[int, str] = {}
        self.ignored = 0
        self._now_ns = now_us() * 1000
        # The lines of the records, by the identity of what they were read into.
        self._lines: dict[int, int] = {}

    def line_of(self, item: Item) -> int:
        """Returns the line of a record."""
        return self._lines[id(item.source)]

    def read(self, line: Line) -> None:
        """Reads one line."""
        try:
            node = read_document(line.text)
            signals = [signal for signal in _SIGNALS if signal.groups in node]
            for signal in signals:
                reading = Reading(signal, JSON, self._now_ns)
                for _ in reading.steps(line.text):
                    pass
                if reading.tally.rejected:
                    self.bad[line.number] = reading.tally.sentence(signal.noun)
                self._add(line.number, reading.records)
            self.ignored += not signals
        except EventRejected as error:
            self.bad[line.number] = str(error)
        except TooLarge:
            raise
        except WatchpostError as error:
            self.bad[line.number] = error.message

    def _add(self, number: int, records: Records) -> None:
        if self._redactor:
            redact(records, self._redactor)
        self._lines[id(records)] = number
        for record in records.all():
            # Every wait is over before it begins.
            item = Item(record, records, -PARENT_WAIT_MS)
            # The start of a finished span has more, and could not replace that of a pending one.
            if item.is_pending:
                continue
            if record.trace_id:
                self.traces.setdefault(record.trace_id, []).append(item)
            else:
                self.alone.append(item)


class _Events:
    """The events of all records that were read."""

    def __init__(self, path: str, target: ImportTarget, reading: _Reading) -> None:
        self._path = path
        self._target = target
        self._reading = reading
        self._arrival = (now_us() // 1000) << POSITION_BITS
        self._batch = Batch([], [], [], [], [], [], [], [])
        self._size = 0

    def made(self) -> tuple[Batch, list[Evaluation]]:
        """Returns the events, and the rows of evaluations that some of them tell."""
        evaluations: list[Evaluation] = []
        for record in self._assigned():
            try:
                events, told = self._events(record), self._evaluations(record)
            except Exception:
                # If one odd record exposes a defect of ours, it may cost that record, but never
                # the records beside it. The log has the traceback.
                log.exception("record_not_mapped")
                line = self._reading.line_of(record.item)
                self._reading.bad.setdefault(line, "a record cannot be converted")
                continue
            for event in events:
                self._add(event, record.item)
            evaluations += told
        return self._batch, evaluations

    def _assigned(self) -> Iterator[AssignedItem]:
        """Yields the records that are stored, parents before children."""
        reading, decisions = self._reading, self._target.decisions
        if reading.traces:
            rules, sessions = decisions.rules(), decisions.sessions(reading.traces)
            for trace_id, items in reading.traces.items():
                yield from assign(items, sessions[trace_id], {}, rules, now_ms=0).assigned
        for item in reading.alone:
            record = assign_alone(item)
            if record is not None:
                yield record

    def _events(self, record: AssignedItem) -> Sequence[Event]:
        item, assignment, target = record.item, record.assignment, self._target
        # Room for what `_add` writes.
        most = target.max_event_bytes - len(self._source(item)) - len(target.environment) * 6
        if isinstance(item.record, Span):
            return span_events(
                target.org_id, item.record, item.resource, item.scope, assignment, most
            )
        events = log_events(target.org_id, item.record, item.resource, item.scope, assignment, most)
        return [one for one in events if not (record.drops_logs and one.event_type == _LOG)]

    def _evaluations(self, record: AssignedItem) -> list[Evaluation]:
        item, assignment = record.item, record.assignment
        org_id, resource = self._target.org_id, item.resource
        if not isinstance(item.record, Span):
            rows = log_evaluations(org_id, item.record, resource, assignment)
        else:
            rows = span_evaluations(org_id, item.record, resource, assignment)
        environment, redactor = self._environment(item), self._target.redactor
        return [
            msgspec.structs.replace(redact_evaluation(row, redactor), environment=environment)
            for row in rows
        ]

    def _environment(self, item: Item) -> str:
        named = named_environment(item.record, item.resource)
        return self._target.environment if named is None else named

    def _source(self, item: Item) -> bytes:
        line = self._reading.line_of(item)
        return _encode({"format": NAME, "path": self._path, "line": line})

    def _add(self, event: Event, item: Item) -> None:
        environment = self._environment(item)
        members = _members(event.payload)
        members["source"] = Raw(self._source(item))
        members["environment"] = Raw(_encode(environment))
        target, batch = self._target, self._batch
        payload = target.given.completed(_encode(members), event.event_type, target.max_event_bytes)
        self._size += len(payload)
        if self._size > target.max_bytes:
            raise TooLarge(f"the events of the file are larger than {target.max_bytes} bytes")
        batch.ids.append(event.id)
        batch.ts.append(event.ts)
        batch.arrivals.append(self._arrival + len(batch))
        batch.session_ids.append(event.session_id)
        batch.agent_ids.append(event.agent_id)
        batch.event_types.append(event.event_type)
        batch.environments.append(environment)
        batch.payloads.append(target.redactor.redact(payload) if target.redactor else payload)
