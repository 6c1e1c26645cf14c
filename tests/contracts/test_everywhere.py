"""Rules for every route, tested on routes of each kind."""

import secrets
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient

from devstack.ports import free_port
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.routes import routes_of
from tests.support.runtime import connected
from web.app import create_app

Key = Callable[..., Headers]

JSON, NDJSON = "application/json", "application/x-ndjson"
NOBODY = "00000000-0000-4000-8000-000000000000"
DISABLE, EXPORT = "/v1/keys/{key_id}/disable", "/v1/sessions/{session_id}/export"
RE_EVALUATE = "/v1/sessions/{session_id}/re-evaluate"

# (status, method, path in the document, path as sent, further arguments of the request)
REFUSALS: list[tuple[int, str, str, str, dict[str, Any]]] = [
    (400, "POST", "/v1/keys", "/v1/keys", {"data": b"{", "content_type": JSON}),
    (400, "POST", "/v1/events", "/v1/events", {"data": b"{", "content_type": JSON}),
    (
        400,
        "POST",
        "/v1/events",
        "/v1/events",
        {"data": b"{}", "content_type": NDJSON, "headers": {"Content-Encoding": "gzip"}},
    ),
    (401, "GET", "/v1/events", "/v1/events", {"headers": {"Authorization": "Bearer x"}}),
    (403, "GET", "/v1/events", "/v1/events", {"headers": {"X-Service-Org": "default"}}),
    (404, "POST", DISABLE, f"/v1/keys/{NOBODY}/disable", {}),
    (404, "POST", DISABLE, "/v1/keys/not-an-id/disable", {}),
    (404, "GET", EXPORT, "/v1/sessions/unknown/export", {}),
    (404, "GET", EXPORT, f"/v1/sessions/{'x' * 300}/export", {}),
    (404, "GET", EXPORT, "/v1/sessions/a%0Ab/export", {}),
    (404, "POST", RE_EVALUATE, "/v1/sessions/unknown/re-evaluate", {}),
    (413, "POST", "/v1/keys", "/v1/keys", {"data": b"{" * 3_000_000, "content_type": JSON}),
    (415, "POST", "/v1/keys", "/v1/keys", {"data": b"a=b", "content_type": "text/plain"}),
    (
        415,
        "POST",
        "/v1/keys",
        "/v1/keys",
        {"data": b"{}", "content_type": JSON, "headers": {"Content-Encoding": "gzip"}},
    ),
    (415, "POST", "/v1/events", "/v1/events", {"data": b"{}", "content_type": "text/plain"}),
    (415, "POST", "/v1/events", "/v1/events", {"data": b"{}"}),
    (422, "POST", "/v1/keys", "/v1/keys", {"json": {}}),
    (422, "POST", "/v1/keys", "/v1/keys", {"json": ["a list"]}),
    (422, "POST", "/v1/events", "/v1/events", {"json": {"rows": []}}),
    (422, "POST", "/v1/events", "/v1/events", {"json": {"events": "none"}}),
    (422, "GET", "/v1/sessions", "/v1/sessions?limit=-1", {}),
    (422, "GET", "/v1/sessions", "/v1/sessions?status=open", {}),
    (422, "GET", "/v1/evaluations", "/v1/evaluations?ts_to=2026-11-01T00:00:00", {}),
    (422, "GET", EXPORT, "/v1/sessions/unknown/export?format=csv", {}),
]


@pytest.mark.parametrize(("status", "method", "template", "path", "sent"), REFUSALS)
def test_every_error_has_the_one_body_and_is_in_the_document(
    client: FlaskClient,
    document: Document,
    key: Key,
    status: int,
    method: str,
    template: str,
    path: str,
    sent: dict[str, Any],
) -> None:
    headers = {**key(), **sent.get("headers", {})}
    response = client.open(path, method=method, **{**sent, "headers": headers})
    assert response.status_code == status, response.data
    body = document.require(response, method, template)
    extra = {422: {"fields"}}.get(status, set())
    assert body.keys() == {"error", "code", "request_id"} | extra
    assert body["request_id"] == response.headers["X-Request-Id"]
    assert body["error"]
    assert body["code"].replace("_", "").isalpha()
    assert body["code"] == body["code"].lower()


