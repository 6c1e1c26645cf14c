"""Exports over HTTP: credentials, answers, limits, and what is in Redis afterwards."""

import gzip
import json
import zlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from flask.testing import FlaskClient
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from werkzeug.test import TestResponse

from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.accept import Ingest
from shared.intake.otlp.wire.reading import JSON, PROTOBUF
from tests.support.app import Headers
from tests.support.otlp import logs, make_log, make_span, metrics, one_span, text_attribute, traces
from tests.support.runtime import Org
from tests.support.streams import waiting_records

Key = Callable[..., Headers]
BODY = traces(make_span(1), make_span(2)).SerializeToString()


def send(
    client: FlaskClient,
    headers: Headers,
    body: bytes = BODY,
    form: str = PROTOBUF,
    path: str = "/v1/traces",
) -> TestResponse:
    return client.post(path, data=body, headers=headers, content_type=form)


def require_status(answer: TestResponse, status: int, code: int, message: str = "") -> None:
    """Checks that the answer is a `google.rpc.Status` with this code and a part of this message."""
    assert answer.status_code == status
    assert answer.headers["X-Request-Id"]
    if answer.mimetype == PROTOBUF:
        found = Status.FromString(answer.data)
        body: dict[str, Any] = {"code": found.code, "message": found.message}
    else:
        assert answer.mimetype == JSON
        body = answer.get_json()
    assert body["code"] == code
    assert message in body["message"]
    assert body["message"]
    assert body.keys() == {"code", "message"}


def spans_of(runtime: Runtime, org: Org) -> list[str]:
    """Returns the names of all spans that wait."""
    return [span.name for records in waiting_records(runtime, org) for span in records.spans]


@pytest.mark.parametrize("prefix", ["", "/api/public/otel"])
@pytest.mark.parametrize("form", [PROTOBUF, JSON])
def test_records_are_kept_as_they_were_sent(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org, form: str, prefix: str
) -> None:
    span = make_span(7)
    body = traces(span).SerializeToString() if form == PROTOBUF else json.dumps(one_span()).encode()
    answer = send(client, key("events:add"), body, form, f"{prefix}/v1/traces")
    assert (answer.status_code, answer.mimetype) == (200, form)
    assert answer.data == (b"" if form == PROTOBUF else b"{}")
    [records] = waiting_records(runtime, org)
    assert [one.trace_id for one in records.spans] == ["01" * 16]
    log = logs(make_log()).SerializeToString()
    assert send(client, key("events:add"), log, path=f"{prefix}/v1/logs").status_code == 200
    assert sum(len(one.logs) for one in waiting_records(runtime, org)) == 1


def test_a_key_is_taken_in_every_form_of_exporters(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    secret = key("events:add")["Authorization"].removeprefix("Bearer ")
    basic = b64encode(f"pk-lf-public:{secret}".encode()).decode()
    forms: list[Headers] = [
        {"Authorization": f"Bearer {secret}"},
        {"Authorization": f"bearer {secret} "},
        {"Authorization": f"Basic {basic}"},
        {"Authorization": secret},
        {"x-api-key": secret},
    ]
    for headers in forms:
        assert send(client, headers).status_code == 200, headers
    assert len(spans_of(runtime, org)) == 2 * len(forms)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer nobody-knows-this"},
        {"Authorization": "Basic !!"},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer"},
        {"Authorization": "\xff\xfe"},
        {"x-api-key": "nobody-knows-this"},
    ],
)
@pytest.mark.parametrize("form", [PROTOBUF, JSON])
def test_without_a_valid_credential(client: FlaskClient, headers: Headers, form: str) -> None:
    answer = send(client, headers, b"", form)
    require_status(answer, 401, 16)
    assert answer.mimetype == form
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics"])
def test_without_the_permission(client: FlaskClient, key: Key, path: str) -> None:
    require_status(send(client, key("events:read"), path=path), 403, 7, "events:add")


def test_of_another_organization(client: FlaskClient, key: Key, admin: Headers) -> None:
    foreign = {**key("events:add"), "X-Service-Org": "default"}
    require_status(send(client, foreign), 403, 7)
    require_status(send(client, {**admin, "X-Service-Org": "no-such"}), 404, 5)


def test_the_setting_that_is_off_is_named(
    client: FlaskClient, key: Key, admin: Headers, runtime: Runtime, org: Org
) -> None:
    def switch(on: bool) -> None:
        answer = client.put("/v1/settings/otel.ingest_enabled", headers=admin, json={"value": on})
        assert answer.status_code == 200, answer.data

    headers = key("events:add")
    switch(False)
    require_status(send(client, headers), 403, 7, "otel.ingest_enabled")
    assert spans_of(runtime, org) == []
    switch(True)
    assert send(client, headers).status_code == 200


