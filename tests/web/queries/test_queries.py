"""Saved queries over HTTP: stored as sent, checked by the guard, deleted when unused."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from shared.foundation.clickhouse.published import schema_of
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.dashboards import SQL, error, made, make_dashboard, put_tile, save_query
from tests.support.people import acting_as, add_member, new_email
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]

PATH = "/v1/queries"
NOBODYS = "00000000-0000-4000-8000-000000000000"


def names(client: FlaskClient, headers: Headers) -> list[str]:
    return [row["name"] for row in client.get(PATH, headers=headers).get_json()["queries"]]


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_a_query_from_its_start_to_its_end(client: FlaskClient, key: Key) -> None:
    headers = key()
    params = [{"name": "day", "default": {"last": [7, 30]}}]
    body = {"name": "per day", "description": "All\nof them", "sql_text": SQL, "params": params}
    row = made(save_query(client, headers, **body))
    assert body.items() <= row.items()
    assert row.keys() - body.keys() == {"id", "created_by", "created_at", "updated_at"}
    assert row["created_at"] == row["updated_at"]
    path = f"{PATH}/{row['id']}"
    assert client.get(path, headers=headers).get_json() == row
    assert client.get(PATH, headers=headers).get_json() == {"queries": [row]}

    put = client.put(path, json={"name": "total", "sql_text": f"{SQL} "}, headers=headers)
    assert put.status_code == 200
    changed = {"name": "total", "description": "", "sql_text": f"{SQL} ", "params": []}
    assert put.get_json() == {**row, **changed, "updated_at": put.get_json()["updated_at"]}
    assert put.get_json()["updated_at"] > row["updated_at"]
    assert client.get(path, headers=headers).get_json() == put.get_json()

    deleted = client.delete(path, headers=headers)
    assert (deleted.status_code, deleted.get_json()) == (200, {"ok": True})
    assert client.get(PATH, headers=headers).get_json() == {"queries": []}
    for method in ("GET", "DELETE"):
        assert error(client.open(path, method=method, headers=headers)) == (404, "not_found")


def test_queries_are_listed_by_name_in_the_order_of_code_points(
    client: FlaskClient, key: Key
) -> None:
    headers = key()
    for name in ("b", "Ä", "a c", "B", "a", "ab"):
        save_query(client, headers, name=name)
    assert names(client, headers) == sorted(["b", "Ä", "a c", "B", "a", "ab"])


def test_a_name_is_taken_once_in_an_organization(
    client: FlaskClient, runtime: Runtime, key: Key
) -> None:
    headers = key()
    first = made(save_query(client, headers, name="twin"))
    second = made(save_query(client, headers, name="Twin"))
    assert error(save_query(client, headers, name=" twin ")) == (409, "query_name_taken")
    renamed = {"name": "twin", "sql_text": SQL}
    answer = client.put(f"{PATH}/{second['id']}", json=renamed, headers=headers)
    assert error(answer) == (409, "query_name_taken")
    answer = client.put(f"{PATH}/{first['id']}", json=renamed, headers=headers)
    assert answer.status_code == 200
    made(save_query(client, new_key(runtime, make_org(runtime)), name="twin"))
    assert names(client, headers) == ["Twin", "twin"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", None),
        ("name", ""),
        ("name", " \t "),
        ("name", "n" * 201),
        ("name", "a\nb"),
        ("name", "a\x00b"),
        ("name", "a\u202eb"),
        ("name", 7),
        ("description", "d" * 10_001),
        ("description", "a\x00b"),
        ("description", ["a"]),
        ("sql_text", None),
        ("sql_text", ""),
        ("sql_text", f"{SQL} WHERE 'a\x00b' != ''"),
        ("sql_text", f"{SQL} -- {'x' * 8000}"),
        ("params", {}),
        ("params", [1]),
        ("params", [{}] * 101),
        ("params", [{"a": "x" * 65_536}]),
        ("params", [nested(64)]),
    ],
)
def test_bad_values_are_refused(client: FlaskClient, key: Key, field: str, value: object) -> None:
    response = save_query(client, key(), **{field: value})
    assert response.status_code == 422
    assert {name.partition(".")[0] for name in response.get_json()["fields"]} == {field}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "ö" * 200),
        ("name", "👩\u200d👩\u200d👧 per day"),
        ("description", "d" * 10_000),
        ("description", "a\r\n\tb"),
        ("params", [{}] * 100),
        ("params", [{"a": "x" * 65_000}]),
        ("params", [nested(63)]),
        ("params", [{"a\x00": ["\x00", 2**70, -0.5, None, {"": []}]}]),
    ],
)
def test_values_within_the_bounds_are_read_back_as_sent(
    client: FlaskClient, key: Key, field: str, value: object
) -> None:
    headers = key()
    row = made(save_query(client, headers, **{field: value}))
    assert row[field] == value
    assert client.get(f"{PATH}/{row['id']}", headers=headers).get_json()[field] == value


def test_blanks_around_a_name_are_cut_off_and_null_is_as_good_as_absent(
    client: FlaskClient, key: Key
) -> None:
    row = made(save_query(client, key(), name=" a  b ", description=None, params=None))
    assert (row["name"], row["description"], row["params"]) == ("a  b", "", [])


@pytest.mark.parametrize(
    "sql", ["DROP TABLE events", f"{SQL}; {SQL}", "INSERT INTO events SELECT 1"]
)
def test_a_statement_that_the_guard_refuses_is_not_saved(
    client: FlaskClient, key: Key, sql: str
) -> None:
    headers = key()
    refused = save_query(client, headers, sql_text=sql)
    assert error(refused) == (422, "query_refused")
    [reason] = refused.get_json()["fields"]["sql_text"]
    assert reason in refused.get_json()["error"]
    row = made(save_query(client, headers))
    path, body = f"{PATH}/{row['id']}", {"name": "other", "sql_text": sql}
    assert error(client.put(path, json=body, headers=headers)) == (422, "query_refused")
    assert client.get(PATH, headers=headers).get_json() == {"queries": [row]}


def test_parameters_and_the_published_schema_may_be_named(
    client: FlaskClient, web_runtime: Runtime, key: Key
) -> None:
    schema = schema_of(web_runtime.settings.clickhouse_readonly_url or "")
    made(save_query(client, key(), sql_text=f"SELECT $1, $2 FROM {schema}.events LIMIT 1"))


def test_the_creator_of_a_query_stays(
    client: FlaskClient, runtime: Runtime, web_runtime: Runtime, org: Org, key: Key
) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    row = made(save_query(client, acting_as(email, org.slug)))
    assert row["created_by"] == email
    put = client.put(f"{PATH}/{row['id']}", json={"name": "n", "sql_text": SQL}, headers=key())
    assert put.get_json()["created_by"] == email
    headers = key()
    who = client.get("/v1/auth/introspect", headers=headers).get_json()["name"]
    assert made(save_query(client, headers))["created_by"] == who


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_foreign_missing_and_malformed_ids_are_the_same(
    client: FlaskClient, runtime: Runtime, key: Key, method: str
) -> None:
    headers, stranger = key(), new_key(runtime, make_org(runtime))
    row = made(save_query(client, headers))
    body = {"name": "stolen", "sql_text": SQL} if method == "PUT" else None
    for caller, query_id in (
        (stranger, row["id"]),
        (headers, NOBODYS),
        (headers, "x"),
        (headers, "%00"),
        (headers, row["id"] + "0"),
    ):
        answer = client.open(f"{PATH}/{query_id}", method=method, json=body, headers=caller)
        assert error(answer) == (404, "not_found")
    assert client.get(PATH, headers=headers).get_json() == {"queries": [row]}


def test_a_query_that_tiles_show_stays(client: FlaskClient, key: Key) -> None:
    headers = key()
    row = made(save_query(client, headers))
    boards = [made(make_dashboard(client, headers))["id"] for _ in range(2)]
    for board in (boards[0], *boards):
        made(put_tile(client, headers, board, row["id"]))
    path = f"{PATH}/{row['id']}"
    refused = client.delete(path, headers=headers)
    assert error(refused) == (409, "query_in_use")
    assert "3 tiles on 2 dashboards" in refused.get_json()["error"]
    assert client.get(path, headers=headers).status_code == 200
    client.delete(f"/v1/dashboards/{boards[0]}", headers=headers)
    assert "1 tile on 1 dashboard" in client.delete(path, headers=headers).get_json()["error"]
    client.delete(f"/v1/dashboards/{boards[1]}", headers=headers)
    assert client.delete(path, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("rows", "size", "code"), [(2000, 1, "too_many"), (2, 8_388_600, "too_large_together")]
)
def test_an_organization_has_room_for_so_many_queries(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, rows: int, size: int, code: str
) -> None:
    headers = key()
    insert = text(
        "INSERT INTO saved_queries (id, org_id, name, sql_text, params)"
        " SELECT gen_random_uuid(), :org_id, n::text, repeat('x', :size), '[]'"
        " FROM generate_series(1, :rows) AS n"
    )
    with runtime.postgres.transaction() as session:
        session.execute(insert, {"org_id": org.uuid, "size": size, "rows": rows})
    assert error(save_query(client, headers)) == (409, code)
    # A full organization can still replace content of the same size. Others have their own limit.
    query = "SELECT id::text FROM saved_queries WHERE org_id = :org_id LIMIT 1"
    with runtime.postgres.transaction() as session:
        one = session.scalar(text(query), {"org_id": org.uuid})
    answer = client.put(f"{PATH}/{one}", json={"name": "n", "sql_text": SQL}, headers=headers)
    assert answer.status_code == 200
    made(save_query(client, new_key(runtime, make_org(runtime))))
