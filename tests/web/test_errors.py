"""The error body, for each kind of failure."""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from flask import Flask, abort
from flask.testing import FlaskClient
from structlog.testing import capture_logs

from devstack.ports import free_port
from shared.foundation.core.errors import (
    Forbidden,
    Invalid,
    RateLimited,
    Unavailable,
    WatchpostError,
)
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.routes import UNUSED_ID
from tests.support.runtime import connected
from web.app import create_app
from web.auth import public

REQUEST_ID = "0123456789abcdef0123456789abcdef"
SECRET_TEXT = "SELECT secret FROM somewhere"


@pytest.fixture(scope="module")
def failing(web_runtime: Runtime) -> FlaskClient:
    """An application with a route for each kind of failure."""
    app: Flask = create_app(web_runtime)

    def route(name: str, fail: Callable[[], Any]) -> None:
        app.add_url_rule(f"/v1/{name}", name, public(fail))

    def raises(error: Exception) -> Callable[[], Any]:
        def fail() -> None:
            raise error

        return fail

    route("defect", raises(RuntimeError(SECRET_TEXT)))
    route("abort", lambda: abort(500, SECRET_TEXT))
    route("own", raises(WatchpostError("it went wrong")))
    route("unavailable", raises(Unavailable("a store is away", retry_after_secs=7)))
    route("limited", raises(RateLimited("too many", retry_after_secs=3)))
    route("forbidden", raises(Forbidden("no", required_permission="keys:read")))
    route("invalid", raises(Invalid.field("name", "is bad")))
    return app.test_client()


@pytest.mark.parametrize("path", ["/v1/defect", "/v1/abort"])
def test_a_defect_goes_to_the_log_and_not_to_the_client(failing: FlaskClient, path: str) -> None:
    with capture_logs() as logs:
        response = failing.get(path)
    assert response.status_code == 500
    body = response.get_json()
    assert body.keys() == {"error", "code", "request_id"}
    assert body["code"] == "internal_error"
    assert SECRET_TEXT not in response.get_data(as_text=True)
    if path == "/v1/defect":
        crashed = next(line for line in logs if line["event"] == "request_crashed")
        assert str(crashed["exc_info"]) == SECRET_TEXT


def test_errors_of_ours_keep_their_status_and_extras(failing: FlaskClient) -> None:
    assert failing.get("/v1/own").status_code == 500
    unavailable = failing.get("/v1/unavailable")
    assert (unavailable.status_code, unavailable.headers["Retry-After"]) == (503, "7")
    limited = failing.get("/v1/limited")
    assert (limited.status_code, limited.headers["Retry-After"]) == (429, "3")
    assert failing.get("/v1/forbidden").get_json()["required_permission"] == "keys:read"
    invalid = failing.get("/v1/invalid")
    assert (invalid.status_code, invalid.get_json()["fields"]) == (422, {"name": ["is bad"]})


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (REQUEST_ID, True),
        (REQUEST_ID.upper(), False),
        (REQUEST_ID[:-1], False),
        (REQUEST_ID + "0", False),
        ("x", False),
    ],
)
def test_a_request_id_is_kept_when_it_is_one(client: FlaskClient, sent: str, kept: bool) -> None:
    for path in ("/v1/health", "/v1/nothing", "/v1/keys"):
        response = client.get(path, headers={"X-Request-Id": sent})
        answered = response.headers["X-Request-Id"]
        assert re.fullmatch("[0-9a-f]{32}", answered)
        assert (answered == sent) is kept
        if response.status_code >= 400:
            assert response.get_json()["request_id"] == answered