def test_bad_records_are_counted_and_good_ones_kept(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    request = traces(make_span(1), make_span(2, trace_id=b""), make_span(3, span_id=bytes(8)))
    answer = send(client, key("events:add"), request.SerializeToString())
    partial = ExportTraceServiceResponse.FromString(answer.data).partial_success
    assert (answer.status_code, partial.rejected_spans) == (200, 2)
    assert partial.error_message == (
        "2 of 3 spans rejected: trace id is not 16 bytes (1), span id is zeros (1)"
    )
    assert spans_of(runtime, org) == ["chat 1"]


@pytest.mark.parametrize(("form", "body"), [(PROTOBUF, b""), (JSON, b"{}"), (JSON, b"")])
@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics"])
def test_nothing_at_all_is_accepted(
    client: FlaskClient, key: Key, path: str, form: str, body: bytes
) -> None:
    answer = send(client, key("events:add"), body, form, path)
    assert (answer.status_code, answer.mimetype) == (200, form)


def test_metrics_are_warned_of(client: FlaskClient, key: Key) -> None:
    body = metrics().SerializeToString()
    answer = send(client, key("events:add"), body, path="/v1/metrics")
    partial = ExportTraceServiceResponse.FromString(answer.data).partial_success
    assert (partial.rejected_spans, partial.error_message) == (0, "metrics are not stored")


def test_log_records_of_no_session_are_warned_of(client: FlaskClient, key: Key) -> None:
    named = make_log(trace_id=b"", attributes=[text_attribute("session.id", "s")])
    body = logs(make_log(), make_log(trace_id=b""), named).SerializeToString()
    answer = send(client, key("events:add"), body, path="/v1/logs")
    partial = ExportTraceServiceResponse.FromString(answer.data).partial_success
    assert partial.rejected_spans == 0
    assert partial.error_message.startswith("1 of 3 log records are not stored")


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(BODY)),
        ("GZIP", gzip.compress(BODY)),
        ("zstd", zstandard.compress(BODY)),
        ("identity", BODY),
    ],
)
def test_encodings(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org, encoding: str, packed: bytes
) -> None:
    headers = {**key("events:add"), "Content-Encoding": encoding}
    assert send(client, headers, packed).status_code == 200
    assert spans_of(runtime, org) == ["chat 1", "chat 2"]


@pytest.mark.parametrize(
    ("status", "code", "form", "encoding", "body"),
    [
        (400, 3, PROTOBUF, "", BODY[:-1]),
        (400, 3, JSON, "", b"{"),
        (400, 3, PROTOBUF, "gzip", BODY),
        (400, 3, PROTOBUF, "gzip", gzip.compress(BODY)[:-9]),
        (400, 3, PROTOBUF, "zstd", BODY),
        (400, 3, PROTOBUF, "", metrics().SerializeToString()),
        (413, 8, PROTOBUF, "", bytes(20 * 1024 * 1024 + 1)),
        (413, 8, PROTOBUF, "gzip", lambda: gzip.compress(bytes(21 * 1024 * 1024))),
        (413, 8, PROTOBUF, "zstd", lambda: zstandard.compress(bytes(500 * 1024 * 1024))),
        (415, 3, "text/plain", "", BODY),
        (415, 3, "application/x-ndjson", "", b"{}"),
        (415, 3, PROTOBUF, "deflate", zlib.compress(BODY)),
    ],
)
def test_bodies_that_are_refused(
    client: FlaskClient,
    key: Key,
    runtime: Runtime,
    org: Org,
    status: int,
    code: int,
    form: str,
    encoding: str,
    body: bytes | Callable[[], bytes],
) -> None:
    """Packs a large body itself: every process of a run makes all lists of cases."""
    headers = {**key("events:add"), "Content-Encoding": encoding}
    answer = send(client, headers, body if isinstance(body, bytes) else body(), form)
    require_status(answer, status, code)
    assert answer.mimetype == (PROTOBUF if form == PROTOBUF else JSON)
    assert waiting_records(runtime, org) == []


def test_while_the_backlog_is_full(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_ingest: Ingest, _org_id: str) -> None:
        raise Unavailable("the ingest backlog is full", retry_after_secs=5)

    monkeypatch.setattr(Ingest, "require_room", full)
    answer = send(client, key("events:add"))
    require_status(answer, 503, 14, "backlog")
    assert 1 <= int(answer.headers["Retry-After"]) <= 3
    assert waiting_records(runtime, org) == []


def test_a_defect_shows_nothing(
    client: FlaskClient, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_ingest: Ingest, _org_id: str) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Ingest, "require_room", crash)
    answer = send(client, key("events:add"))
    require_status(answer, 500, 13)
    assert b"secret" not in answer.data


def test_redacted_keys_never_reach_redis(
    client: FlaskClient, key: Key, admin: Headers, runtime: Runtime, org: Org
) -> None:
    setting = {"value": ["Password"]}
    path = "/v1/settings/redaction.payload_keys"
    assert client.put(path, headers=admin, json=setting).status_code == 200
    span = make_span(1)
    span.attributes.append(text_attribute("password", "hunter2"))
    span.attributes.append(text_attribute("arguments", '{"PASSWORD": "hunter2", "a": 1}'))
    inner = span.attributes.add(key="object").value.kvlist_value.values
    inner.append(text_attribute("password", "hunter2"))
    span.events.add(name="e").attributes.append(text_attribute("password", "hunter2"))
    request = traces(span)
    resource = request.resource_spans[0].resource
    resource.attributes.append(text_attribute("password", "hunter2"))
    assert send(client, key("events:add"), request.SerializeToString()).status_code == 200
    log = make_log()
    log.body.kvlist_value.values.append(text_attribute("password", "hunter2"))
    body = logs(log).SerializeToString()
    assert send(client, key("events:add"), body, path="/v1/logs").status_code == 200
    kept = waiting_records(runtime, org)
    assert "hunter2" not in repr(kept)
    assert repr(kept).count("[redacted]") == 6
    [kept_span] = [one for records in kept for one in records.spans]
    assert json.loads(kept_span.attributes["arguments"]) == {"PASSWORD": "[redacted]", "a": 1}
