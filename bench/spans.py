"""Requests of OpenTelemetry for benchmarks, made of the recorded ones."""

import time
from collections.abc import Iterator
from hashlib import blake2b

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.airline import recorded_requests
from shared.intake.otlp.mapping.tables import PENDING_PARENT

_SECOND_NS = 1_000_000_000
_NO_SPAN = "0" * 16


def recorded_traces() -> ExportTraceServiceRequest:
    """Returns all recorded requests of traces in one. Raises `SystemExit` if there are none."""
    whole = ExportTraceServiceRequest()
    for path in recorded_requests():
        whole.MergeFromString(path.read_bytes())
    if not whole.resource_spans:
        raise SystemExit("no recorded requests: set WATCHPOST_SHARED to the folder with them")
    return whole


def spans_in(request: ExportTraceServiceRequest) -> Iterator[Span]:
    """Yields all spans of a request."""
    for group in request.resource_spans:
        for scope_group in group.scope_spans:
            yield from scope_group.spans


def request_of(
    recorded: ExportTraceServiceRequest, copies: int, number: int
) -> ExportTraceServiceRequest:
    """Returns copies of the recorded traces as traces of their own that ended now."""
    request = ExportTraceServiceRequest()
    newest = max(span.end_time_unix_nano for span in spans_in(recorded))
    shift = time.time_ns() - _SECOND_NS - newest
    for copy in range(copies):
        one = ExportTraceServiceRequest()
        one.CopyFrom(recorded)
        mark = (number * copies + copy + 1).to_bytes(6, "big")
        for span in spans_in(one):
            span.trace_id = span.trace_id[:10] + mark
            _rename(span, mark)
            _move(span, shift)
        request.MergeFrom(one)
    return request


def _rename(span: Span, mark: bytes) -> None:
    """Gives a span ids that no other copy has: some receivers store a span id once."""
    span.span_id = _id_of(span.span_id, mark)
    if span.parent_span_id:
        span.parent_span_id = _id_of(span.parent_span_id, mark)
    for attribute in span.attributes:
        if attribute.key == PENDING_PARENT and attribute.value.string_value != _NO_SPAN:
            parent = bytes.fromhex(attribute.value.string_value)
            attribute.value.string_value = _id_of(parent, mark).hex()


def _id_of(span_id: bytes, mark: bytes) -> bytes:
    return blake2b(span_id + mark, digest_size=8).digest()


def _move(span: Span, shift: int) -> None:
    span.start_time_unix_nano += shift
    span.end_time_unix_nano += shift
    for event in span.events:
        event.time_unix_nano += shift
