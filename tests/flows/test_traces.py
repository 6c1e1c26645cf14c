"""Traces of Watchpost itself: real processes, and a real receiver of OTLP over HTTP."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.semconv._incubating.attributes import (
    db_attributes,
    http_attributes,
    messaging_attributes,
    network_attributes,
    rpc_attributes,
    url_attributes,
)
from opentelemetry.semconv.attributes import error_attributes

from devstack.ports import free_port
from devstack.up.deployment import Deployment
from shared.foundation.core.tracing import spans
from tests.flows.api import Api
from tests.support.backend import Arrived, Backend, running_backend
from tests.support.deployment import running_deployment
from tests.support.evaluator import Answer, hang, reply, running_evaluator
from tests.support.events import event
from tests.support.otlp import make_span, traces
from tests.support.processes import wait_until

pytestmark = pytest.mark.flow

CLIENTS_TRACE, CLIENTS_SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
# It is in payloads, paths, headers and SQL of people. No span may have it.
SECRET = "geheim"
CONVENTIONS = {
    value
    for module in (
        db_attributes,
        error_attributes,
        http_attributes,
        messaging_attributes,
        network_attributes,
        rpc_attributes,
        url_attributes,
    )
    for value in vars(module).values()
    if isinstance(value, str)
}

# Python runs this first in each process. It notes the modules that are looked for.
WATCH = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("opentelemetry", "requests"):
            with open(os.environ["LOOKED_FOR"], "a") as file:
                file.write(f"{os.getpid()} {name}\\n")
sys.meta_path.insert(0, Watch())
"""


class Watched:
    """The variables with which processes note what they import, and their notes."""

    def __init__(self, directory: Path) -> None:
        (directory / "sitecustomize.py").write_text(WATCH)
        self._notes = directory / "looked-for"
        self.variables = {"PYTHONPATH": str(directory), "LOOKED_FOR": str(self._notes)}

    @property
    def modules(self) -> set[str]:
        """The modules that any process looked for."""
        if not self._notes.exists():
            return set()
        return {line.split()[1] for line in self._notes.read_text().splitlines()}


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with running_backend() as running:
        yield running


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched(tmp_path_factory.mktemp("traced"))


@pytest.fixture(scope="module")
def deployment(backend: Backend, watched: Watched) -> Iterator[Deployment]:
    """One deployment whose processes send traces; each test has sessions of its own."""
    with (
        running_evaluator() as evaluator,
        running_deployment(
            evaluator,
            OTLP_GRPC_PORT=str(free_port()),
            OTEL_EXPORTER_OTLP_ENDPOINT=backend.url,
            OTEL_BSP_SCHEDULE_DELAY="100",
            **watched.variables,
        ) as running,
    ):
        yield running


def children(backend: Backend, parent: Arrived) -> dict[str, Arrived]:
    """Returns the spans right below another one, by name."""
    return {one.name: one for one in backend.spans if one.is_below(parent)}


def below(backend: Backend, parent: Arrived, *names: str) -> dict[str, Arrived]:
    """Waits until spans of these names are right below another one; returns all that are."""
    wait_until(lambda: children(backend, parent).keys() >= {*names}, 60)
    return children(backend, parent)


def send(api: Api, lines: list[bytes], **headers: str) -> None:
    status, said = api.request(
        "POST", "/events", b"\n".join(lines), Content_Type="application/x-ndjson", **headers
    )
    assert status == 202, said


def traced_by(span_id: str) -> dict[str, str]:
    """Returns the header of a client's span."""
    return {"traceparent": f"00-{CLIENTS_TRACE}-{span_id}-01"}


def request_of(backend: Backend, span_id: str) -> Arrived:
    """Waits for the span of the request that had this header, and returns it."""

    def found() -> list[Arrived]:
        return [one for one in backend.spans if one.span.parent_span_id.hex() == span_id]

    wait_until(lambda: bool(found()), 60)
    return found()[0]


