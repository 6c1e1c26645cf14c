"""The messages of OTLP in JSON as types, and their values as ours.

Null counts as an absent field, and unknown fields are ignored.
"""

import binascii
import re
from base64 import b64decode, b64encode

import msgspec

from shared.intake.otlp.records import Attributes, Value
from shared.intake.otlp.wire.checks import MAX_DEPTH, TOO_DEEP, Rejected
from shared.intake.otlp.wire.values import finite

_NON_FINITE = frozenset(("NaN", "Infinity", "-Infinity"))
_INTEGER = re.compile(r"-?[0-9]{1,20}")

# Protobuf's JSON has integers of 64 bits as text, since JavaScript cannot hold them.
Number = int | str | None


class _Message(msgspec.Struct, rename="camel", gc=False):
    pass


class AnyValue(_Message):
    """A value; at most one of the fields is given."""

    string_value: str | None = None
    int_value: Number = None
    bool_value: bool | None = None
    double_value: float | str | None = None
    array_value: "ArrayValue | None" = None
    kvlist_value: "KeyValueList | None" = None
    bytes_value: str | None = None


class ArrayValue(_Message):
    """A list."""

    values: list[AnyValue | None] | None = None


class KeyValue(_Message):
    """An attribute."""

    key: str | None = None
    value: AnyValue | None = None


class KeyValueList(_Message):
    """An object."""

    values: list[KeyValue] | None = None


class ResourceMessage(_Message):
    """A resource."""

    attributes: list[KeyValue] | None = None


class ScopeMessage(_Message):
    """A scope."""

    name: str | None = None
    version: str | None = None
    attributes: list[KeyValue] | None = None


class EventMessage(_Message):
    """An event of a span."""

    name: str | None = None
    time_unix_nano: Number = None
    attributes: list[KeyValue] | None = None


class LinkMessage(_Message):
    """A link of a span."""

    trace_id: str | None = None
    span_id: str | None = None
    attributes: list[KeyValue] | None = None


class StatusMessage(_Message):
    """The status of a span."""

    code: int | None = None
    message: str | None = None


class SpanMessage(_Message):
    """A span."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | None = None
    start_time_unix_nano: Number = None
    end_time_unix_nano: Number = None
    attributes: list[KeyValue] | None = None
    events: list[EventMessage] | None = None
    links: list[LinkMessage] | None = None
    status: StatusMessage | None = None


class LogMessage(_Message):
    """A log record."""

    trace_id: str | None = None
    span_id: str | None = None
    time_unix_nano: Number = None
    observed_time_unix_nano: Number = None
    severity_number: int | None = None
    severity_text: str | None = None
    event_name: str | None = None
    body: AnyValue | None = None
    attributes: list[KeyValue] | None = None


def attributes_of(members: list[KeyValue] | None, depth: int = 0) -> Attributes:
    """Returns attributes as an object. Raises `Rejected`."""
    return {member.key or "": value_of(member.value, depth) for member in members or ()}


def value_of(message: AnyValue | None, depth: int = 0) -> Value:
    """Returns a value, None if there is none. Raises `Rejected`."""
    if message is None:
        return None
    if message.string_value is not None:
        return message.string_value
    if message.int_value is not None:
        return integer("an intValue", message.int_value, -(2**63), 2**63 - 1)
    if message.bool_value is not None:
        return message.bool_value
    if message.double_value is not None:
        return _double(message.double_value)
    if message.bytes_value is not None:
        return _base64(message.bytes_value)
    return _container(message, depth + 1)


def integer(name: str, value: Number, least: int = 0, most: int = 2**64 - 1) -> int:
    """Returns an integer that is given as a number or as text; absent ones are 0.

    Raises `Rejected`.
    """
    if isinstance(value, str):
        if _INTEGER.fullmatch(value) is None:
            raise Rejected(f"{name} is not an integer")
        value = int(value)
    value = value or 0
    if not least <= value <= most:
        raise Rejected(f"{name} has more than 64 bits")
    return value


def _container(message: AnyValue, depth: int) -> Value:
    if depth > MAX_DEPTH:
        raise Rejected(TOO_DEEP)
    if message.array_value is not None:
        return [value_of(member, depth) for member in message.array_value.values or ()]
    if message.kvlist_value is not None:
        return attributes_of(message.kvlist_value.values, depth)
    return None


def _double(value: float | str) -> float | str:
    if isinstance(value, str):
        if value in _NON_FINITE:
            return value
        try:
            return finite(float(value))
        except ValueError:
            raise Rejected("a doubleValue is not a number") from None
    return finite(value)


def _base64(value: str) -> str:
    """Returns base64 in the usual alphabet, with padding; senders may use either of each."""
    plain = value.translate(_URL_SAFE).rstrip("=")
    try:
        content = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Rejected("a bytesValue is not base64") from None
    return b64encode(content).decode()


_URL_SAFE = str.maketrans("-_", "+/")
