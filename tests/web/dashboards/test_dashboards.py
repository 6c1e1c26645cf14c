"""Dashboards over HTTP: stored as sent, listed with the number of their tiles."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import event, text

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.dashboards import error, made, make_dashboard, put_tile, save_query
from tests.support.people import acting_as, add_member, new_email
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]

PATH = "/v1/dashboards"
NOBODYS = "00000000-0000-4000-8000-000000000000"


@contextmanager
def statements(runtime: Runtime) -> Iterator[list[str]]:
    """Collects the statements that go to PostgreSQL."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    event.listen(runtime.postgres.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(runtime.postgres.engine, "before_cursor_execute", note)


def test_a_dashboard_from_its_start_to_its_end(client: FlaskClient, key: Key) -> None:
    headers = key()
    body = {"name": "Costs", "description": "By\nday", "definition": {"columns": 12, "of": [{}]}}
    row = made(make_dashboard(client, headers, **body))
    assert body.items() <= row.items()
    others = {"id", "tile_count", "created_by", "created_at", "updated_at"}
    assert row.keys() - body.keys() == others
    assert row["tile_count"] == 0
    assert row["created_at"] == row["updated_at"]
    path = f"{PATH}/{row['id']}"
    assert client.get(path, headers=headers).get_json() == {**row, "tiles": []}
    assert client.get(PATH, headers=headers).get_json() == {"dashboards": [row]}

    query = made(save_query(client, headers))
    tile = made(put_tile(client, headers, row["id"], query["id"]))
    put = client.put(path, json={"name": "Prices"}, headers=headers)
    assert put.status_code == 200
    changed = {"name": "Prices", "description": "", "definition": {}, "tile_count": 1}
    assert put.get_json() == {**row, **changed, "updated_at": put.get_json()["updated_at"]}
    assert put.get_json()["updated_at"] > row["updated_at"]
    detail = client.get(path, headers=headers).get_json()
    assert detail == {**put.get_json(), "tiles": [tile]}

    deleted = client.delete(path, headers=headers)
    assert (deleted.status_code, deleted.get_json()) == (200, {"ok": True})
    assert client.get(PATH, headers=headers).get_json() == {"dashboards": []}
    for gone in (path, f"{path}/tiles"):
        assert error(client.get(gone, headers=headers)) == (404, "not_found")
    # The query of the tile stays and can now be deleted.
    assert client.delete(f"/v1/queries/{query['id']}", headers=headers).status_code == 200


def test_the_newest_come_first_with_their_tiles_counted_in_one_query(
    client: FlaskClient, web_runtime: Runtime, key: Key
) -> None:
    headers = key()
    query = made(save_query(client, headers))["id"]
    for number in range(4):
        board = made(make_dashboard(client, headers, name=f"board {number}"))["id"]
        for _ in range(number):
            made(put_tile(client, headers, board, query))
    client.get(PATH, headers=headers)  # caches the identity
    with statements(web_runtime) as asked:
        rows = client.get(PATH, headers=headers).get_json()["dashboards"]
    assert [(row["name"], row["tile_count"]) for row in rows] == [
        ("board 3", 3),
        ("board 2", 2),
        ("board 1", 1),
        ("board 0", 0),
    ]
    assert len([one for one in asked if "dashboard" in one]) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", None),
        ("name", "  "),
        ("name", "n" * 201),
        ("name", "a\nb"),
        ("name", "a\x00b"),
        ("description", "d" * 10_001),
        ("description", "a\x00b"),
        ("definition", []),
        ("definition", "{}"),
        ("definition", {"a": "x" * 262_144}),
        ("definition", {"a": "ö" * 43_690}),
    ],
)
def test_bad_values_are_refused(client: FlaskClient, key: Key, field: str, value: object) -> None:
    headers = key()
    response = make_dashboard(client, headers, **{field: value})
    assert response.status_code == 422
    assert response.get_json()["fields"].keys() == {field}
    path = f"{PATH}/{made(make_dashboard(client, headers))['id']}"
    replaced = client.put(path, json={"name": "n", field: value}, headers=headers)
    assert replaced.status_code == 422
    assert replaced.get_json()["fields"].keys() == {field}


