"""No hostile statement sees another organization's rows, with or without the guard."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.foundation.clickhouse.published import TABLES, PublishedTable
from shared.foundation.core.errors import QueryFailed
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.results.reader import Reader
from tests.security.sql.hostile import ROUTES, collected
from tests.security.sql.planted import Planted, plant_foreign, plant_own, shown
from tests.support.app import Headers, new_key

V = TypeVar("V")

REFUSED, CONTAINED = collected("REFUSED"), collected("CONTAINED")

# The first is a function of the embedded engine only and ends the process. The second never ends.
NOT_FOR_THE_ENGINE = {"table_functions/from-python", "table_functions/from-fuzz-query"}
# The statement contains the time.
VARIES = {"exceptions/format-time"}


def of_route(statements: Mapping[str, V], route: str) -> dict[str, V]:
    return {name: value for name, value in statements.items() if name.startswith(f"{route}/")}


@dataclass(frozen=True)
class Answer:
    """The engine's answer without the guard: columns and rows, or the reason of its refusal."""

    text: str
    rows: tuple[tuple[object, ...], ...] = ()


def answer_of(reader: Reader, org_id: str, sql: str) -> Answer:
    try:
        result = reader.run(org_id, sql, {})
    except QueryFailed as error:
        return Answer(f"{error.message} {error.detail}")
    # Sorted, because most statements have no order.
    rows = sorted(result.rows, key=shown)
    return Answer(shown([result.columns, rows]), tuple(rows))


@pytest.fixture(scope="module")
def reader(runtime: Runtime) -> Iterator[Reader]:
    url = runtime.settings.clickhouse_readonly_url
    assert url is not None
    made = Reader(url, pool_size=1)
    yield made
    made.close()


@dataclass(frozen=True)
class Run:
    """The engine's answers before others have rows, the accepted statements, the answers after."""

    planted: Planted
    before: dict[str, Answer]
    after: dict[str, Answer]


@pytest.fixture(scope="module")
def engine(runtime: Runtime, reader: Reader) -> Run:
    """Runs every statement without the guard, except those that are only hard to parse."""
    statements = {
        name: sql
        for name, sql in {**REFUSED, **CONTAINED}.items()
        if name not in NOT_FOR_THE_ENGINE and not name.startswith("nesting/")
    }
    own = plant_own(runtime)
    before = {
        name: answer_of(reader, own.id, sql)
        for name, sql in statements.items()
        if name in CONTAINED
    }
    planted = Planted(own, (plant_foreign(runtime), plant_foreign(runtime)))
    after = {name: answer_of(reader, own.id, sql) for name, sql in statements.items()}
    return Run(planted, before, after)


@pytest.fixture(scope="module")
def planted(engine: Run) -> Planted:
    return engine.planted


@pytest.fixture(scope="module")
def headers(runtime: Runtime, planted: Planted) -> Headers:
    return new_key(runtime, planted.own, ["queries:run"])


def run(client: FlaskClient, headers: Headers, sql: str) -> TestResponse:
    return client.post("/v1/queries/run", json={"sql": sql}, headers=headers)


def leaks(planted: Planted, answer: TestResponse, sql: str) -> set[str]:
    """Returns the parts of an answer that come from others."""
    rows = answer.get_json().get("rows", [])
    return planted.leaks(answer.get_data(as_text=True), rows, sql=sql)


@pytest.mark.parametrize("route", ROUTES)
def test_the_guard_says_what_it_refuses(
    client: FlaskClient, planted: Planted, headers: Headers, route: str
) -> None:
    wrong = {}
    for name, sql in of_route(REFUSED, route).items():
        answer = run(client, headers, sql)
        body = answer.get_json()
        found = leaks(planted, answer, sql)
        if (answer.status_code, body.get("code")) != (422, "query_refused") or found:
            wrong[name] = (answer.status_code, found)
        assert list(body["fields"]) == ["sql"], name
    assert wrong == {}


@pytest.mark.parametrize("route", ROUTES)
def test_accepted_statements_see_only_their_own_rows(
    client: FlaskClient, planted: Planted, headers: Headers, route: str
) -> None:
    wrong = {}
    for name, sql in of_route(CONTAINED, route).items():
        answer = run(client, headers, sql)
        found = leaks(planted, answer, sql)
        if answer.status_code not in (200, 422) or found:
            wrong[name] = (answer.status_code, found)
    assert wrong == {}


@pytest.mark.parametrize("route", [route for route in ROUTES if route != "nesting"])
def test_the_engine_alone_shows_nothing_of_others(engine: Run, route: str) -> None:
    statements = of_route({**REFUSED, **CONTAINED}, route)
    found = {
        name: engine.planted.leaks(answer.text, answer.rows, sql=statements[name])
        for name, answer in of_route(engine.after, route).items()
    }
    assert {name: leak for name, leak in found.items() if leak} == {}


def test_the_engine_alone_answers_as_if_there_were_no_others(engine: Run) -> None:
    assert {
        name: (answer.text, engine.after[name].text)
        for name, answer in engine.before.items()
        if answer != engine.after[name] and name not in VARIES
    } == {}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_others_would_be_recognised_by_any_column(
    reader: Reader, planted: Planted, table: PublishedTable
) -> None:
    """This validates the tests above: the owner sees the planted values."""
    for column in table.columns:
        if column.name in {"is_error", "passed"}:
            continue
        sql = f"SELECT {column.name} FROM {table.name}"
        answer = answer_of(reader, planted.others[0].id, sql)
        assert planted.leaks(answer.text, answer.rows), column.name
        assert not planted.leaks(answer_of(reader, planted.own.id, sql).text), column.name


@pytest.mark.parametrize("table", ["events", "evaluations", "results"])
def test_others_would_be_recognised_by_their_number(
    reader: Reader, planted: Planted, table: str
) -> None:
    answer = answer_of(reader, planted.others[0].id, f"SELECT count() FROM {table}")
    assert planted.leaks(answer.text, answer.rows)


def test_there_are_three_hundred_statements_and_more() -> None:
    assert len(REFUSED) > 600
    assert len(CONTAINED) > 300
