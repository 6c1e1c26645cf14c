"""The headers by which browsers protect people."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import msgspec
import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from werkzeug.wrappers import Response as AnyResponse

from shared.foundation.deployment.runtime import Runtime
from web.app import create_app
from web.auth import public
from web.ui.routes import STATIC

EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
DATA = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


@pytest.fixture
def client(app_without_stores: Flask) -> FlaskClient:
    """A client of an application that reaches no store."""
    return app_without_stores.test_client()


def require(response: AnyResponse, expected: dict[str, str]) -> None:
    for name, value in expected.items():
        assert response.headers.getlist(name) == [value], name


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/health", 200),
        ("GET", "/v1/openapi.json", 200),
        ("GET", "/v1/keys", 401),
        ("PATCH", "/v1/keys", 405),
        ("GET", "/v1/nothing", 404),
        ("GET", "/api/nothing", 404),
        ("GET", "/favicon.ico", 404),
        ("GET", "/ui/manifest.json", 404),
        ("GET", "/ui/main-ABCDEFGH.js", 404),
        ("GET", "/api/auth/session", 401),
        ("OPTIONS", "/v1/keys", 200),
        ("POST", "/o/acme/sessions", 405),
        ("POST", "/v1/auth/otp/request", 422),
        ("POST", "/v1/traces", 401),
    ],
)
def test_answers_with_data(client: FlaskClient, method: str, path: str, status: int) -> None:
    response = client.open(path, method=method)
    assert response.status_code == status
    require(response, EVERYWHERE | DATA)
    assert "Strict-Transport-Security" not in response.headers


@pytest.mark.parametrize("path", ["/v1/docs", "/v1/docs/"])
def test_the_page_of_the_api_may_run_its_own_scripts(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    require(response, EVERYWHERE | {"Cache-Control": "no-store"})
    page = response.get_data(as_text=True)
    [inline] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    directives = dict(
        part.strip().split(" ", 1)
        for part in response.headers["Content-Security-Policy"].split(";")
    )
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == f"'self' 'sha256-{digest}'"
    assert directives["connect-src"] == "'self'"
    assert directives["frame-ancestors"] == "'none'"


def test_files_of_that_page(client: FlaskClient) -> None:
    for name in ("swagger-ui.css", "swagger-ui-bundle.js", "oauth2-redirect.html"):
        response = client.get(f"/v1/docs/{name}", buffered=True)
        assert response.status_code == 200
        require(response, EVERYWHERE | {"Cache-Control": "no-store"})


@pytest.mark.parametrize("path", ["/", "/sign-in", "/profile", "/o/acme/sessions"])
def test_the_page_of_the_ui(client: FlaskClient, path: str) -> None:
    for method in ("GET", "HEAD"):
        response = client.open(path, method=method)
        require(response, EVERYWHERE | {"Cache-Control": "no-store"})
        assert "Set-Cookie" not in response.headers
        [policy] = response.headers.getlist("Content-Security-Policy")
        assert policy.startswith("default-src 'none'; script-src 'self'; ")


def test_files_of_the_ui(client: FlaskClient) -> None:
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    manifest = json.loads((STATIC / "manifest.json").read_text())
    for name in (manifest["main.js"], manifest["main.css"], *manifest["preload"]):
        response = client.get(f"/ui/{name}", buffered=True)
        # The policy is that of data: what a file may do is said by the page that loads it.
        policy = {"Content-Security-Policy": DATA["Content-Security-Policy"]}
        require(response, EVERYWHERE | policy | kept)
    known = {"If-None-Match": response.headers["ETag"]}
    again = client.get(f"/ui/{name}", headers=known, buffered=True)
    assert again.status_code == 304
    require(again, EVERYWHERE | kept)


@pytest.fixture(scope="module")
def over_tls(web_runtime: Runtime) -> Flask:
    """The application of a deployment that people reach over TLS, with a page."""
    public_url = "https://watch.example.org"
    settings = msgspec.structs.replace(web_runtime.settings, public_url=public_url)
    app = create_app(replace(web_runtime, settings=settings))

    def page() -> Response:
        headers = {"Content-Security-Policy": "script-src 'self'", "Cache-Control": "max-age=60"}
        return Response("<p>", headers=headers)

    app.add_url_rule("/page", "page", public(page))
    return app


def test_browsers_stay_with_tls(over_tls: Flask) -> None:
    client = over_tls.test_client()
    for path in ("/v1/health", "/page", "/nothing"):
        require(client.get(path), EVERYWHERE | {"Strict-Transport-Security": "max-age=31536000"})


def test_a_page_keeps_its_own_policy(over_tls: Flask) -> None:
    response = over_tls.test_client().get("/page")
    require(
        response, {"Content-Security-Policy": "script-src 'self'", "Cache-Control": "max-age=60"}
    )
