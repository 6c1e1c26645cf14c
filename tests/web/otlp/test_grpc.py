"""Exports over gRPC, to the process of the Procfile, by OpenTelemetry's exporter and by hand."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from devstack import DevStack
from devstack.ports import free_port
from shared.access.settings import service as settings
from shared.access.settings.service import Editor
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import backlog
from shared.intake.receipts.listing import ReceiptFilters, list_receipts
from tests.support.app import Headers
from tests.support.databases import environment
from tests.support.otlp import logs, make_log, make_span, metrics, traces
from tests.support.runtime import Org
from tests.support.server import running_server
from tests.support.streams import waiting_records
from web.otlp.grpc import exports
from web.otlp.grpc.__main__ import make_server
from web.otlp.grpc.exports import SERVICES, ExportCalls

pytestmark = pytest.mark.flow

PROJECT = Path(__file__).resolve().parents[3]
TRACE, LOG, METRIC = SERVICES
BODY = traces(make_span(1), make_span(2)).SerializeToString()
Key = Callable[..., Headers]


def start(environ: dict[str, str], log: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Starts the process with these variables."""
    return subprocess.Popen(
        [sys.executable, "-m", "web.otlp.grpc"],
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], **environ},
        stderr=log,
    )


@pytest.fixture(scope="module")
def address(migrated_stack: DevStack) -> Iterator[str]:
    """The address of a running process, which is stopped at the end."""
    port = free_port()
    environ = {**environment(migrated_stack.urls), "OTLP_GRPC_PORT": str(port)}
    process = start(environ)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        grpc.channel_ready_future(channel).result(60)
    yield f"127.0.0.1:{port}"
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


@pytest.fixture
def channel(address: str) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(address, [("grpc.max_send_message_length", -1)]) as made:
        yield made


def metadata(headers: Headers) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers.items()]


def call(
    channel: grpc.Channel, headers: Headers, body: bytes = BODY, service: str = TRACE, **more: Any
) -> bytes:
    export = channel.unary_unary(f"/{service}/Export")
    answer: bytes = export(body, metadata=metadata(headers), timeout=20, **more)
    return answer


def refusal(
    channel: grpc.Channel, headers: Headers, body: bytes = BODY, service: str = TRACE
) -> Any:
    with pytest.raises(grpc.RpcError) as raised:
        call(channel, headers, body, service)
    return raised.value


def limit(runtime: Runtime, org: Org, setting: str, value: int) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        editor = Editor("test", None)
        settings.replace(session, runtime.settings, org.uuid, f"limits.{setting}", value, editor)


def test_an_export_over_a_limit_is_refused_with_a_delay(
    channel: grpc.Channel, runtime: Runtime, org: Org, key: Key
) -> None:
    limit(runtime, org, "org_events_per_day", 1)
    headers = key("events:add")
    error = refusal(channel, headers)
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    assert "limits.org_events_per_day" in error.details()
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    retry = RetryInfo()
    assert Status.FromString(details).details[0].Unpack(retry)
    assert 0 < retry.retry_delay.seconds <= 3
    assert span_names(runtime, org) == []
    call(channel, headers, traces(make_span(1)).SerializeToString())


@pytest.fixture(params=["grpc", "http"])
def exporter(
    request: pytest.FixtureRequest, migrated_stack: DevStack, address: str, key: Key, tmp_path: Path
) -> Iterator[SpanExporter]:
    """The exporter of either way; that of HTTP sends to a web tier of its own."""
    headers = key("events:add")
    if request.param == "grpc":
        yield OTLPSpanExporter(
            endpoint=f"http://{address}", insecure=True, headers=metadata(headers)
        )
        return
    with running_server(environment(migrated_stack.urls), tmp_path / "web.log") as server:
        yield HttpExporter(f"http://127.0.0.1:{server.port}/v1/traces", headers=headers)


def test_the_exporter_of_opentelemetry_loses_nothing_under_a_limit(
    exporter: SpanExporter, runtime: Runtime, org: Org
) -> None:
    limit(runtime, org, "key_requests_per_sec", 1)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for number in range(3):
        provider.get_tracer("tests").start_span(f"span {number}").end()
    provider.shutdown()
    assert sorted(span_names(runtime, org)) == ["span 0", "span 1", "span 2"]
    rows = list_receipts(
        runtime, org.uuid, ReceiptFilters(), bucket="none", cursor=None, limit=9
    ).rows
    assert sum(row.counts["refused"] for row in rows) > 0
    assert sum(row.counts["accepted"] for row in rows) == 3


