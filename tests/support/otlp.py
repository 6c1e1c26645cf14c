"""Requests of OpenTelemetry, made with its own definitions, and the samples of real packages."""

import json
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from shared.intake.otlp.wire.reading import PROTOBUF, Reading
from shared.intake.otlp.wire.signals import LOGS, METRICS, TRACES, Signal
from tests.support.airline import airline_folder

SECOND_NS = 1_000_000_000


def sample_folder() -> Path:
    """Returns the folder with recorded requests, beside the airline recording."""
    return airline_folder().parent / "otlp"


def samples(suffix: str) -> list[Path]:
    """Returns the recorded requests of a format, `.pb` or `.json`; none where they are absent."""
    return sorted(sample_folder().glob(f"*/*{suffix}"))


needs_samples = pytest.mark.skipif(
    not sample_folder().is_dir(), reason=f"no recorded requests in {sample_folder()}"
)


def signal_of(path: Path) -> Signal:
    """Returns the signal of a recorded request, which its name ends with."""
    signals = {"traces": TRACES, "logs": LOGS, "metrics": METRICS}
    return signals[path.stem.partition("-")[2]]


def text_attribute(key: str, value: str) -> KeyValue:
    """Returns an attribute with a text."""
    attribute = KeyValue(key=key)
    attribute.value.string_value = value
    return attribute


def make_span(number: int = 1, **changes: Any) -> Span:
    """Returns a span of the trace 1 that ended now."""
    now = time.time_ns()
    values: dict[str, Any] = {
        "trace_id": bytes([1] * 16),
        "span_id": number.to_bytes(8, "big"),
        "name": f"chat {number}",
        "kind": 3,
        "start_time_unix_nano": now - SECOND_NS,
        "end_time_unix_nano": now,
        "attributes": [text_attribute("gen_ai.operation.name", "chat")],
    }
    return Span(**(values | changes))


def make_log(**changes: Any) -> LogRecord:
    """Returns a log record of the trace 1."""
    values: dict[str, Any] = {
        "trace_id": bytes([1] * 16),
        "time_unix_nano": time.time_ns(),
        "severity_number": 9,
    }
    return LogRecord(**(values | changes))


def traces(*spans: Span) -> ExportTraceServiceRequest:
    """Returns a request with these spans, of one resource and one scope."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.append(text_attribute("service.name", "bot"))
    scope = group.scope_spans.add()
    scope.scope.name = "tests"
    scope.spans.extend(spans)
    return request


def logs(*records: LogRecord) -> ExportLogsServiceRequest:
    """Returns a request with these log records, of one resource and one scope."""
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.extend(records)
    return request


def metrics() -> ExportMetricsServiceRequest:
    """Returns a request with one metric."""
    request = ExportMetricsServiceRequest()
    metric = Metric(name="gen_ai.client.token.usage")
    metric.gauge.data_points.add().as_int = 1
    request.resource_metrics.add().scope_metrics.add().metrics.append(metric)
    return request


def read(signal: Signal, media_type: str, body: bytes) -> Reading:
    """Reads a request to its end."""
    reading = Reading(signal, media_type, time.time_ns())
    steps: Iterator[None] = reading.steps(body)
    for _ in steps:
        pass
    return reading


def one_span(**span: Any) -> dict[str, Any]:
    """Returns a request in JSON with one span."""
    whole = {
        "traceId": "01" * 16,
        "spanId": "02" * 8,
        "startTimeUnixNano": str(time.time_ns()),
        **span,
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [whole]}]}]}


def encoded(request: Message, form: str) -> bytes:
    """Returns the request of this form."""
    if form == PROTOBUF:
        return bytes(request.SerializeToString())

    def in_hex(value: Any) -> Any:
        if isinstance(value, list):
            return [in_hex(one) for one in value]
        if not isinstance(value, dict):
            return value
        ids = ("traceId", "spanId", "parentSpanId")
        return {
            name: b64decode(one).hex() if name in ids else in_hex(one)
            for name, one in value.items()
        }

    document = MessageToDict(request, use_integers_for_enums=True)
    return json.dumps(in_hex(document)).encode()


def size(data: bytes) -> bytes:
    """Returns the length of a message as protobuf has it."""
    number, encoded_size = len(data), b""
    while number > 127:
        encoded_size += bytes([number & 127 | 128])
        number >>= 7
    return encoded_size + bytes([number])


def framed(*spans: bytes) -> bytes:
    """Returns a request in protobuf with these encoded spans."""
    message = b"".join(b"\x12" + size(span) + span for span in spans)
    message = b"\x12" + size(message) + message
    return b"\x0a" + size(message) + message
