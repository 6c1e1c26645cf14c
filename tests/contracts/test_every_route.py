"""Rules for every route that hold without a store: access, methods, errors, documentation.

`tests/security/test_access.py` calls each of them, with and without its permission.
"""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support.document import Document
from tests.support.routes import Route, require_error, routes_of

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
REQUEST_ID = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def routes(app_without_stores: Flask) -> list[Route]:
    """Every route below /v1."""
    return routes_of(app_without_stores)


@pytest.fixture
def alone(app_without_stores: Flask) -> FlaskClient:
    """A client of an application that reaches no store."""
    return app_without_stores.test_client()


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


def test_other_methods_are_refused(alone: FlaskClient, routes: list[Route]) -> None:
    for path in {route.path for route in routes}:
        # A fixed path such as /settings/schema is never /settings/{key}, for any method.
        known = {route.method for route in routes if route.path == path}
        for method in METHODS:
            if method not in known:
                response = alone.open(path, method=method)
                require_error(response, 405, "method_not_allowed")
                assert response.headers["Allow"]


@pytest.mark.parametrize(
    "path", ["/nothing", "/v1", "/v1/", "/v1/nothing", "/v2/events", "/v1//events", "/v1/events/"]
)
@pytest.mark.parametrize("method", METHODS)
def test_unknown_routes(alone: FlaskClient, method: str, path: str) -> None:
    require_error(alone.open(path, method=method), 404, "route_not_found")


@pytest.mark.parametrize("credential", [None, "", "Bearer", "Bearer "])
def test_what_is_no_credential_is_refused_before_a_store_is_asked(
    alone: FlaskClient, routes: list[Route], credential: str | None
) -> None:
    headers = {} if credential is None else {"Authorization": credential}
    for route in routes:
        if route.access is not None and not route.access.public:
            require_error(alone.open(route.path, method=route.method, headers=headers), 401)


def test_options_lists_the_methods_and_nothing_else(
    alone: FlaskClient, routes: list[Route]
) -> None:
    for route in routes:
        told = alone.options(route.path)
        assert (told.status_code, told.data) == (200, b""), str(route)
        assert route.method in told.allow, str(route)


def test_every_answer_carries_the_request_id(alone: FlaskClient, routes: list[Route]) -> None:
    others = [("GET", "/v1/docs"), ("HEAD", "/v1/health"), ("PUT", "/v1/x")]
    for method, path in [(route.method, route.path) for route in routes] + others:
        sent = {"X-Request-Id": REQUEST_ID}
        response = alone.open(path, method=method, headers=sent, buffered=True)
        assert response.headers["X-Request-Id"] == REQUEST_ID, f"{method} {path}"


def test_the_document_has_every_route(routes: list[Route], document: Document) -> None:
    documented = {f"{method} {path}" for method, path, _ in document.operations()}
    assert documented == {str(route) for route in routes}


def test_the_document_says_what_a_route_asks_for(routes: list[Route], document: Document) -> None:
    for route in routes:
        operation = document.operation(route.method, route.template)
        assert route.access is not None
        if route.access.public:
            assert operation["security"] == []
            assert "x-required-permission" not in operation
            continue
        schemes = [next(iter(scheme)) for scheme in operation["security"]]
        assert schemes == ["session"] if route.access.person else ["apiKey", "session"]
        assert operation.get("x-requires-user", False) is route.access.person
        permissions = list(route.access.permissions)
        expected = permissions[0] if len(permissions) == 1 else permissions or None
        assert operation.get("x-required-permission") == expected


def test_the_document_describes_every_success_and_every_parameter(document: Document) -> None:
    for method, path, operation in document.operations():
        where = f"{method} {path}"
        assert operation["summary"], where
        success = [code for code in operation["responses"] if code.startswith("2")]
        assert success, where
        for code in success:
            # A notification over MCP is accepted without an answer.
            is_bare = code == "204" or (where == "POST /v1/mcp" and code == "202")
            assert ("content" in operation["responses"][code]) is not is_bare, where
        for parameter in operation["parameters"]:
            if parameter["in"] == "query":
                assert parameter.get("description"), f"{where}: {parameter['name']}"
