"""Exporters of OpenTelemetry, unchanged, at a whole deployment; and processes that are killed."""

import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from devstack.ports import free_port
from devstack.up.deployment import Deployment
from tests.flows.api import Api
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.otlp import make_span, traces
from tests.support.processes import wait_until

pytestmark = pytest.mark.flow

TURNS = 40
# By default exporters give up after 10 s, in which a busy machine may not start a process again.
GIVE_UP_SECS = 60


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """One deployment, with gRPC. Each test has sessions of its own."""
    with (
        running_evaluator() as evaluator,
        running_deployment(evaluator, OTLP_GRPC_PORT=str(free_port())) as running,
    ):
        yield running


def exporters(deployment: Deployment) -> dict[str, SpanExporter]:
    """Returns the exporters of all ways, by name."""
    bearer = {"authorization": f"Bearer {deployment.admin_key}"}
    basic = b64encode(f"pk-lf-1:{deployment.admin_key}".encode()).decode()
    url = deployment.url
    return {
        "http": HttpExporter(
            f"{url}/v1/traces", headers=bearer, compression=Compression.Gzip, timeout=GIVE_UP_SECS
        ),
        "langfuse": HttpExporter(
            f"{url}/api/public/otel/v1/traces",
            headers={"Authorization": f"Basic {basic}"},
            timeout=GIVE_UP_SECS,
        ),
        "grpc": GrpcExporter(
            f"http://{deployment.grpc_address}",
            headers=bearer,
            insecure=True,
            timeout=GIVE_UP_SECS,
        ),
    }


def converse(name: str, exporter: SpanExporter, turns: int, pause_secs: float = 0) -> list[str]:
    """Sends a trace of an agent, a model and a tool for each turn; returns their trace ids.

    `name` is a part of the names of service and sessions.
    """
    provider = TracerProvider(resource=Resource({"service.name": f"bot-{name}"}))
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=200))
    tracer, trace_ids = provider.get_tracer("tests"), []
    for turn in range(turns):
        with tracer.start_as_current_span("invoke_agent bot") as agent:
            agent.set_attribute("gen_ai.operation.name", "invoke_agent")
            agent.set_attribute("session.id", f"session-{name}-{turn % 4}")
            with tracer.start_as_current_span("chat gpt") as model:
                model.set_attribute("gen_ai.operation.name", "chat")
                model.set_attribute("gen_ai.usage.input_tokens", 7)
            with tracer.start_as_current_span("execute_tool search") as tool:
                tool.set_attribute("gen_ai.operation.name", "execute_tool")
            trace_ids.append(f"{agent.get_span_context().trace_id:032x}")
        # Turns go on while processes are killed.
        time.sleep(pause_secs)
    provider.force_flush(30_000)
    provider.shutdown()
    return trace_ids


def stored(api: Api, name: str) -> dict[str, list[str]]:
    """Returns the types of the events of each trace of an exporter, in order."""
    found: dict[str, list[str]] = {}
    for number in range(4):
        session = f"session-{name}-{number}"
        for event in api.rows("events", session_id=session, order="asc", limit=1000):
            found.setdefault(event["payload"]["otel"]["trace_id"], []).append(event["event_type"])
    return found


EXPECTED = sorted(
    ["agent_start", "agent_end", "model_request", "model_response", "tool_use", "tool_result"]
)


def require_all(api: Api, name: str, trace_ids: list[str]) -> None:
    """Waits until each trace is stored, once, in its session."""
    wait_until(lambda: stored(api, name).keys() >= set(trace_ids), 30)
    wait_until(lambda: all(sorted(types) == EXPECTED for types in stored(api, name).values()), 30)
    assert stored(api, name).keys() == set(trace_ids)


def test_every_exporter_arrives_whole(deployment: Deployment, api: Api) -> None:
    for name, exporter in exporters(deployment).items():
        require_all(api, name, converse(name, exporter, TURNS))
    send_in_chunks(api)
    wait_until(lambda: any(api.rows("events", session_id="01" * 16)), 30)


def test_nothing_is_lost_or_doubled_while_processes_are_killed(
    deployment: Deployment, api: Api
) -> None:
    sent: dict[str, list[str]] = {}

    def run(way: str, exporter: SpanExporter) -> None:
        name = f"{way}-disturbed"
        sent[name] = converse(name, exporter, TURNS, pause_secs=0.25)

    threads = [threading.Thread(target=run, args=one) for one in exporters(deployment).items()]
    for thread in threads:
        thread.start()
    for program in ("otlp-grpc", "worker", "web", "", "otlp-grpc", "worker"):
        # So that records are on their way again.
        time.sleep(1.2)
        if program:
            deployment.kill(program)
        else:
            deployment.stack.redis.kill()
    for thread in threads:
        thread.join()
    for name, trace_ids in sent.items():
        require_all(api, name, trace_ids)


def send_in_chunks(api: Api) -> None:
    """Sends a span in chunks, as exporters in JavaScript do, and then something else."""
    body = traces(make_span(1, name="chat")).SerializeToString()

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(body), 50):
            yield body[start : start + 50]

    connection = HTTPConnection("127.0.0.1", api.port, timeout=30)
    try:
        headers = {
            "Authorization": f"Bearer {api.key}",
            "Content-Type": "application/x-protobuf",
        }
        connection.request("POST", "/v1/traces", chunks(), headers, encode_chunked=True)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"")
        connection.request("POST", "/v1/traces", iter([b"{"] * 3), headers, encode_chunked=True)
        answer = connection.getresponse()
        assert answer.status == 400
    finally:
        connection.close()
