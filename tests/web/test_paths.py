"""Ids with slashes and other characters in a path."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from flask import Flask, jsonify
from flask.testing import FlaskClient

from web.paths import AnyId, BeforeRouting, keep_encoded_slashes


@pytest.fixture
def echo() -> Iterator[FlaskClient]:
    """Routes that return the id in their path."""
    app = Flask("echo", static_folder=None)
    app.url_map.converters["any_id"] = AnyId
    app.url_map.merge_slashes = False
    app.add_url_rule("/v1/things/<any_id:thing>", "one", lambda thing: jsonify(one=thing))
    app.add_url_rule("/v1/things/<any_id:thing>/export", "out", lambda thing: jsonify(out=thing))
    changing = BeforeRouting(app.wsgi_app, keep_encoded_slashes)
    app.wsgi_app = changing  # type: ignore[method-assign] # as in Flask's docs
    with app.test_client() as client:
        yield client


@pytest.mark.parametrize(
    "thing",
    [
        "plain",
        "a/b",
        "/",
        "//",
        "x/export",
        "a//b/",
        "a b+c",
        "käse/日本",
        "50%2F",
        "a%b?c#d",
        "a,b;c=d",
        "..",
        "-" * 256,
    ],
)
def test_an_id_arrives_as_it_was_sent(echo: FlaskClient, thing: str) -> None:
    path = f"/v1/things/{quote(thing, safe='')}"
    assert echo.get(path).get_json() == {"one": thing}
    assert echo.get(f"{path}/export?with=%2F").get_json() == {"out": thing}
    assert echo.get(path.replace("%2F", "%2f")).get_json() == {"one": thing}


@pytest.mark.parametrize(
    "path", ["/v1/things/a/b", "/v1/things/", "/v1%2Fthings/a", "/v1/things//a"]
)
def test_plain_slashes_part_segments(echo: FlaskClient, path: str) -> None:
    assert echo.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/v1/things/a%1Fb", "/v1/things/a%1fb%2Fc"])
def test_the_stand_in_for_a_slash_cannot_be_sent(echo: FlaskClient, path: str) -> None:
    sent = echo.get(path).get_json()["one"]
    assert sent.startswith("a\x1eb")
