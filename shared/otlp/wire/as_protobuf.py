"""OTLP in protobuf. The numbers of the fields are those of OpenTelemetry's definitions."""

from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.errors import BadRequest
from shared.otlp.records import Link, LogRecord, Resource, Scope, Span, SpanEvent, digest_of
from shared.otlp.wire.checks import checked_id, checked_time, optional_id, parent_of, severity_of
from shared.otlp.wire.fields import FIXED64, VARINT, Malformed, Splitter, tag
from shared.otlp.wire.signals import LOGS, METRICS, TRACES, Signal
from shared.otlp.wire.values import Values

Fields = Mapping[int, Any]

_GROUP = tag(1)
# At both levels below: the resource or scope, the members, and the URL of a schema.
_HEAD, _MEMBER, _SCHEMA = tag(1), tag(2), tag(3)

_RESOURCE_ATTRIBUTE = tag(1)
_SCOPE_NAME, _SCOPE_VERSION, _SCOPE_ATTRIBUTE = tag(1), tag(2), tag(3)

_TRACE_ID, _SPAN_ID, _TRACE_STATE, _PARENT_ID, _NAME = tag(1), tag(2), tag(3), tag(4), tag(5)
_KIND, _START, _END = tag(6, VARINT), tag(7, FIXED64), tag(8, FIXED64)
_SPAN_ATTRIBUTE, _EVENT, _LINK, _STATUS = tag(9), tag(11), tag(13), tag(15)
_STATUS_MESSAGE, _STATUS_CODE = tag(2), tag(3, VARINT)
_EVENT_TIME, _EVENT_NAME, _EVENT_ATTRIBUTE = tag(1, FIXED64), tag(2), tag(3)
_LINK_TRACE, _LINK_SPAN, _LINK_STATE, _LINK_ATTRIBUTE = tag(1), tag(2), tag(3), tag(4)

_LOG_TIME, _LOG_OBSERVED = tag(1, FIXED64), tag(11, FIXED64)
_SEVERITY_NUMBER, _SEVERITY_TEXT = tag(2, VARINT), tag(3)
_BODY, _LOG_ATTRIBUTE = tag(5), tag(6)
_LOG_TRACE, _LOG_SPAN, _LOG_EVENT_NAME = tag(9), tag(10), tag(12)

# Gauge, sum, histogram, exponential histogram, summary.
_METRIC_DATA = {tag(5), tag(7), tag(9), tag(10), tag(11)}


