"""A tile runs its own query for everyone who may read the dashboard, and nothing else."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.dashboards import made, make_dashboard, put_tile, save_query
from tests.support.events import event, store_events
from tests.support.people import new_member
from tests.support.runtime import Org, make_org

SQL = (
    "SELECT session_id FROM events WHERE ts >= $1 AND ts < $2 AND agent_id = $3 ORDER BY session_id"
)
PARAMS = [{"name": "from"}, {"name": "to"}, {"name": "agent", "value": "nobody"}]


@pytest.fixture
def tile(client: FlaskClient, runtime: Runtime, org: Org) -> dict[str, Any]:
    """A tile over two sessions of the agent `booker`, of 10 and of 12 o'clock."""
    lines = [
        event(name, at, agent_id="booker") for name, at in (("a", "10:00:00"), ("b", "12:00:00"))
    ]
    store_events(runtime.clickhouse, org.id, lines)
    admin = new_member(runtime, org)
    query = made(save_query(client, admin, sql_text=SQL, params=PARAMS))
    board = made(make_dashboard(client, admin))
    bound = {"3": "booker"}
    return made(put_tile(client, admin, board["id"], query["id"], param_bindings=bound))


def path_of(tile: dict[str, Any]) -> str:
    return f"/v1/dashboards/{tile['dashboard_id']}/tiles/{tile['id']}/run"


def test_a_reader_sees_the_rows_of_the_range(
    client: FlaskClient, runtime: Runtime, org: Org, tile: dict[str, Any]
) -> None:
    reader = new_member(runtime, org, permission_set="read-only")

    def rows(**body: Any) -> Any:
        answer = client.post(path_of(tile), json=body, headers=reader)
        assert answer.status_code == 200, answer.data
        return answer.get_json()["rows"]

    assert rows() == [["a"], ["b"]]
    assert rows(**{"from": "2026-11-02T11:00:00Z"}) == [["b"]]
    assert rows(to="2026-11-02T11:00:00Z") == [["a"]]


@pytest.mark.parametrize(
    "body",
    [
        {"sql": "SELECT 1"},
        {"query_id": "00000000-0000-4000-8000-000000000000"},
        {"params": ["nobody"]},
        {"param_bindings": {"3": "nobody"}},
    ],
)
def test_a_reader_runs_nothing_else_through_it(
    client: FlaskClient, runtime: Runtime, org: Org, tile: dict[str, Any], body: dict[str, Any]
) -> None:
    reader = new_member(runtime, org, permission_set="read-only")
    answer = client.post(path_of(tile), json=body, headers=reader)
    assert answer.get_json()["rows"] == [["a"], ["b"]]
    malformed = client.post(path_of(tile), json={"from": "yesterday"}, headers=reader)
    assert malformed.status_code == 422
    assert malformed.get_json()["fields"].keys() == {"from"}
    refused = client.post("/v1/queries/run", json={"sql": "SELECT 1"}, headers=reader)
    assert refused.status_code == 403


def test_another_organization_has_no_such_tile(
    client: FlaskClient, runtime: Runtime, tile: dict[str, Any]
) -> None:
    foreign: Headers = new_key(runtime, make_org(runtime))
    assert client.post(path_of(tile), json={}, headers=foreign).status_code == 404


def test_a_parameter_without_a_value_is_named(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    key = new_key(runtime, org)
    query = made(save_query(client, key, sql_text="SELECT count() FROM events WHERE agent_id = $1"))
    board = made(make_dashboard(client, key))
    bare = made(put_tile(client, key, board["id"], query["id"]))
    answer = client.post(path_of(bare), json={}, headers=key)
    assert answer.status_code == 422
    assert "$1 has no value" in answer.get_data(as_text=True)
