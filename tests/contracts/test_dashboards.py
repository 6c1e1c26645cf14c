"""Dashboards, their tiles and their layout."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.support.dashboards import make_dashboard, put_tile, save_query
from tests.support.document import Document

Key = Callable[..., Headers]

PATH, ONE = "/v1/dashboards", "/v1/dashboards/{dashboard_id}"
TILES, TILE = f"{ONE}/tiles", f"{ONE}/tiles/{{tile_id}}"
LAYOUT = f"{TILES}/layout"
CHARTS = ("line", "area", "bar", "stacked_bar", "pie", "kpi", "table")


@pytest.fixture
def headers(key: Key) -> Headers:
    """The headers of a key with all permissions."""
    return key()


def test_every_answer_about_dashboards_is_what_the_document_says(
    client: FlaskClient, document: Document, headers: Headers
) -> None:
    row = document.require(make_dashboard(client, headers, name="a"), "POST", PATH)
    document.require(make_dashboard(client, headers, definition={"any": ["thing"]}), "POST", PATH)
    listed = document.require(client.get(PATH, headers=headers), "GET", PATH)
    assert [one["name"] for one in listed["dashboards"]] == ["board", "a"]
    path = f"{PATH}/{row['id']}"
    assert document.require(client.get(path, headers=headers), "GET", ONE) == {**row, "tiles": []}
    for name, status in (("n" * 200, 200), ("n" * 201, 422), ("", 422)):
        answer = client.put(path, json={"name": name}, headers=headers)
        assert answer.status_code == status
        document.require(answer, "PUT", ONE)
    for status in (200, 404):
        answer = client.delete(path, headers=headers)
        assert answer.status_code == status
        told = document.require(answer, "DELETE", ONE)
        assert status == 404 or told == {"ok": True}


def test_every_answer_about_tiles_is_what_the_document_says(
    client: FlaskClient, document: Document, headers: Headers
) -> None:
    board = make_dashboard(client, headers).get_json()["id"]
    query = save_query(client, headers).get_json()["id"]
    path = f"{PATH}/{board}/tiles"
    first = document.require(put_tile(client, headers, board, query), "POST", TILES)
    second = document.require(put_tile(client, headers, board, query, pos_y=0), "POST", TILES)
    assert first["pos_y"] == second["pos_y"] == 0
    place = {"pos_x": 0, "pos_y": 9, "pos_w": 1, "pos_h": 1}
    for tile_id, body, status in (
        (first["id"], place, 200),
        (query, place, 404),
        (first["id"], {**place, "pos_w": 0}, 422),
    ):
        layout: dict[str, Any] = {"tiles": [{"id": tile_id, **body}]}
        answer = client.put(f"{path}/layout", json=layout, headers=headers)
        assert answer.status_code == status
        told = document.require(answer, "PUT", LAYOUT)
        assert status != 200 or told == {"updated": 1}
    listed = document.require(client.get(path, headers=headers), "GET", TILES)["tiles"]
    assert [one["id"] for one in listed] == [second["id"], first["id"]]
    detail = document.require(client.get(f"{PATH}/{board}", headers=headers), "GET", ONE)
    assert (detail["tiles"], detail["tile_count"]) == (listed, 2)
    for wanted, status in (
        ({"query_id": query, "chart_type": "kpi"}, 200),
        ({"query_id": board, "chart_type": "kpi"}, 422),
        ({"query_id": query, "chart_type": "gauge"}, 422),
    ):
        answer = client.put(f"{path}/{first['id']}", json=wanted, headers=headers)
        assert answer.status_code == status
        document.require(answer, "PUT", TILE)
    for status in (200, 404):
        answer = client.delete(f"{path}/{first['id']}", headers=headers)
        assert answer.status_code == status
        told = document.require(answer, "DELETE", TILE)
        assert status == 404 or told == {"ok": True}


def test_the_document_lists_the_kinds_of_charts(document: Document) -> None:
    body = document.operation("POST", TILES)["requestBody"]["content"]["application/json"]
    schema = document.resolve(body["schema"])
    assert schema["properties"]["chart_type"]["enum"] == list(CHARTS)
    assert set(schema["required"]) == {"query_id", "chart_type"}
