"""The page of the UI, and its files."""

import gzip
import json
import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from shared.foundation.core.config import Settings
from shared.foundation.deployment.runtime import Runtime
from web.app import create_app
from web.ui.routes import STATIC

# No request of these tests reaches a store.
NOWHERE = Settings(
    database_url="postgresql://localhost/none",
    redis_url="redis://localhost",
    clickhouse_url="clickhouse://localhost/none",
)


def client_of(settings: Settings) -> FlaskClient:
    """Returns a client of an application without stores."""
    return create_app(Runtime.connect(settings)).test_client()


@pytest.fixture(scope="module")
def visitor() -> Iterator[FlaskClient]:
    with client_of(NOWHERE) as client:
        yield client


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/sign-in", "/profile", "/o/", "/o//", "/o/acme/sessions", "/o/a%0Ab%00/%FF"),
        "/o/acme/sessions/a%2Fb?e=1",
    ],
)
def test_each_path_of_the_ui_gets_the_same_page(visitor: FlaskClient, path: str) -> None:
    response = visitor.get(path)
    assert response.status_code == 200
    assert response.mimetype == "text/html"
    assert response.headers["Cache-Control"] == "no-store"
    policy = response.headers["Content-Security-Policy"]
    nonce = re.search(r"'nonce-([\w-]+)'", policy)
    assert nonce is not None
    assert policy == (
        "default-src 'none'; script-src 'self'; "
        f"style-src 'self' 'nonce-{nonce[1]}'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; worker-src 'self'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'; require-trusted-types-for 'script'; trusted-types wp"
    )
    page = response.get_data(as_text=True)
    assert nonce[1] in page
    assert "style=" not in page
    assert re.search(r"<script(?![^>]* src=)", page) is None


def test_a_nonce_is_used_once(visitor: FlaskClient) -> None:
    policies = {visitor.get("/").headers["Content-Security-Policy"] for _ in range(3)}
    assert len(policies) == 3


@pytest.mark.parametrize("smtp_host", [None, "mail.example.com"])
def test_the_page_tells_whether_mail_is_set_up(smtp_host: str | None) -> None:
    settings = replace(NOWHERE, smtp_host=smtp_host, smtp_from=smtp_host and "a@example.com")
    page = client_of(settings).get("/").get_data(as_text=True)
    kind = "smtp" if smtp_host else "log"
    assert f'<meta name="wp-mail" content="{kind}">' in page


def test_files_of_the_bundle_are_kept_for_ever(visitor: FlaskClient) -> None:
    name = json.loads((STATIC / "manifest.json").read_text())["main.js"]
    plain = visitor.get(f"/ui/{name}", buffered=True)
    packed = visitor.get(f"/ui/{name}", headers={"Accept-Encoding": "gzip"}, buffered=True)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data == (STATIC / name).read_bytes()
    for response in (plain, packed):
        assert response.mimetype == "text/javascript"
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("name", ["manifest.json", "main.js", "..%2Fshell.html", "x-ABCDEFGH.js"])
def test_nothing_else_is_served(visitor: FlaskClient, name: str) -> None:
    response = visitor.get(f"/ui/{name}", buffered=True)
    assert response.status_code == 404
    assert response.get_json()["code"] == "route_not_found"