def test_a_request_is_one_log_line(client: FlaskClient, key: Callable[..., Headers]) -> None:
    headers = {**key("keys:read"), "X-Request-Id": REQUEST_ID}
    with capture_logs() as logs:
        client.get("/v1/keys?secret=hidden", headers=headers).close()
    [line] = [line for line in logs if line["event"] == "request"]
    assert line["method"] == "GET"
    assert line["route"] == "/v1/keys"
    assert line["status"] == 200
    assert line["duration_ms"] >= 0
    assert line["org"].startswith("t")
    assert line["key_name"].startswith("key-")
    secret = headers["Authorization"].removeprefix("Bearer ")
    assert secret not in str(logs)
    assert "hidden" not in str(logs)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b'{"name": NaN}',
        b'{"name": "\xff"}',
        b"\xef\xbb\xbf{}",
        b'{"name": "a",}',
        b'{"a":' * 100_000,
        b"[" * 100_000,
    ],
)
def test_a_body_that_is_not_json(
    client: FlaskClient, key: Callable[..., Headers], body: bytes
) -> None:
    response = client.post("/v1/keys", data=body, content_type="application/json", headers=key())
    assert (response.status_code, response.get_json()["code"]) == (400, "malformed_json")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_announced_as_json(
    client: FlaskClient, key: Callable[..., Headers], content_type: str | None
) -> None:
    response = client.post("/v1/keys", data=b"{}", content_type=content_type, headers=key())
    assert (response.status_code, response.get_json()["code"]) == (415, "unsupported_media_type")


def test_a_packed_body_is_not_unpacked(client: FlaskClient, key: Callable[..., Headers]) -> None:
    headers = {**key(), "Content-Encoding": "gzip"}
    response = client.post("/v1/keys", json={}, headers=headers)
    assert (response.status_code, response.get_json()["code"]) == (415, "unsupported_encoding")


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8"])
def test_json_with_and_without_a_charset(
    client: FlaskClient, key: Callable[..., Headers], content_type: str
) -> None:
    body = json.dumps({"name": "a", "key": "0" * 15})
    response = client.post("/v1/keys", data=body, content_type=content_type, headers=key())
    assert response.status_code == 422
    assert response.get_json()["fields"].keys() == {"key"}


def test_a_body_that_is_too_large(client: FlaskClient, key: Callable[..., Headers]) -> None:
    body = b'{"name": "' + b"a" * 3_000_000 + b'"}'
    response = client.post("/v1/keys", data=body, content_type="application/json", headers=key())
    assert (response.status_code, response.get_json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ([], {"body"}),
        ({}, {"name", "key"}),
        ({"name": 1, "key": None}, {"name", "key"}),
        ({"name": "a", "key": "k" * 16, "permissions": ["events:add", 1]}, {"permissions.1"}),
        ({"name": "a", "key": "k" * 16, "permissions": "events:add"}, {"permissions"}),
    ],
)
def test_bad_fields_are_named_flatly(
    client: FlaskClient, key: Callable[..., Headers], body: object, fields: set[str]
) -> None:
    response = client.post("/v1/keys", json=body, headers=key())
    assert response.status_code == 422
    found = response.get_json()["fields"]
    assert found.keys() == fields
    assert all(isinstance(why, str) for reasons in found.values() for why in reasons)


REDIS, POSTGRES = "redis://127.0.0.1:{}/0", "postgresql://x@127.0.0.1:{}/x"
CLICKHOUSE = "clickhouse://x@127.0.0.1:{}/x"


@pytest.mark.parametrize(
    ("variable", "url", "method", "path"),
    [
        ("redis_url", REDIS, "POST", "/v1/events"),
        ("redis_url", REDIS, "POST", f"/v1/keys/{UNUSED_ID}/disable"),
        ("clickhouse_url", CLICKHOUSE, "GET", "/v1/events"),
        ("clickhouse_url", CLICKHOUSE, "GET", "/v1/evaluations"),
        ("clickhouse_url", CLICKHOUSE, "GET", "/v1/usage"),
        ("clickhouse_url", CLICKHOUSE, "GET", "/v1/usage/windows"),
        ("clickhouse_url", CLICKHOUSE, "POST", "/v1/sessions/s/re-evaluate"),
        ("database_url", POSTGRES, "GET", "/v1/keys"),
        ("database_url", POSTGRES, "GET", "/v1/settings"),
    ],
)
def test_503_when_a_store_is_down_says_when_to_come_back(
    runtime: Runtime,
    key: Callable[..., Headers],
    variable: str,
    url: str,
    method: str,
    path: str,
) -> None:
    headers = {**key(), "Content-Type": "application/x-ndjson"}
    away = {variable: url.format(free_port())}
    with connected(msgspec.structs.replace(runtime.settings, **away)) as broken:
        client = create_app(broken).test_client()
        response = client.open(path, method=method, data=b"{}", headers=headers)
    assert response.status_code == 503, response.data
    assert int(response.headers["Retry-After"]) >= 1
