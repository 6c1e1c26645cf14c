"""POST /queries/run and GET /queries/schema."""

from collections.abc import Callable
from contextlib import ExitStack

from flask.testing import FlaskClient
from structlog.testing import capture_logs
from werkzeug.test import TestResponse

from shared.foundation.clickhouse.published import TABLES
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.slots import RUNS_AT_ONCE, QuerySlots
from tests.support.app import Headers, new_key
from tests.support.dashboards import made, save_query
from tests.support.events import event, store_events
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]

COUNT = "SELECT count() AS n FROM events WHERE session_id = $1"


def run(client: FlaskClient, headers: Headers, **body: object) -> TestResponse:
    return client.post("/v1/queries/run", json=body, headers=headers)


def test_a_statement_is_answered_with_columns_and_rows(
    client: FlaskClient, runtime: Runtime, key: Key, org: Org
) -> None:
    store_events(runtime.clickhouse, org.id, [event("s", "10:00:00", agent_id="a")])
    answer = run(client, key(), sql="SELECT ts, agent_id, 0.5, NULL FROM events", params=None)
    assert answer.status_code == 200
    body = answer.get_json()
    assert body.pop("elapsed_ms") >= 0
    assert body == {
        "columns": [
            {"name": "ts", "type": "DateTime64(6, 'UTC')"},
            {"name": "agent_id", "type": "String"},
            {"name": "0.5", "type": "Float64"},
            {"name": "NULL", "type": "Nullable(Nothing)"},
        ],
        "rows": [["2026-11-02T10:00:00.000000Z", "a", 0.5, None]],
        "truncated": False,
    }


def test_a_saved_query_runs_with_the_parameters_of_the_request(
    client: FlaskClient, runtime: Runtime, key: Key, org: Org
) -> None:
    store_events(runtime.clickhouse, org.id, [event("s", "10:00:00")])
    headers = key()
    query_id = made(save_query(client, headers, name="count", sql_text=COUNT))["id"]
    answer = run(client, headers, query_id=query_id, sql=None, params=["s"])
    assert answer.get_json()["rows"] == [[1]]
    both = run(client, headers, query_id=query_id, sql="SELECT 7 FROM events LIMIT 1")
    assert both.get_json()["rows"] == [[7]]


def test_a_query_of_another_organization_is_not_found(
    client: FlaskClient, runtime: Runtime, key: Key
) -> None:
    other = make_org(runtime)
    foreign = made(save_query(client, new_key(runtime, other), name="count", sql_text=COUNT))["id"]
    for query_id in (foreign, "x", ""):
        assert run(client, key(), query_id=query_id).status_code == 404


def test_a_run_that_is_refused_before_it_has_a_statement_is_logged(
    client: FlaskClient, key: Key, org: Org
) -> None:
    headers = key()
    for body, sql, params, outcome, reason in (
        ({"query_id": "x", "params": [1]}, "", "[1]", "not_found", 'no saved query "x"'),
        ({}, "", "[]", "invalid", "sql or query_id"),
        ({"sql": "SELECT 1", "params": {}}, "SELECT 1", "{}", "invalid", "params"),
        ({"sql": 5}, "", "null", "invalid", "sql"),
    ):
        with capture_logs() as lines:
            assert run(client, headers, **body).status_code in (404, 422)
        [line] = [line for line in lines if line["event"] == "query_run"]
        assert (line["sql"], line["params"], line["outcome"]) == (sql, params, outcome)
        assert reason in line["reason"]
        assert (line["org_id"], line["rows"]) == (org.id, 0)


def test_something_to_run_has_to_be_given(client: FlaskClient, key: Key) -> None:
    for body in ({}, {"sql": None, "query_id": None, "params": [1]}):
        answer = run(client, key(), **body)
        assert answer.status_code == 422
        assert answer.get_json()["fields"].keys() == {"sql"}


def test_a_refusal_of_the_guard_names_the_reason(client: FlaskClient, key: Key) -> None:
    answer = run(client, key(), sql="DROP TABLE events")
    assert answer.status_code == 422
    assert answer.get_json()["code"] == "query_refused"
    assert answer.get_json()["fields"]["sql"]


def test_a_refusal_of_the_database_has_its_message(client: FlaskClient, key: Key) -> None:
    answer = run(client, key(), sql="SELECT nope FROM events")
    body = answer.get_json()
    assert (answer.status_code, body["code"]) == (422, "query_failed")
    assert body["detail"].startswith("Unknown expression identifier `nope`")


def test_the_fifth_run_at_once_gets_a_retry_time(
    client: FlaskClient, runtime: Runtime, key: Key, org: Org
) -> None:
    with ExitStack() as running:
        for _ in range(RUNS_AT_ONCE):
            running.enter_context(QuerySlots(runtime.redis, runtime.clickhouse).hold(org.id))
        answer = run(client, key(), sql="SELECT 1 FROM events")
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


def test_the_schema_describes_every_column(client: FlaskClient, key: Key) -> None:
    answer = client.get("/v1/queries/schema", headers=key("queries:read"))
    body = answer.get_json()
    assert body["schema"] == "analytics"
    assert [table["name"] for table in body["tables"]] == [table.name for table in TABLES]
    types = {
        (table["name"], column["name"]): column["type"]
        for table in body["tables"]
        for column in table["columns"]
    }
    assert types["events", "id"] == "int"
    assert types["events", "ts"] == "timestamp"
    assert types["events", "payload"] == "json"
    assert types["events", "is_error"] == "bool"
    assert types["events", "error_type"] == "string?"
    assert types["events", "context_fill"] == "float?"
    assert types["agent_sessions", "agents"] == "array"
    assert types["agent_sessions", "ended_at"] == "timestamp?"
    assert types["evaluations", "scores"] == "map"
    assert types["evaluations", "duration_ms"] == "int?"


def test_every_column_of_the_schema_can_be_asked_for(client: FlaskClient, key: Key) -> None:
    headers = key()
    schema = client.get("/v1/queries/schema", headers=headers).get_json()
    for table in schema["tables"]:
        names = [column["name"] for column in table["columns"]]
        sql = f"SELECT {', '.join(names)} FROM {schema['schema']}.{table['name']}"
        for asked in (sql, f"SELECT * FROM {table['name']}"):
            answer = run(client, headers, sql=asked)
            assert [column["name"] for column in answer.get_json()["columns"]] == names
