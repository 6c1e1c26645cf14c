"""Saved queries, and the guard's errors when they are saved."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.support.dashboards import SQL, make_dashboard, put_tile, save_query
from tests.support.document import Document

Key = Callable[..., Headers]

PATH, ONE = "/v1/queries", "/v1/queries/{query_id}"


def test_every_answer_about_queries_is_what_the_document_says(
    client: FlaskClient, document: Document, key: Key
) -> None:
    headers = key()
    row = document.require(save_query(client, headers, name="b"), "POST", PATH)
    document.require(save_query(client, headers, name="a"), "POST", PATH)
    listed = document.require(client.get(PATH, headers=headers), "GET", PATH)
    assert [one["name"] for one in listed["queries"]] == ["a", "b"]
    path = f"{PATH}/{row['id']}"
    assert document.require(client.get(path, headers=headers), "GET", ONE) == row
    body = {"name": "c", "sql_text": SQL}
    for name, status in (("c", 200), ("a", 409), ("", 422)):
        answer = client.put(path, json={**body, "name": name}, headers=headers)
        assert answer.status_code == status
        document.require(answer, "PUT", ONE)
    board = make_dashboard(client, headers).get_json()["id"]
    put_tile(client, headers, board, row["id"])
    for status in (409, 200, 404):
        answer = client.delete(path, headers=headers)
        assert answer.status_code == status
        told = document.require(answer, "DELETE", ONE)
        client.delete(f"/v1/dashboards/{board}", headers=headers)
        if status == 200:
            assert told == {"ok": True}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"name": "n" * 200}, 201, None),
        ({"name": "n" * 201}, 422, "name"),
        ({"name": ""}, 422, "name"),
        ({"sql_text": "WITH 1 AS n SELECT n FROM events"}, 201, None),
        ({"sql_text": "DELETE FROM events"}, 422, "sql_text"),
        ({"sql_text": f"{SQL};{SQL}"}, 422, "sql_text"),
        ({"sql_text": "SELECT 1 FROM system.tables"}, 422, "sql_text"),
        ({"params": [{"anything": [1, None]}]}, 201, None),
        ({"params": ["a"]}, 422, "params.0"),
    ],
)
def test_the_bounds_of_a_query(
    client: FlaskClient,
    document: Document,
    key: Key,
    body: dict[str, Any],
    status: int,
    field: str | None,
) -> None:
    answer = save_query(client, key(), **body)
    assert answer.status_code == status, answer.data
    told = document.require(answer, "POST", PATH)
    assert field is None or told["fields"].keys() == {field}


def test_the_assistant_never_deletes(client: FlaskClient, key: Key) -> None:
    row = save_query(client, key()).get_json()
    writer = key("queries:read", "queries:write", "queries:run")
    answer = client.delete(f"{PATH}/{row['id']}", headers=writer)
    assert answer.status_code == 403
    assert answer.get_json()["required_permission"] == "queries:delete"