def test_a_request_and_what_follows_from_it_are_one_trace(api: Api, backend: Backend) -> None:
    session = f"{SECRET}-session"
    lines = [
        event(session, "10:00:00", "agent_start", prompt=SECRET),
        event(session, "10:00:01", "agent_end", output=SECRET),
    ]
    send(api, lines, User_Agent=SECRET, **traced_by(CLIENTS_SPAN))
    request = request_of(backend, CLIENTS_SPAN)
    assert request.name == "POST /v1/events"
    assert request.trace == CLIENTS_TRACE
    assert request.attributes["http.route"] == "/v1/events"
    assert request.attributes["http.response.status_code"] == 202
    assert request.resource["watchpost.process"] == "web"
    organization = request.attributes[spans.ORGANIZATION]
    turn = below(backend, request, "XADD", "WAITAOF", "persist_events")["persist_events"]
    assert turn.attributes["watchpost.events"] == 2
    assert turn.attributes[spans.ORGANIZATION] == organization
    assert turn.resource["watchpost.process"] == "ingest"
    insert = below(backend, turn, "INSERT events", "XDEL")["INSERT events"]
    assert insert.attributes["db.system.name"] == "clickhouse"
    assert any(name.startswith("INSERT watched_sessions") for name in children(backend, turn))


def test_the_turns_of_workers_have_their_calls_below_them(api: Api, backend: Backend) -> None:
    lines = [
        event("evaluated", "10:00:00", "agent_start"),
        event("evaluated", "10:00:01", "agent_end"),
    ]
    send(api, lines)
    backend.wait_for("check_watched_sessions")
    call = backend.wait_for("POST /evaluate")
    assert call.attributes["http.response.status_code"] == 200
    assert any(call.is_below(one) for one in backend.named("run_evaluations"))
    assert call.resource["watchpost.process"] == "evaluator"
    turn = backend.wait_for("store_evaluations")
    below(backend, turn, "INSERT evaluations", "UPDATE evaluation_jobs")


def test_records_of_opentelemetry_are_followed_to_their_events(api: Api, backend: Backend) -> None:
    body = traces(make_span(7, trace_id=bytes([7] * 16), name=SECRET)).SerializeToString()
    span_id = "7" * 16
    status, _ = api.request(
        "POST", "/traces", body, Content_Type="application/x-protobuf", **traced_by(span_id)
    )
    assert status == 200
    request = request_of(backend, span_id)
    turn = below(backend, request, "place_records", "XADD")["place_records"]
    persisted = below(backend, turn, "persist_events", "EXEC")["persist_events"]
    below(backend, persisted, "INSERT events")


def test_a_call_over_grpc_is_a_span(deployment: Deployment, backend: Backend) -> None:
    exporter = GrpcExporter(
        f"http://{deployment.grpc_address}",
        headers={"authorization": f"Bearer {deployment.admin_key}"},
        insecure=True,
    )
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("tests").start_as_current_span(SECRET):
        pass
    provider.shutdown()
    call = backend.wait_for("opentelemetry.proto.collector.trace.v1.TraceService/Export")
    assert call.attributes["rpc.response.status_code"] == "OK"
    below(backend, call, "XADD", "WAITAOF", "place_records")


def test_sql_of_people_shows_nothing_but_its_verb(api: Api, backend: Backend) -> None:
    sql = f"SELECT '{SECRET}' AS {SECRET} FROM events LIMIT 1"
    body = json.dumps({"sql": sql}).encode()
    span_id = "5" * 16
    status, said = api.request(
        "POST", "/queries/run", body, Content_Type="application/json", **traced_by(span_id)
    )
    assert status == 200, said
    found = below(backend, request_of(backend, span_id), "SELECT")["SELECT"]
    assert found.attributes == {"db.system.name": "clickhouse", "db.operation.name": "SELECT"}


