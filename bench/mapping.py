"""The processor time in which spans become events: `python -m bench.mapping`."""

import time
from pathlib import Path

from bench.airline import recorded_requests
from shared.intake.otlp.mapping import (
    Assignment,
    kind_of,
    own_agent,
    real_span,
    same_thing,
    service_agent,
    session_name,
    span_events,
)
from shared.intake.otlp.records import Records, Span
from shared.intake.otlp.wire.reading import PROTOBUF, Reading
from shared.intake.otlp.wire.signals import TRACES

_ROUNDS = 300
_MAX_EVENT_BYTES = 1024 * 1024


def main() -> None:
    """Prints the microseconds of processor time for a span of the recorded requests."""
    requests = [_read(path) for path in recorded_requests()]
    spans = [(span, records) for records in requests for span in records.spans]
    best = min(_timed(spans) for _ in range(_ROUNDS))
    events = sum(_map(span, records) for span, records in spans)
    print(f"{best / len(spans) / 1000:.1f} µs of CPU a span ({len(spans)} spans, {events} events)")


def _read(path: Path) -> Records:
    reading = Reading(TRACES, PROTOBUF, time.time_ns())
    for _ in reading.steps(path.read_bytes()):
        pass
    return reading.records


def _timed(spans: list[tuple[Span, Records]]) -> int:
    began = time.process_time_ns()
    for span, records in spans:
        _map(span, records)
    return time.process_time_ns() - began


def _map(sent: Span, records: Records) -> int:
    """Decides about a span as if it were alone, and returns the number of its events."""
    real = real_span(sent)
    span, resource = real or sent, records.resources[sent.resource]
    kind = kind_of(span)
    session = session_name(span, resource)
    same_thing(span, kind)
    assignment = Assignment(
        span.trace_id if session is None else session[1],
        own_agent(span, kind) or service_agent(resource),
        role="span" if kind == "other" else kind,
        pending=real is not None,
    )
    scope = records.scopes[span.scope]
    return len(span_events("org", span, resource, scope, assignment, _MAX_EVENT_BYTES))


if __name__ == "__main__":
    main()