def span_names(runtime: Runtime, org: Org) -> list[str]:
    return [span.name for records in waiting_records(runtime, org) for span in records.spans]


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_the_exporters_of_opentelemetry(
    address: str, runtime: Runtime, org: Org, key: Key, compression: grpc.Compression
) -> None:
    options = {
        "endpoint": f"http://{address}",
        "insecure": True,
        "headers": metadata(key("events:add")),
        "compression": compression,
    }
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(**options)))
    with provider.get_tracer("tests").start_as_current_span("ask") as span:
        span.set_attribute("session.id", "s-1")
    provider.shutdown()
    loggers = LoggerProvider()
    loggers.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(**options)))
    loggers.get_logger("tests").emit(body="hello", timestamp=time.time_ns(), event_name="a.b")
    loggers.shutdown()
    kept = waiting_records(runtime, org)
    [read_span] = [one for records in kept for one in records.spans]
    assert (read_span.name, read_span.attributes) == ("ask", {"session.id": "s-1"})
    [log] = [one for records in kept for one in records.logs]
    assert (log.body, log.event_name) == ("hello", "a.b")


def test_an_exporter_over_tls(
    migrated_stack: DevStack, runtime: Runtime, org: Org, key: Key, tmp_path: Path
) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    cert, secret = tmp_path / "tls.crt", tmp_path / "tls.key"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    secret.write_bytes(issued.private_key_pem.bytes())
    port = free_port()
    environ = {
        **environment(migrated_stack.urls),
        "OTLP_GRPC_PORT": str(port),
        "OTLP_GRPC_TLS_CERT": str(cert),
        "OTLP_GRPC_TLS_KEY": str(secret),
    }
    trusted = grpc.ssl_channel_credentials(authority.cert_pem.bytes())
    process = start(environ)
    try:
        with grpc.secure_channel(f"localhost:{port}", trusted) as channel:
            grpc.channel_ready_future(channel).result(60)
        exporter = OTLPSpanExporter(
            endpoint=f"https://localhost:{port}",
            credentials=trusted,
            headers=metadata(key("events:add")),
        )
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        provider.get_tracer("tests").start_span("over tls").end()
        provider.shutdown()
        assert span_names(runtime, org) == ["over tls"]
        with grpc.insecure_channel(f"localhost:{port}") as clear:
            assert refusal(clear, key("events:add")).code() == grpc.StatusCode.UNAVAILABLE
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_a_certificate_that_is_not_there_is_named(migrated_stack: DevStack) -> None:
    environ = {
        **environment(migrated_stack.urls),
        "OTLP_GRPC_PORT": str(free_port()),
        "OTLP_GRPC_TLS_CERT": "/nowhere.crt",
        "OTLP_GRPC_TLS_KEY": "/nowhere.key",
    }
    process = start(environ, subprocess.PIPE)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"OTLP_GRPC_TLS_KEY: cannot read the file" in said


def test_partial_success(channel: grpc.Channel, key: Key, runtime: Runtime, org: Org) -> None:
    body = traces(make_span(1), make_span(2, trace_id=b"")).SerializeToString()
    partial = ExportTraceServiceResponse.FromString(call(channel, key(), body)).partial_success
    assert partial.rejected_spans == 1
    assert "trace id is not 16 bytes (1)" in partial.error_message
    assert span_names(runtime, org) == ["chat 1"]
    warning = call(channel, key(), metrics().SerializeToString(), METRIC)
    partial = ExportTraceServiceResponse.FromString(warning).partial_success
    assert (partial.rejected_spans, partial.error_message) == (0, "metrics are not stored")
    assert call(channel, key(), b"") == b""


def test_credentials(channel: grpc.Channel, key: Key) -> None:
    secret = key("events:add")["Authorization"].removeprefix("Bearer ")
    forms = [{"authorization": f"Bearer {secret}"}, {"authorization": secret}]
    for headers in (*forms, {"x-api-key": secret}):
        assert call(channel, headers) == b""
    for headers in ({}, {"authorization": "Bearer nobody-knows-this"}, {"x-api-key": "x"}):
        assert refusal(channel, headers).code() is grpc.StatusCode.UNAUTHENTICATED
    unpermitted = refusal(channel, key("events:read"))
    assert unpermitted.code() is grpc.StatusCode.PERMISSION_DENIED
    assert "events:add" in unpermitted.details()


def test_the_setting_that_is_off_is_named(
    channel: grpc.Channel, key: Key, admin: Headers, client: Any
) -> None:
    path = "/v1/settings/otel.ingest_enabled"
    assert client.put(path, headers=admin, json={"value": False}).status_code == 200
    refused = refusal(channel, key())
    assert refused.code() is grpc.StatusCode.PERMISSION_DENIED
    assert "otel.ingest_enabled" in refused.details()