def test_monitoring_and_sending_spans_are_no_spans(api: Api, backend: Backend) -> None:
    agent = {"User_Agent": spans.USER_AGENT}
    body = traces(make_span(9, trace_id=bytes([9] * 16))).SerializeToString()
    own = traced_by("9" * 16) | agent
    media = "application/x-protobuf"
    assert api.request("POST", "/traces", body, Content_Type=media, **own)[0] == 200
    wait_until(lambda: any(api.rows("events", session_id=bytes([9] * 16).hex())), 60)
    for path in ("/health", "/ready"):
        api.request("GET", path, None, **traced_by("9" * 16))
    send(api, [event("last", "10:00:00")], **traced_by("8" * 16))
    below(backend, request_of(backend, "8" * 16), "persist_events")
    found = backend.spans
    assert not [one for one in found if one.span.parent_span_id.hex() == "9" * 16]
    assert not [one for one in found if "health" in one.name or "ready" in one.name]


def test_a_request_that_fails_has_its_status(api: Api, backend: Backend) -> None:
    path = f"/sessions/{SECRET}-unknown?search={SECRET}"
    assert api.request("GET", path, None, **traced_by("4" * 16))[0] == 404
    request = request_of(backend, "4" * 16)
    assert request.name == "GET /v1/sessions/<any_id:session_id>"
    assert request.attributes["http.response.status_code"] == 404
    assert not request.has_failed
    assert api.request("GET", f"/{SECRET}", None, **traced_by("3" * 16))[0] == 404
    assert request_of(backend, "3" * 16).name == "GET"


def test_spans_have_the_names_of_the_conventions_and_no_text(backend: Backend) -> None:
    """It comes after the tests that made spans of all kinds."""
    sent = b"".join(one.body for one in backend.exports)
    assert SECRET.encode() not in sent
    for private in (b"127.0.0.1", b"admin-", b"Bearer", b"WHERE"):
        assert private not in sent
    names = {name for one in backend.spans for name in one.attributes}
    assert {name for name in names if not name.startswith("watchpost.")} <= CONVENTIONS
    processes = {one.resource["watchpost.process"] for one in backend.spans}
    assert processes >= {"web", "ingest", "evaluator", "shared", "otlp-grpc"}
    assert not [one for one in backend.spans if one.span.events]


def test_processes_load_the_packages_only_while_traces_are_on(
    deployment: Deployment, watched: Watched, tmp_path: Path
) -> None:
    assert {"opentelemetry.sdk", "requests"} <= watched.modules
    off = Watched(tmp_path)
    with (
        running_evaluator() as evaluator,
        running_deployment(evaluator, OTLP_GRPC_PORT=str(free_port()), **off.variables) as running,
    ):
        api = Api(int(running.environ["PORT"]), running.admin_key)
        send(api, [event("off", "10:00:00")], **traced_by(CLIENTS_SPAN))
        wait_until(lambda: any(api.rows("events", session_id="off")), 60)
    assert off.modules == set()


@pytest.mark.parametrize("broken", [hang, reply(503), None])
def test_a_collector_that_fails_slows_nothing_down(tmp_path: Path, broken: Answer | None) -> None:
    with running_evaluator() as evaluator, running_backend() as backend:
        backend.answer = broken or reply(200)
        url = backend.url if broken else f"http://127.0.0.1:{free_port()}"
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": url,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "10",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        }
        with running_deployment(evaluator, **variables) as running:
            api = Api(int(running.environ["PORT"]), running.admin_key)
            waits = []
            for number in range(100):
                began = time.monotonic()
                send(api, [event("steady", "10:00:00", n=number)])
                waits.append(time.monotonic() - began)
            waits.sort()
            assert waits[50] < 0.25
            assert waits[-1] < 3
            wait_until(lambda: len(list(api.rows("events", session_id="steady"))) == 100, 60)
            logs = running.stack.directory / "logs"
            began = time.monotonic()
            running.stop()
            assert time.monotonic() - began < 25
            said = "".join(path.read_text() for path in logs.glob("*.log"))
            # One line for each process that had something to send.
            assert 1 <= said.count("traces_trouble") <= 8
