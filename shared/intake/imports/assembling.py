"""Makes a batch of events of what a converter says, by the rules of every accepted event."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec
import xxhash

from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.clock import format_us, from_us, now_us
from shared.foundation.core.errors import TooLarge
from shared.intake.imports.dimensions import GivenDimensions
from shared.intake.imports.outcomes import BadLine, HeldLines, IgnoredLine, ImportEvent, Outcome
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.candidates import MAX_EVENTS
from shared.intake.ingest.decode import MAX_BAD, MAX_ERRORS, LineError
from shared.intake.ingest.envelope import Bounds, Envelope, EventRejected, explain
from shared.intake.otlp.assignment.assign import Rules
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.sessions import Session
from shared.intake.redaction.rules import Redactor
from shared.reading.evaluations.records import Evaluation

_encode = msgspec.json.Encoder().encode


class Conversion(msgspec.Struct):
    """The events of a file, and the numbers of its lines by their fate.

    `evaluations` are rows that some of the events tell. With `idle_only` its sessions are evaluated
    when they are idle, and not when their root agent ends.
    `reasons` counts the reasons of skipped lines, and `bad` has those of the first lines by number.
    """

    batch: Batch
    lines: int = 0
    skipped: int = 0
    ignored: int = 0
    held_back: int = 0
    errors: list[LineError] = []
    evaluations: list[Evaluation] = []
    idle_only: bool = False
    reasons: dict[str, int] = {}
    bad: dict[int, str] = {}


class Decisions(Protocol):
    """The decisions about the traces of an organization."""

    def rules(self) -> Rules:
        """Returns what the organization wants done with its records."""

    def sessions(self, traces: Mapping[str, Sequence[Item]]) -> Mapping[str, Session]:
        """Decides the sessions of traces, once for all processes."""


class ImportTarget(msgspec.Struct, frozen=True):
    """The organization that the events are for, what it lets in, and what it decided.

    `given` are dimensions of the events that have none themselves.
    """

    org_id: str
    environment: str
    max_event_bytes: int
    max_bytes: int
    decisions: Decisions
    redactor: Redactor
    given: GivenDimensions = GivenDimensions()


def assemble(
    outcomes: Iterable[Outcome], format_name: str, path: str, target: ImportTarget
) -> Conversion:
    """Collects the events of these outcomes, and counts the others but not all lines.

    Raises `TooLarge` if the events together are larger than a body may be.
    """
    assembly = _Assembly(format_name, path, target)
    for outcome in outcomes:
        assembly.take(outcome)
    return assembly.converted()


class _Assembly:
    """The events so far."""

    def __init__(self, format_name: str, path: str, target: ImportTarget) -> None:
        received = now_us()
        self._target = target
        self._format, self._path = format_name, path
        self._seed = xxhash.xxh3_64_intdigest(target.org_id.encode())
        self._arrival = (received // 1000) << POSITION_BITS
        self._bounds = Bounds(received)
        self._named: set[tuple[str, str]] = set()
        self._bad: dict[int, str] = {}
        self._size = 0
        self._result = Conversion(Batch([], [], [], [], [], [], [], []))
        self._takers: dict[type, Callable[..., None]] = {
            ImportEvent: self._add,
            BadLine: lambda bad: self.reject(bad.line, bad.reason),
            IgnoredLine: self._ignore,
            HeldLines: self._hold,
        }

    def take(self, outcome: Outcome) -> None:
        """Takes one more."""
        self._takers[type(outcome)](outcome)

    def converted(self) -> Conversion:
        """Returns what was collected."""
        self._result.skipped = len(self._bad)
        first = sorted(self._bad.items())[:MAX_BAD]
        self._result.errors = [LineError(line, reason) for line, reason in first[:MAX_ERRORS]]
        self._result.reasons = Counter(self._bad.values())
        self._result.bad = dict(first)
        return self._result

    def reject(self, line: int, reason: str) -> None:
        self._bad.setdefault(line, reason)

    def _ignore(self, _ignored: IgnoredLine) -> None:
        self._result.ignored += 1

    def _hold(self, held: HeldLines) -> None:
        self._result.held_back += held.lines

    def _add(self, event: ImportEvent) -> None:
        try:
            self._bounds.require_time(event.ts_us)
            self._require_names(event)
            payload = self._payload(event)
        except EventRejected as error:
            self.reject(event.line, str(error))
            return
        batch = self._result.batch
        self._size += len(payload)
        if self._size > self._target.max_bytes or len(batch) >= MAX_EVENTS:
            raise TooLarge(f"the events of the file are larger than {self._target.max_bytes} bytes")
        batch.ids.append(self._id(event))
        batch.ts.append(event.ts_us)
        batch.arrivals.append(self._arrival + len(batch))
        batch.session_ids.append(event.session_id)
        batch.agent_ids.append(event.agent_id)
        batch.event_types.append(event.type)
        batch.environments.append(self._target.environment)
        batch.payloads.append(payload)

    def _require_names(self, event: ImportEvent) -> None:
        names = (event.session_id, event.agent_id)
        if names in self._named:
            return
        envelope = {
            "session_id": event.session_id,
            "timestamp": from_us(event.ts_us),
            "type": event.type,
            "agent_id": event.agent_id,
            "environment": self._target.environment,
        }
        try:
            self._bounds.require_names(msgspec.convert(envelope, Envelope))
        except msgspec.ValidationError as error:
            raise EventRejected(explain(error)) from None
        self._named.add(names)

    def _payload(self, event: ImportEvent) -> bytes:
        source = {"format": self._format, "path": self._path, "line": event.line}
        fields = {
            "session_id": event.session_id,
            "timestamp": format_us(event.ts_us),
            "type": event.type,
            "agent_id": event.agent_id,
            "environment": self._target.environment,
            **event.fields,
        }
        most = self._target.max_event_bytes
        try:
            payload = _encode({**fields, **event.dimensions, "source": source})
            if len(payload) > most:
                # Dimensions that do not fit cost no event.
                payload = _encode({**fields, "source": source})
        except RecursionError:
            raise EventRejected("is nested too deeply") from None
        if len(payload) > most:
            raise EventRejected(f"larger than {most} bytes")
        payload = self._target.given.completed(payload, event.type, most)
        return self._target.redactor.redact(payload) if self._target.redactor else payload

    def _id(self, event: ImportEvent) -> int:
        """Returns 53 bits that depend on no name of the file, so that a copy of it adds nothing."""
        line = xxhash.xxh3_64_intdigest(event.origin, self._seed)
        names = (self._format, event.session_id, event.agent_id, event.type, str(event.nth))
        return xxhash.xxh3_64_intdigest("\0".join(names).encode(), line) >> 11