def test_a_definition_is_read_back_as_it_was_sent(client: FlaskClient, key: Key) -> None:
    headers = key()
    deep: dict[str, Any] = {}
    for _ in range(62):
        deep = {"a": deep}
    for definition in (
        {"\x00": "\x00", "n": [2**70, -0.5, 1e300, None, True], "deep": deep},
        {"a": "x" * 262_000},
        {"a": "ö" * 43_600},
    ):
        row = made(make_dashboard(client, headers, definition=definition))
        found = client.get(f"{PATH}/{row['id']}", headers=headers).get_json()
        assert found["definition"] == row["definition"] == definition


def test_blanks_around_a_name_are_cut_off_and_null_is_as_good_as_absent(
    client: FlaskClient, key: Key
) -> None:
    headers = key()
    row = made(make_dashboard(client, headers, name=" n ", description=None, definition=None))
    assert (row["name"], row["description"], row["definition"]) == ("n", "", {})
    # Names of dashboards may repeat.
    made(make_dashboard(client, headers, name="n"))


def test_the_creator_of_a_dashboard_stays(
    client: FlaskClient, runtime: Runtime, web_runtime: Runtime, org: Org, key: Key
) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    row = made(make_dashboard(client, acting_as(email, org.slug)))
    put = client.put(f"{PATH}/{row['id']}", json={"name": "n"}, headers=key())
    assert row["created_by"] == put.get_json()["created_by"] == email


def test_deleting_a_dashboard_needs_more_than_writing_it(client: FlaskClient, key: Key) -> None:
    path = f"{PATH}/{made(make_dashboard(client, key()))['id']}"
    refused = client.delete(path, headers=key("dashboards:read", "dashboards:write"))
    assert refused.get_json()["required_permission"] == "dashboards:delete"
    assert client.delete(path, headers=key("dashboards:delete")).status_code == 200


@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("GET", "", None),
        ("PUT", "", {"name": "stolen"}),
        ("DELETE", "", None),
        ("GET", "/tiles", None),
        ("PUT", "/tiles/layout", {"tiles": []}),
    ],
)
def test_foreign_missing_and_malformed_ids_are_the_same(
    client: FlaskClient, runtime: Runtime, key: Key, method: str, suffix: str, body: Any
) -> None:
    headers, stranger = key(), new_key(runtime, make_org(runtime))
    row = made(make_dashboard(client, headers))
    for caller, board in (
        (stranger, row["id"]),
        (headers, NOBODYS),
        (headers, "x"),
        (headers, "%00"),
        (headers, row["id"] + "0"),
    ):
        path = f"{PATH}/{board}{suffix}"
        answer = client.open(path, method=method, json=body, headers=caller)
        assert error(answer) == (404, "not_found")
    assert client.get(PATH, headers=headers).get_json() == {"dashboards": [row]}
    assert client.get(PATH, headers=stranger).get_json() == {"dashboards": []}


@pytest.mark.parametrize(
    ("rows", "size", "code"), [(2000, 1, "too_many"), (2, 8_388_590, "too_large_together")]
)
def test_an_organization_has_room_for_so_many_dashboards(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, rows: int, size: int, code: str
) -> None:
    headers = key()
    insert = text(
        "INSERT INTO dashboards (id, org_id, name, definition)"
        " SELECT gen_random_uuid(), :org_id, 'n', json_build_object('a', repeat('x', :size))"
        " FROM generate_series(1, :rows)"
    )
    with runtime.postgres.transaction() as session:
        session.execute(insert, {"org_id": org.uuid, "size": size, "rows": rows})
    name = "n" * 20
    assert error(make_dashboard(client, headers, name=name)) == (409, code)
    # A full organization can still replace content of the same size. Others have their own limit.
    query = "SELECT id::text FROM dashboards WHERE org_id = :org_id LIMIT 1"
    with runtime.postgres.transaction() as session:
        one = session.scalar(text(query), {"org_id": org.uuid})
    assert client.put(f"{PATH}/{one}", json={"name": name}, headers=headers).status_code == 200
    made(make_dashboard(client, new_key(runtime, make_org(runtime))))
