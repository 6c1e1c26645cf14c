"""Spans and log records of one organization in the form in which Redis stores them.

Values are those of OTLP's `AnyValue`: None, booleans, 64-bit integers, floats, texts, lists and
objects. Bytes are base64 text. NaN and the infinities are the texts `NaN`, `Infinity` and
`-Infinity`, because JSON has no numbers for them.
"""

from typing import Any

import msgspec
import xxhash

from shared.foundation.core.packing import pack, unpack
from shared.intake.receipts.origin import Origin

Value = None | bool | int | float | str | list[Any] | dict[str, Any]
Attributes = dict[str, Any]


class Resource(msgspec.Struct, array_like=True, gc=False):
    """The process that sent records."""

    attributes: Attributes


class Scope(msgspec.Struct, array_like=True, gc=False):
    """The instrumentation that made records."""

    name: str
    version: str
    attributes: Attributes


class SpanEvent(msgspec.Struct, array_like=True, gc=False):
    """Something that happened during a span; `time_ns` counts from the epoch, 0 if not known."""

    name: str
    time_ns: int
    attributes: Attributes


class Link(msgspec.Struct, array_like=True, gc=False):
    """A reference to a span, mostly of another trace; ids as in `Span`."""

    trace_id: str
    span_id: str
    attributes: Attributes


class Span(msgspec.Struct, array_like=True, gc=False):
    """A span. `trace_id` has 32 lower-case hex digits, `span_id` 16; no parent is "".

    Times are nanoseconds since the epoch, and `end_ns` is 0 if it was not sent. `kind` and
    `status_code` are OTLP's numbers (a status of 2 is an error). `resource` and `scope` are
    positions in the lists of the span's `Records`.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: Attributes
    events: list[SpanEvent]
    links: list[Link]
    status_code: int
    status_message: str
    resource: int
    scope: int


class LogRecord(msgspec.Struct, array_like=True, gc=False):
    """A log record; ids as in `Span`, "" if it has none.

    `time_ns` is its own time, else the time at which it was observed. `severity` is its text,
    else the name of its number, else "". `digest` (64 bits) tells it from other records with the
    same trace, span, time and name; it is the same in protobuf and JSON.
    """

    trace_id: str
    span_id: str
    time_ns: int
    severity: str
    event_name: str
    body: Value
    attributes: Attributes
    resource: int
    scope: int
    digest: int


# Receipts count records without an origin as well, so it must have all of its parts.
_BY_HTTP = Origin("otlp_http").base


class Records(msgspec.Struct, array_like=True, gc=False):
    """Records that arrived together, with their resources and scopes.

    `received_ms` is the moment of their arrival, in milliseconds since the epoch. `origin` names
    their sender in receipts (`Origin.base`).
    """

    received_ms: int
    resources: list[Resource]
    scopes: list[Scope]
    spans: list[Span]
    logs: list[LogRecord]
    origin: str = _BY_HTTP

    def __len__(self) -> int:
        return len(self.spans) + len(self.logs)

    def all(self) -> "list[Span | LogRecord]":
        """Returns the spans, then the log records."""
        return [*self.spans, *self.logs]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Records)
_sorted_encoder = msgspec.msgpack.Encoder(order="sorted")


def encode_records(records: Records) -> bytes:
    """Encodes as MessagePack, packed."""
    return pack(_encoder.encode(records))


def decode_records(data: bytes) -> Records:
    """Decodes the output of `encode_records`; raises `ValueError` for anything else."""
    try:
        return _decoder.decode(unpack(data))
    except (msgspec.MsgspecError, ValueError) as error:
        raise ValueError(f"not records: {error}") from error


def digest_of(*content: Value) -> int:
    """Returns 64 bits of a hash; objects with the same members in another order are the same."""
    return xxhash.xxh3_64_intdigest(_sorted_encoder.encode(content))