def test_bodies_that_are_refused(
    channel: grpc.Channel, key: Key, runtime: Runtime, org: Org
) -> None:
    headers = key()
    invalid, large = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refusal(channel, headers, BODY[:-1]).code() is invalid
    other = refusal(channel, headers, logs(make_log()).SerializeToString())
    assert (other.code(), "/v1/logs" in other.details()) == (invalid, True)
    assert refusal(channel, headers, b"\x1f\x8bno gzip").code() is invalid
    too_large = refusal(channel, headers, bytes(21 * 1024 * 1024))
    assert too_large.code() is large
    assert "grpc-status-details-bin" not in dict(too_large.trailing_metadata())
    with pytest.raises(grpc.RpcError) as bomb:
        call(channel, headers, bytes(500 * 1024 * 1024), compression=grpc.Compression.Gzip)
    assert bomb.value.code() is large
    assert waiting_records(runtime, org) == []


def test_while_the_backlog_is_full(channel: grpc.Channel, key: Key, runtime: Runtime) -> None:
    used = int(runtime.redis.info("memory")["used_memory"])
    runtime.redis.config_set("maxmemory", int(used * 1.1))
    # The process measures the backlog four times a second.
    time.sleep(2 * backlog._REMEASURE_SECS)
    try:
        refused = refusal(channel, key())
    finally:
        runtime.redis.config_set("maxmemory", 0)
        # As above.
        time.sleep(2 * backlog._REMEASURE_SECS)
        # This call measures again; others do not wait for it.
        with suppress(grpc.RpcError):
            call(channel, key())
    assert refused.code() is grpc.StatusCode.UNAVAILABLE
    status = Status.FromString(dict(refused.trailing_metadata())["grpc-status-details-bin"])
    info = RetryInfo()
    assert status.details[0].Unpack(info)
    assert 1 <= info.retry_delay.seconds <= 3


def test_clients_that_send_no_message_keep_nobody_waiting(channel: grpc.Channel, key: Key) -> None:
    headers, end = key(), threading.Event()

    def never() -> Iterator[bytes]:
        end.wait(60)
        yield BODY

    export = channel.stream_unary(f"/{TRACE}/Export")
    silent = [export.future(never(), metadata=metadata(headers)) for _ in range(30)]
    try:
        assert call(channel, headers) == b""
    finally:
        end.set()
    assert [one.result(60) for one in silent] == [b""] * 30


def test_a_port_that_is_taken_is_named(migrated_stack: DevStack, address: str) -> None:
    port = address.rpartition(":")[2]
    environ = {**environment(migrated_stack.urls), "OTLP_GRPC_PORT": port}
    process = start(environ, subprocess.PIPE)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"OTLP_GRPC_PORT" in errors


def test_without_a_port_it_ends(migrated_stack: DevStack) -> None:
    process = start({**environment(migrated_stack.urls), "OTLP_GRPC_PORT": "0"})
    assert process.wait(60) == 0


def test_a_call_is_counted(
    channel: grpc.Channel, key: Callable[..., Headers], runtime: Runtime, org: Org
) -> None:
    headers = {**key("events:add"), "X-Watchpost-Machine-Id": "m"}
    call(channel, headers)
    [row] = list_receipts(
        runtime, org.uuid, ReceiptFilters(), bucket="none", cursor=None, limit=9
    ).rows
    assert (row.source, row.machine_id, row.service) == ("otlp_grpc", "m", "bot")
    assert (row.counts["requests"], row.counts["accepted"]) == (1, 2)
    assert row.sender.startswith("grpc-python/")


def test_a_call_that_finds_no_place_is_counted(
    key: Key, runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PLACE_SECS", 0.01)
    headers = key("events:add")

    async def refuse() -> Any:
        server = make_server(runtime.settings, ExportCalls(runtime, arriving=0, working=1))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            refused = await asyncio.to_thread(refusal, channel, headers)
        await server.stop(None)
        return refused

    assert asyncio.run(refuse()).code() is grpc.StatusCode.UNAVAILABLE
    [row] = list_receipts(
        runtime, org.uuid, ReceiptFilters(), bucket="none", cursor=None, limit=9
    ).rows
    assert (row.source, row.counts["requests"], row.counts["refused"]) == ("otlp_grpc", 1, 1)
    assert [one["reason"] for one in row.reasons] == ["too many exports at once"]