class Protobuf:
    """The `Format` of a request in protobuf."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._split = self._splitter.split
        values = Values(self._splitter)
        self._attributes, self._value = values.attributes, values.value

    def groups(self, body: bytes) -> list[bytes]:
        """Returns the groups of records of one resource."""
        return self._frame(body, _GROUP)[1]

    def group(self, data: bytes) -> tuple[Fields, list[bytes]]:
        """Returns the head of a group with its resource, and the groups of one scope."""
        return self._frame(data, _MEMBER)

    def scope_group(self, data: bytes) -> tuple[Fields, list[bytes]]:
        """Returns the head of a group with its scope, and its records."""
        return self._frame(data, _MEMBER)

    def resource(self, head: Fields) -> Resource:
        """Reads the resource of a group."""
        _text(head, _SCHEMA)
        members, _ = self._split(head.get(_HEAD, b""), _RESOURCE_ATTRIBUTE)
        return Resource(self._attributes(members))

    def scope(self, head: Fields) -> Scope:
        """Reads the scope of a group."""
        _text(head, _SCHEMA)
        members, fields = self._split(head.get(_HEAD, b""), _SCOPE_ATTRIBUTE)
        name, version = _text(fields, _SCOPE_NAME), _text(fields, _SCOPE_VERSION)
        return Scope(name, version, self._attributes(members))

    def span(self, data: bytes, now_ns: int, resource: int, scope: int) -> Span:
        """Reads a span."""
        members, pairs = self._splitter.split_all(data, _SPAN_ATTRIBUTE)
        fields = dict(pairs)
        _text(fields, _TRACE_STATE)
        status = self._split(fields[_STATUS])[1] if _STATUS in fields else {}
        return Span(
            _id("trace id", fields.get(_TRACE_ID, b""), 16),
            _id("span id", fields.get(_SPAN_ID, b""), 8),
            parent_of(_hex(fields, _PARENT_ID)),
            _text(fields, _NAME),
            fields.get(_KIND, 0),
            checked_time("start time", fields.get(_START, 0), now_ns),
            fields.get(_END, 0),
            self._attributes(members),
            list(map(self._event, _all(pairs, _EVENT))) if _EVENT in fields else [],
            list(map(self._link, _all(pairs, _LINK))) if _LINK in fields else [],
            status.get(_STATUS_CODE, 0),
            _text(status, _STATUS_MESSAGE),
            resource,
            scope,
        )

    def log(self, data: bytes, now_ns: int, resource: int, scope: int) -> LogRecord:
        """Reads a log record."""
        members, fields = self._split(data, _LOG_ATTRIBUTE)
        time_ns = fields.get(_LOG_TIME, 0) or fields.get(_LOG_OBSERVED, 0)
        severity = severity_of(_text(fields, _SEVERITY_TEXT), fields.get(_SEVERITY_NUMBER, 0))
        body = self._value(fields[_BODY]) if _BODY in fields else None
        attributes = self._attributes(members)
        return LogRecord(
            optional_id("trace id", _hex(fields, _LOG_TRACE), 16),
            optional_id("span id", _hex(fields, _LOG_SPAN), 8),
            checked_time("time", time_ns, now_ns),
            severity,
            _text(fields, _LOG_EVENT_NAME),
            body,
            attributes,
            resource,
            scope,
            digest_of(severity, body, attributes),
        )

    def belongs_to(self, data: bytes) -> Signal | None:
        """Returns the kind of request to which a record belongs, if it looks like one."""
        try:
            tags = self._split(data)[1].keys()
        except Malformed:
            return None
        if tags & {_START, _END}:
            return TRACES
        if tags & {_LOG_TIME, _LOG_OBSERVED}:
            return LOGS
        return METRICS if tags & _METRIC_DATA else None

    def describe(self, data: bytes) -> tuple[str, str]:
        """Returns the span id of a record that cannot be read, and its name."""
        try:
            fields = self._split(data)[1]
        except Malformed:
            return "", ""
        name = fields.get(_NAME, b"")[:200].decode(errors="replace")
        return _hex(fields, _SPAN_ID)[:16], name

    def _event(self, data: bytes) -> SpanEvent:
        members, fields = self._split(data, _EVENT_ATTRIBUTE)
        attributes = self._attributes(members)
        return SpanEvent(_text(fields, _EVENT_NAME), fields.get(_EVENT_TIME, 0), attributes)

    def _link(self, data: bytes) -> Link:
        members, fields = self._split(data, _LINK_ATTRIBUTE)
        _text(fields, _LINK_STATE)
        attributes = self._attributes(members)
        return Link(_hex(fields, _LINK_TRACE), _hex(fields, _LINK_SPAN), attributes)

    def _frame(self, data: bytes, members: int) -> tuple[Fields, list[bytes]]:
        try:
            values, fields = self._split(data, members)
        except Malformed:
            raise BadRequest(
                "the body is not an OTLP request in protobuf", code="bad_protobuf"
            ) from None
        return fields, values


def _text(fields: Fields, found: int) -> str:
    return str(fields[found], "utf-8") if found in fields else ""


def _id(name: str, value: bytes, size: int) -> str:
    """Returns an id as hex digits. Raises `Rejected`."""
    return value.hex() if len(value) == size and any(value) else checked_id(name, value.hex(), size)


def _all(pairs: list[tuple[int, Any]], found: int) -> Iterator[bytes]:
    return (value for each, value in pairs if each == found)


def _hex(fields: Fields, found: int) -> str:
    digits: str = fields.get(found, b"").hex()
    return digits
