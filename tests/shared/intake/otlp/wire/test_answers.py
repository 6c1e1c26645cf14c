"""Answers, read with OpenTelemetry's and Google's own definitions."""

import json

import pytest
from google.protobuf.json_format import Parse
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from shared.intake.otlp.wire.answers import code_of, export_answer, status, status_with_retry
from shared.intake.otlp.wire.reading import JSON, PROTOBUF
from shared.intake.otlp.wire.signals import LOGS, METRICS, TRACES, Signal

RESPONSES = [
    (TRACES, ExportTraceServiceResponse, "rejected_spans"),
    (LOGS, ExportLogsServiceResponse, "rejected_log_records"),
    (METRICS, ExportMetricsServiceResponse, "rejected_data_points"),
]


@pytest.mark.parametrize(("rejected", "message"), [(300, "300 of 301 are bad, ü"), (0, "a hint")])
@pytest.mark.parametrize(("signal", "kind", "field"), RESPONSES)
def test_a_partial_success(
    signal: Signal, kind: type, field: str, rejected: int, message: str
) -> None:
    binary = kind.FromString(export_answer(signal, PROTOBUF, rejected, message))  # type: ignore[attr-defined]
    text = Parse(export_answer(signal, JSON, rejected, message), kind())
    assert binary == text
    assert getattr(binary.partial_success, field) == rejected
    assert binary.partial_success.error_message == message


def test_a_success_is_empty() -> None:
    assert export_answer(TRACES, PROTOBUF, 0, "") == b""
    assert json.loads(export_answer(TRACES, JSON, 0, "")) == {}


def test_a_status() -> None:
    binary = Status.FromString(status(PROTOBUF, 16, "no key ü"))
    assert (binary.code, binary.message) == (16, "no key ü")
    assert json.loads(status(JSON, 16, "no key ü")) == {"code": 16, "message": "no key ü"}


def test_a_status_that_asks_to_try_again() -> None:
    read = Status.FromString(status_with_retry(14, "full", 2))
    assert (read.code, read.message) == (14, "full")
    [detail], info = read.details, RetryInfo()
    assert detail.Unpack(info)
    assert info.retry_delay.seconds == 2


def test_a_status_that_nobody_listed_is_internal() -> None:
    assert (code_of(503), code_of(500)) == (14, 13)