def test_every_answer_carries_the_request_id(app: Flask, client: FlaskClient, key: Key) -> None:
    sent = {**key(), "X-Request-Id": "0123456789abcdef" * 2}
    for route in routes_of(app):
        response = client.open(route.path, method=route.method, headers=sent)
        assert response.headers["X-Request-Id"] == sent["X-Request-Id"], str(route)
    for method, path in (("GET", "/v1/docs"), ("HEAD", "/v1/health"), ("PUT", "/v1/x")):
        response = client.open(path, method=method, headers=sent, buffered=True)
        assert response.headers["X-Request-Id"] == sent["X-Request-Id"], path


def test_unknown_body_fields_are_ignored(client: FlaskClient, key: Key) -> None:
    unknown = {"is_protected": True, "id": NOBODY, "created_at": None, "new": {"a": [1]}}
    body = {"name": "n", "key": secrets.token_hex(8), **unknown}
    response = client.post("/v1/keys", json=body, headers=key())
    assert response.status_code == 201
    row = response.get_json()
    assert (row["is_protected"], row["id"] == NOBODY) == (False, False)


@pytest.mark.parametrize("path", ["/events", "/events/summary", "/sessions", "/evaluations"])
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"ts_from": "0001-01-01T00:00:00Z"}, 200),
        ({"ts_from": "9999-12-31T23:59:59.999999Z"}, 200),
        ({"ts_to": "9999-12-31T23:59:59.999999+00:00"}, 200),
        ({"ts_from": "2026-11-02T00:00:00Z", "ts_to": "2026-11-01T00:00:00Z"}, 200),
        ({"ts_from": "2026-11-01T00:00:00"}, 422),
        ({"ts_to": "2026-11-01"}, 422),
        ({"session_id": "\x00,'\\\\\n%{}\U0001f600"}, 200),
        ({"limit": "100000000000000000000"}, 200),
        ({"cursor": "bm9uc2Vuc2U"}, 422),
        ({"unknown": "parameter"}, 200),
    ],
)
def test_parameters_at_their_edges(
    client: FlaskClient,
    document: Document,
    key: Key,
    path: str,
    query: dict[str, str],
    status: int,
) -> None:
    headers = key("events:read", "evaluations:read")
    response = client.get(f"/v1{path}", query_string=query, headers=headers)
    assert response.status_code == status, response.data
    body = document.require(response, "GET", f"/v1{path}")
    if status == 422:
        assert body["fields"].keys() == query.keys()


@pytest.mark.parametrize(
    ("variable", "url", "method", "template"),
    [
        ("redis_url", "redis://127.0.0.1:{}/0", "POST", "/v1/events"),
        ("redis_url", "redis://127.0.0.1:{}/0", "POST", DISABLE),
        ("clickhouse_url", "clickhouse://x@127.0.0.1:{}/x", "GET", "/v1/events"),
        ("clickhouse_url", "clickhouse://x@127.0.0.1:{}/x", "GET", "/v1/evaluations"),
        ("clickhouse_url", "clickhouse://x@127.0.0.1:{}/x", "GET", "/v1/usage"),
        ("clickhouse_url", "clickhouse://x@127.0.0.1:{}/x", "GET", "/v1/usage/windows"),
        ("clickhouse_url", "clickhouse://x@127.0.0.1:{}/x", "POST", RE_EVALUATE),
        ("database_url", "postgresql://x@127.0.0.1:{}/x", "GET", "/v1/keys"),
        ("database_url", "postgresql://x@127.0.0.1:{}/x", "GET", "/v1/settings"),
    ],
)
def test_503_when_a_store_is_down_says_when_to_come_back(
    runtime: Runtime,
    document: Document,
    key: Key,
    variable: str,
    url: str,
    method: str,
    template: str,
) -> None:
    headers = key()
    away = {variable: url.format(free_port())}
    with connected(msgspec.structs.replace(runtime.settings, **away)) as broken:
        path = template.format(key_id=NOBODY, session_id="s")
        response = (
            create_app(broken)
            .test_client()
            .open(path, method=method, data=b"{}", content_type=NDJSON, headers=headers)
        )
    assert response.status_code == 503, response.data
    assert int(response.headers["Retry-After"]) >= 1
    document.require(response, method, template)
