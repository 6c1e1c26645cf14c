"""OTLP in protobuf."""

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError

from shared.foundation.core.errors import BadRequest
from shared.intake.otlp.records import Link, LogRecord, Resource, Scope, Span, SpanEvent, digest_of
from shared.intake.otlp.wire.checks import checked_id, checked_time, optional_id, severity_of
from shared.intake.otlp.wire.schema import parser
from shared.intake.otlp.wire.signals import LOGS, METRICS, TRACES, Signal
from shared.intake.otlp.wire.values import Values

_parse_request, _parse_group = parser("Request"), parser("Group")
_parse_resource, _parse_scope = parser("Resource"), parser("Scope")
_parse_span, _parse_event, _parse_link = parser("Span"), parser("Event"), parser("Link")
_parse_log = parser("LogRecord")
_parse_times, _parse_metric, _parse_described = (
    parser("Times"),
    parser("Metric"),
    parser("Described"),
)


class Protobuf:
    """The `Format` of a request in protobuf."""

    def __init__(self) -> None:
        values = Values()
        self._counted = values.counted
        self._attributes, self._value = values.attributes, values.value

    def groups(self, body: bytes) -> Sequence[bytes]:
        """Returns the groups of records of one resource."""
        return self._counted(_frame(_parse_request, body).groups)

    def group(self, data: bytes) -> tuple[Any, Sequence[bytes]]:
        """Returns a group with its resource, and the groups of one scope."""
        group = _frame(_parse_group, data)
        return group, self._counted(group.members)

    def scope_group(self, data: bytes) -> tuple[Any, Sequence[bytes]]:
        """Returns a group with its scope, and its records."""
        return self.group(data)

    def resource(self, head: Any) -> Resource:
        """Reads the resource of a group."""
        head.schema_url.decode()
        return Resource(self._attributes(_parse_resource(head.head).attributes))

    def scope(self, head: Any) -> Scope:
        """Reads the scope of a group."""
        head.schema_url.decode()
        scope = _parse_scope(head.head)
        return Scope(
            scope.name.decode(), scope.version.decode(), self._attributes(scope.attributes)
        )

    def span(self, data: bytes, now_ns: int, resource: int, scope: int) -> Span:
        """Reads a span."""
        span = _parse_span(data)
        span.trace_state.decode()
        parent, status, events, links = span.parent_span_id, span.status, span.events, span.links
        return Span(
            _id("trace id", span.trace_id, 16),
            _id("span id", span.span_id, 8),
            _id("parent span id", parent, 8) if any(parent) else "",
            span.name.decode(),
            span.kind,
            checked_time("start time", span.start, now_ns),
            span.end,
            self._attributes(span.attributes),
            list(map(self._event, self._counted(events))) if events else [],
            list(map(self._link, self._counted(links))) if links else [],
            status.code,
            status.message.decode(),
            resource,
            scope,
        )

    def log(self, data: bytes, now_ns: int, resource: int, scope: int) -> LogRecord:
        """Reads a log record."""
        log = _parse_log(data)
        severity = severity_of(log.severity_text.decode(), log.severity_number)
        body = self._value(log.body)
        attributes = self._attributes(log.attributes)
        return LogRecord(
            optional_id("trace id", log.trace_id.hex(), 16),
            optional_id("span id", log.span_id.hex(), 8),
            checked_time("time", log.time or log.observed, now_ns),
            severity,
            log.event_name.decode(),
            body,
            attributes,
            resource,
            scope,
            digest_of(severity, body, attributes),
        )

    def belongs_to(self, data: bytes) -> Signal | None:
        """Returns the kind of request to which a record belongs, if it looks like one."""
        try:
            times, metric = _parse_times(data), _parse_metric(data)
        except DecodeError:
            return None
        if times.HasField("start") or times.HasField("end"):
            return TRACES
        if times.HasField("log") or times.HasField("observed"):
            return LOGS
        return METRICS if metric.ListFields() else None

    def describe(self, data: bytes) -> tuple[str, str]:
        """Returns the span id of a record that cannot be read, and its name."""
        try:
            record = _parse_described(data)
        except DecodeError:
            return "", ""
        return record.span_id.hex()[:16], record.name[:200].decode(errors="replace")

    def _event(self, data: bytes) -> SpanEvent:
        event = _parse_event(data)
        attributes = self._attributes(event.attributes)
        return SpanEvent(event.name.decode(), event.time, attributes)

    def _link(self, data: bytes) -> Link:
        link = _parse_link(data)
        link.trace_state.decode()
        attributes = self._attributes(link.attributes)
        return Link(link.trace_id.hex(), link.span_id.hex(), attributes)


def _frame(parse: Any, data: bytes) -> Any:
    try:
        return parse(data)
    except DecodeError:
        raise BadRequest(
            "the body is not an OTLP request in protobuf", code="bad_protobuf"
        ) from None


def _id(name: str, value: bytes, size: int) -> str:
    """Returns an id as hex digits. Raises `Rejected`."""
    return value.hex() if len(value) == size and any(value) else checked_id(name, value.hex(), size)
