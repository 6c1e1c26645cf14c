"""Parameters are values, whatever their text is."""

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.security.sql.planted import Planted, plant_foreign, plant_own
from tests.support.app import Headers, new_key

SQL_TEXTS = (
    "' OR 1 = 1 --",
    "' OR '1'='1",
    "'; DROP TABLE watchpost.events; --",
    "') UNION ALL SELECT payload FROM watchpost.events --",
    "\\' OR 1 = 1 --",
    "\\\\' OR 1 = 1 --",
    "\\",
    "\\'",
    "'",
    "''",
    "\\N",
    "NULL",
    "a\x00' OR 1 = 1 --",
    "\n' OR 1 = 1 --",
    "{p1:String}",
    "{p2:Identifier}",
    "$1",
    "$$",
    "$$' OR 1=1$$",
    "/* ' */",
    "-- '",
    "%(org)s",
    "%s",
    "\u2019 OR 1 = 1",
    "\u02bc OR 1 = 1",
    "\uff07 OR 1 = 1",
    "[1, 2]",
    "(SELECT any(payload) FROM watchpost.events)",
    "hostName()",
    "SETTINGS readonly = 0",
    "x' SETTINGS max_execution_time = 0 --",
    "zqforeign-session-1",
)


@pytest.fixture(scope="module")
def planted(runtime: Runtime) -> Planted:
    return Planted(plant_own(runtime), (plant_foreign(runtime), plant_foreign(runtime)))


@pytest.fixture(scope="module")
def headers(runtime: Runtime, planted: Planted) -> Headers:
    return new_key(runtime, planted.own, ["queries:run"])


@pytest.mark.parametrize("text", SQL_TEXTS)
def test_sql_in_a_parameter_is_a_text(
    client: FlaskClient, planted: Planted, headers: Headers, text: str
) -> None:
    sql = (
        "SELECT $1, [$1], $2, (SELECT count() FROM events WHERE session_id = $1 OR agent_id IN $2)"
    )
    body = {"sql": sql, "params": [text, [text, "'", text]]}
    answer = client.post("/v1/queries/run", json=body, headers=headers)
    assert answer.status_code == 200, answer.get_json()
    assert answer.get_json()["rows"] == [[text, [text], [text, "'", text], 0]]
    assert planted.leaks(answer.get_data(as_text=True), sql=text) == set()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM $1",
        "SELECT * FROM analytics.$1",
        "SELECT * FROM events AS $1",
        "SELECT $1.payload FROM events",
        "SELECT payload FROM events ORDER BY id $1",
        "SELECT 1 IN $1",
        "SELECT $1(1)",
        "SELECT CAST(payload AS $1) FROM events",
        "SELECT payload FROM events $1",
        "SELECT payload FROM events WHERE $1",
        "SELECT payload FROM events LIMIT $1",
        "SELECT INTERVAL 1 $1",
        "SELECT x.$1 FROM events AS x",
        "SELECT * EXCEPT($1) FROM events",
        "WITH $1 AS x SELECT x",
        "SELECT arrayMap($1, [1])",
        "SELECT * FROM numbers($1)",
        "SELECT arrayReduce($1, [1])",
    ],
)
@pytest.mark.parametrize("text", ["watchpost.events", "system.one", "1 OR 1 = 1"])
def test_a_parameter_is_no_name_nor_anything_but_a_value(
    client: FlaskClient, planted: Planted, headers: Headers, sql: str, text: str
) -> None:
    body = {"sql": sql, "params": [text]}
    answer = client.post("/v1/queries/run", json=body, headers=headers)
    assert answer.status_code in (200, 422)
    assert planted.leaks(answer.get_data(as_text=True), sql=sql) == set()
    if answer.status_code == 200:
        rows = answer.get_json()["rows"]
        assert rows in ([[text]], [[0]]), rows


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ([], "$1 has no value: 0 were given"),
        (["a"], "$2 has no value: 1 were given"),
        (["a", {"a": 1}], "$2 is an object"),
        (["a", [{"a": 1}]], "$2 is an object"),
        (["a", [[1]]], "$2 is an array in an array"),
        (["a", [1, "a"]], "$2 is an array of several kinds of values"),
        (["a", [True, 1]], "$2 is an array of several kinds of values"),
        (["a", 2**64], "$2 is an integer of more than 64 bits"),
        (["a", -(2**63) - 1], "$2 is an integer of more than 64 bits"),
    ],
)
def test_a_parameter_that_cannot_be_bound_is_named(
    client: FlaskClient, headers: Headers, params: list[object], reason: str
) -> None:
    body = {"sql": "SELECT $1, $2", "params": params}
    answer = client.post("/v1/queries/run", json=body, headers=headers)
    assert answer.status_code == 422
    assert answer.get_json()["code"] == "query_refused"
    assert answer.get_json()["fields"]["params"][0].startswith(reason)
