"""GET /otel/status: what was sent, what became of it, and where to send."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.intake.otlp.assignment import assigner
from shared.intake.otlp.assignment.assigner import Assigner
from shared.intake.otlp.assignment.rules import OrganizationRules
from shared.intake.otlp.wire.reading import PROTOBUF
from tests.support.app import Headers, new_key
from tests.support.otlp import logs, make_log, make_span, text_attribute, traces
from tests.support.runtime import Org, connected, make_org
from web.app import create_app

Key = Callable[..., Headers]

ODD = [text_attribute("gen_ai.operation.name", "chat"), text_attribute("odd.3.x", "1")]
CONTENT = [
    text_attribute("gen_ai.operation.name", "chat"),
    text_attribute("gen_ai.input.messages", '[{"role":"user","content":"hi"}]'),
    text_attribute("session.id", "one"),
]


@pytest.fixture
def assign(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Assigns all records as if their waits were over, and stores the events."""
    real = assigner.now_ms
    monkeypatch.setattr(assigner, "now_ms", lambda client: real(client) + 60_000)

    def run() -> None:
        Assigner(runtime, OrganizationRules(runtime)).run()
        Drain(runtime, "status", IngestRulesCache(runtime)).run()

    return run


def export(client: FlaskClient, headers: Headers, body: Any, path: str = "/v1/traces") -> None:
    answer = client.post(
        path, data=body.SerializeToString(), headers=headers, content_type=PROTOBUF
    )
    assert answer.status_code == 200


def of_service(name: str, request: ExportTraceServiceRequest) -> ExportTraceServiceRequest:
    request.resource_spans[0].resource.attributes[0].value.string_value = name
    return request


def status(client: FlaskClient, headers: Headers) -> dict[str, Any]:
    answer = client.get("/v1/otel/status", headers=headers)
    assert answer.status_code == 200, answer.json
    return dict(answer.get_json())


def test_nothing_came(client: FlaskClient, key: Key) -> None:
    assert status(client, key("settings:read")) == {
        "enabled": True,
        "events_24h": 0,
        "last_received_at": None,
        "content_missing": False,
        "session_conflicts": 0,
        "endpoints": {"http": "http://localhost", "grpc": "http://localhost:4317"},
        "services": [],
    }


def test_services_show_what_became_of_their_records(
    client: FlaskClient, key: Key, assign: Callable[[], None]
) -> None:
    headers = key()
    bad = make_span(9, trace_id=b"short")
    quiet = traces(make_span(1, trace_id=b"1" * 16, attributes=ODD), bad)
    export(client, headers, of_service("quiet", quiet))
    spans = [make_span(n, trace_id=b"2" * 16, attributes=CONTENT) for n in range(1, 4)]
    export(client, headers, of_service("busy", traces(*spans)))
    plain = make_span(1, trace_id=b"3" * 16, attributes=[])
    export(client, headers, of_service("busy", traces(plain)))
    assign()
    found = status(client, headers)
    assert (found["events_24h"], found["content_missing"]) == (8, False)
    busy, second = found["services"]
    assert found["last_received_at"] == busy.pop("last_received_at")
    assert second.pop("last_received_at") < found["last_received_at"]
    assert busy == {
        "name": "busy",
        "event_count": 6,
        "spans": 4,
        "rejected": 0,
        "not_stored": 1,
        "content_missing": False,
        "unmapped": [],
    }
    assert second == {
        "name": "quiet",
        "event_count": 2,
        "spans": 1,
        "rejected": 1,
        "not_stored": 0,
        "content_missing": True,
        "unmapped": [{"attribute": "odd.N.x", "count": 1}],
    }


def test_receipts_have_the_lag_of_assigned_records_and_what_was_not_stored(
    client: FlaskClient, key: Key, assign: Callable[[], None]
) -> None:
    headers = key()
    export(client, headers, traces(make_span(1), make_span(2, trace_id=b"4" * 16, attributes=[])))
    export(client, headers, logs(make_log(trace_id=b"")), "/v1/logs")
    assign()
    found = client.get("/v1/receipts", headers=headers).get_json()["receipts"]
    bot, nameless = sorted(found, key=lambda row: row["service"] or "~")
    assert [bot[name] for name in ("requests", "accepted", "not_stored")] == [1, 2, 1]
    assert bot["lag_ms"]["max"] >= 0
    assert bot["reasons"] == [{"reason": "span of another kind (otel.other_spans)", "count": 1}]
    assert [nameless[name] for name in ("requests", "accepted", "not_stored")] == [1, 1, 1]
    assert nameless["reasons"] == [{"reason": "log record of no trace and no session", "count": 1}]


def test_a_trace_with_two_session_names_is_a_conflict(
    client: FlaskClient, key: Key, assign: Callable[[], None]
) -> None:
    headers = key()
    for name in ("one", "two", "three"):
        attributes = [*ODD, text_attribute("session.id", name)]
        span = make_span(len(name), trace_id=b"5" * 16, attributes=attributes)
        export(client, headers, traces(span))
        assign()
    found = status(client, headers)
    assert found["session_conflicts"] == 1
    assert found["content_missing"] is True


def test_the_settings_show(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    headers = key()
    client.put("/v1/settings/otel.ingest_enabled", json=False, headers=headers)
    changed = {"otlp_grpc_port": 0, "public_url": "https://watch.example/"}
    with connected(msgspec.structs.replace(runtime.settings, **changed)) as other:
        found = status(create_app(other).test_client(), headers)
    assert found["enabled"] is False
    assert found["endpoints"] == {"http": "https://watch.example", "grpc": None}


def test_with_a_certificate_the_url_is_of_tls(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    changed = {"public_url": "https://watch.example", "otlp_grpc_tls_cert": "/tls.crt"}
    with connected(msgspec.structs.replace(runtime.settings, **changed)) as other:
        found = status(create_app(other).test_client(), key())
    assert found["endpoints"]["grpc"] == "https://watch.example:4317"


def test_the_url_of_a_proxy_is_named_instead(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    proxied = "https://otlp.example:443"
    changed = {"public_url": "https://watch.example", "otlp_grpc_port": 14317}
    for public_url, named in ((proxied, proxied), (None, "http://watch.example:14317")):
        settings = {**changed, "otlp_grpc_public_url": public_url}
        with connected(msgspec.structs.replace(runtime.settings, **settings)) as other:
            found = status(create_app(other).test_client(), key())
        assert found["endpoints"] == {"http": "https://watch.example", "grpc": named}


def test_an_address_of_ipv6_has_brackets(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    changed = {"public_url": "http://[2001:db8::1]:8000/"}
    with connected(msgspec.structs.replace(runtime.settings, **changed)) as other:
        found = status(create_app(other).test_client(), key())
    assert found["endpoints"] == {
        "http": "http://[2001:db8::1]:8000",
        "grpc": "http://[2001:db8::1]:4317",
    }


def test_organizations_see_their_own_status(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org, assign: Callable[[], None]
) -> None:
    export(client, key(), traces(make_span(1)))
    assign()
    assert status(client, new_key(runtime, make_org(runtime)))["services"] == []
    assert status(client, key("events:read"))["services"] != []
