"""OTLP in JSON: names in lower camel case, hexadecimal ids, enumerations as numbers."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import Raw

from shared.foundation.core.errors import BadRequest, TooLarge
from shared.foundation.core.json_words import in_json_words
from shared.foundation.core.text import mend_surrogates
from shared.intake.otlp.records import Link, LogRecord, Resource, Scope, Span, SpanEvent, digest_of
from shared.intake.otlp.wire.checks import (
    Rejected,
    checked_id,
    checked_time,
    optional_id,
    parent_of,
    severity_of,
)
from shared.intake.otlp.wire.json_messages import (
    EventMessage,
    LinkMessage,
    LogMessage,
    ResourceMessage,
    ScopeMessage,
    SpanMessage,
    StatusMessage,
    attributes_of,
    integer,
    value_of,
)
from shared.intake.otlp.wire.pruning import MAX_BRACKETS, has_too_many_brackets, prune
from shared.intake.otlp.wire.signals import SIGNALS, Signal

T = TypeVar("T")

Members = dict[str, Raw]
# The JSON of a resource or scope, and of the URL of its schema.
Head = tuple[bytes, bytes]

_NULL = b"null"
_EXCERPT = 4096

_decode_object = msgspec.json.Decoder(Members).decode
_decode_list = msgspec.json.Decoder(list[Raw] | None).decode
_decode_resource = msgspec.json.Decoder(ResourceMessage | None).decode
_decode_scope = msgspec.json.Decoder(ScopeMessage | None).decode
_decode_span = msgspec.json.Decoder(SpanMessage).decode
_decode_log = msgspec.json.Decoder(LogMessage).decode


class Json:
    """The `Format` of a request of one kind in JSON."""

    def __init__(self, signal: Signal) -> None:
        self._signal = signal

    def groups(self, body: bytes) -> list[bytes]:
        """Returns the groups of records of one resource."""
        request = _parse_body(body)
        if self._signal.groups not in request:
            other = next((one for one in SIGNALS if one.groups in request), None)
            if other is not None:
                raise BadRequest(other.belongs, code="wrong_signal")
        return _members(request, self._signal.groups)

    def group(self, data: bytes) -> tuple[Head, list[bytes]]:
        """Returns the head of a group with its resource, and the groups of one scope."""
        group = _framed(_decode_object, data)
        return _head(group, "resource"), _members(group, self._signal.scopes)

    def scope_group(self, data: bytes) -> tuple[Head, list[bytes]]:
        """Returns the head of a group with its scope, and its records."""
        group = _framed(_decode_object, data)
        return _head(group, "scope"), _members(group, self._signal.records)

    def resource(self, head: Head) -> Resource:
        """Reads the resource of a group."""
        resource = _read(_decode_resource, *head)
        return Resource(attributes_of(resource.attributes if resource else None))

    def scope(self, head: Head) -> Scope:
        """Reads the scope of a group."""
        scope = _read(_decode_scope, *head) or ScopeMessage()
        return Scope(scope.name or "", scope.version or "", attributes_of(scope.attributes))

    def span(self, data: bytes, now_ns: int, resource: int, scope: int) -> Span:
        """Reads a span."""
        span = _read(_decode_span, data)
        status = span.status or StatusMessage()
        start_ns = integer("start time", span.start_time_unix_nano)
        return Span(
            checked_id("trace id", _digits(span.trace_id), 16),
            checked_id("span id", _digits(span.span_id), 8),
            parent_of(_digits(span.parent_span_id)),
            span.name or "",
            integer("kind", span.kind),
            checked_time("start time", start_ns, now_ns),
            integer("end time", span.end_time_unix_nano),
            attributes_of(span.attributes),
            list(map(_event, span.events or ())),
            list(map(_link, span.links or ())),
            integer("status", status.code),
            status.message or "",
            resource,
            scope,
        )

    def log(self, data: bytes, now_ns: int, resource: int, scope: int) -> LogRecord:
        """Reads a log record."""
        log = _read(_decode_log, data)
        time_ns = integer("time", log.time_unix_nano)
        time_ns = time_ns or integer("observed time", log.observed_time_unix_nano)
        severity = severity_of(log.severity_text or "", log.severity_number or 0)
        body, attributes = value_of(log.body), attributes_of(log.attributes)
        return LogRecord(
            optional_id("trace id", _digits(log.trace_id), 16),
            optional_id("span id", _digits(log.span_id), 8),
            checked_time("time", time_ns, now_ns),
            severity,
            log.event_name or "",
            body,
            attributes,
            resource,
            scope,
            digest_of(severity, body, attributes),
        )

    def belongs_to(self, _data: bytes) -> Signal | None:
        """Returns None: in JSON the body itself names its kind."""
        return None

    def describe(self, data: bytes) -> tuple[str, str]:
        """Returns the span id of a record that cannot be read, and its beginning."""
        try:
            span_id = msgspec.json.decode(_decode_object(data).get("spanId", b'""'), type=str)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            span_id = ""
        return span_id[:16], data[:_EXCERPT].decode(errors="replace")


def _parse_body(body: bytes) -> Members:
    """Returns the members of a body, which may have half surrogates and be nested deeply."""
    if has_too_many_brackets(body):
        raise TooLarge(f"the body has more than {MAX_BRACKETS} objects and lists")
    try:
        return _decode_object(body)
    except msgspec.ValidationError:
        raise BadRequest("the body is not a JSON object", code="bad_json") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _framed(_decode_object, prune(mend_surrogates(body)))


def _framed(decode: Callable[[bytes], T], data: bytes) -> T:
    try:
        return decode(data)
    except msgspec.ValidationError:
        raise BadRequest("the body is not an OTLP request in JSON", code="bad_json") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("the body is not JSON", code="bad_json") from None


def _members(group: Members, name: str) -> list[bytes]:
    listed = _framed(_decode_list, bytes(group.get(name, _NULL)))
    return list(map(bytes, listed or ()))


def _head(group: Members, name: str) -> Head:
    return bytes(group.get(name, _NULL)), bytes(group.get("schemaUrl", _NULL))


def _read(decode: Callable[[bytes], T], *texts: bytes) -> T:
    """Decodes the first text; raises a `UnicodeDecodeError` for any that is not UTF-8."""
    for text in texts:
        # The parser skips over unknown fields without checking their encoding.
        if not text.isascii():
            str(text, "utf-8")
    try:
        return decode(texts[0])
    except msgspec.ValidationError as error:
        raise Rejected(_explain(error)) from None


def _explain(error: msgspec.ValidationError) -> str:
    """Returns msgspec's reason, with the name of the field instead of its path in the record."""
    path, reason = in_json_words(error)
    names = [part for part in path.split(".") if part != "*" and not part.isdecimal()]
    return f"{names[-1] if names else 'it'} {reason}"


def _digits(text: str | None) -> str:
    return (text or "").lower()


def _event(message: EventMessage) -> SpanEvent:
    time_ns = integer("an event's time", message.time_unix_nano)
    return SpanEvent(message.name or "", time_ns, attributes_of(message.attributes))


def _link(message: LinkMessage) -> Link:
    attributes = attributes_of(message.attributes)
    return Link(_digits(message.trace_id), _digits(message.span_id), attributes)
