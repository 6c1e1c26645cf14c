"""Rules for every route: declared access, refused methods, documentation.

`tests/security/test_access.py` calls each route with too few permissions.
"""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support.app import Headers, bearer
from tests.support.routes import Route, require_error, routes_of

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture(scope="module")
def routes(app: Flask) -> list[Route]:
    """Every route below /v1."""
    return routes_of(app)


@pytest.fixture(scope="module")
def document(app: Flask) -> dict[str, Any]:
    """The OpenAPI document."""
    body: dict[str, Any] = app.test_client().get("/v1/openapi.json").get_json()
    return body


def test_every_route_declares_who_may_call_it(routes: list[Route]) -> None:
    assert len(routes) > 20
    assert [str(route) for route in routes if route.access is None] == []


def test_only_these_routes_are_public(routes: list[Route]) -> None:
    public = {str(route) for route in routes if route.access and route.access.public}
    assert public == {
        "GET /v1/health",
        "GET /v1/ready",
        "GET /v1/openapi.json",
        # These require a session or create one themselves.
        "POST /v1/auth/otp/request",
        "POST /v1/auth/otp/verify",
        "GET /v1/auth/session",
        "GET /v1/agent/health",
        "POST /v1/auth/logout",
        "GET /v1/auth/sessions",
        "DELETE /v1/auth/sessions",
        "DELETE /v1/auth/sessions/{session_id}",
    }


def test_other_methods_are_refused(client: FlaskClient, routes: list[Route]) -> None:
    for path in {route.path for route in routes}:
        # A fixed path such as /settings/schema is never /settings/{key}, for any method.
        known = {route.method for route in routes if route.path == path}
        for method in METHODS:
            if method not in known:
                response = client.open(path, method=method)
                require_error(response, 405, "method_not_allowed")
                assert response.headers["Allow"]


@pytest.mark.parametrize(
    "path", ["/nothing", "/v1", "/v1/", "/v1/nothing", "/v2/events", "/v1//events", "/v1/events/"]
)
@pytest.mark.parametrize("method", METHODS)
def test_unknown_routes(client: FlaskClient, method: str, path: str) -> None:
    require_error(client.open(path, method=method), 404, "route_not_found")


def test_the_document_has_every_route(routes: list[Route], document: dict[str, Any]) -> None:
    documented = {
        f"{method.upper()} {path}"
        for path, item in document["paths"].items()
        for method in item
        if method in {"get", "post", "put", "patch", "delete"}
    }
    assert documented == {str(route) for route in routes}


def test_the_document_says_what_a_route_asks_for(
    routes: list[Route], document: dict[str, Any]
) -> None:
    for route in routes:
        operation = document["paths"][route.template][route.method.lower()]
        assert route.access is not None
        if route.access.public:
            assert operation["security"] == []
            assert "x-required-permission" not in operation
            continue
        schemes = [next(iter(scheme)) for scheme in operation["security"]]
        assert schemes == ["session"] if route.access.person else ["apiKey", "session"]
        assert operation.get("x-requires-user", False) is route.access.person
        assert {"401", "403"} <= operation["responses"].keys()
        permissions = list(route.access.permissions)
        expected = permissions[0] if len(permissions) == 1 else permissions or None
        assert operation.get("x-required-permission") == expected


def test_the_document_describes_every_success_and_every_parameter(
    routes: list[Route], document: dict[str, Any]
) -> None:
    for route in routes:
        operation = document["paths"][route.template][route.method.lower()]
        assert operation["summary"], str(route)
        success = [code for code in operation["responses"] if code.startswith("2")]
        assert success, str(route)
        for code in success:
            # A notification over MCP is accepted without an answer.
            is_bare = code == "204" or (str(route) == "POST /v1/mcp" and code == "202")
            assert ("content" in operation["responses"][code]) is not is_bare, str(route)
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query":
                assert parameter.get("description"), f"{route}: {parameter['name']}"


def test_bearer_scheme_is_case_insensitive(
    client: FlaskClient, key: Callable[..., Headers]
) -> None:
    secret = key("events:read")["Authorization"].removeprefix("Bearer ")
    response = client.get("/v1/auth/introspect", headers={"Authorization": f"bearer  {secret} "})
    assert response.status_code == 200
    assert client.get("/v1/auth/introspect", headers=bearer(secret + "x")).status_code == 401
