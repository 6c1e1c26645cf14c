"""Migration 3 replaces the table of sessions while events come in, and can run again."""

import threading
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrate import migrate
from shared.foundation.clickhouse.migrations import m0003_read_model
from shared.foundation.clickhouse.root_agent import FIRST_EVENT, root_agent
from shared.foundation.clickhouse.where import us
from tests.support.databases import empty_clickhouse
from tests.support.events import event, store_events

ORG = "11111111-0000-4000-8000-000000000000"
TABLES = {
    *("events", "evaluations", "own_evaluations"),
    *("agent_sessions", "agent_sessions_feed", "schema_migrations"),
}


@pytest.fixture
def clickhouse(clickhouse_url: str) -> Iterator[ClickHouse]:
    """A database of the previous release."""
    with empty_clickhouse(clickhouse_url) as url:
        made = ClickHouse(url)
        migrate(made, 2)
        yield made
        made.close()


def _store(clickhouse: ClickHouse, names: list[str]) -> None:
    lines = [
        event(name, "10:00:00", "agent_start", agent_id=f"root of {name}", environment="staging")
        for name in names
    ] + [event(name, "10:00:09", "agent_end", agent_id=f"root of {name}") for name in names]
    store_events(clickhouse, ORG, lines)


class _Facts(NamedTuple):
    """The facts of a session that the schemas of this test have."""

    agent_id: str
    environment: str
    last_event_at: int
    ended_at: int


def _facts(clickhouse: ClickHouse, names: list[str]) -> dict[str, _Facts]:
    rows = clickhouse.rows(
        f"SELECT session_id, {root_agent()}, {FIRST_EVENT}.2, {us('max(last_event_at)')},"
        f" {us(f'maxMap(agent_ends)[{root_agent()}]')} FROM agent_sessions"
        " WHERE org_id = {org:String} AND session_id IN {names:Array(String)} GROUP BY session_id",
        {"org": ORG, "names": names},
    )
    return {name: _Facts(*values) for name, *values in rows}


def _tables(clickhouse: ClickHouse) -> set[str]:
    return {
        name
        for (name,) in clickhouse.rows(
            "SELECT name FROM system.tables WHERE database = currentDatabase()"
        )
    }


def _granularity(clickhouse: ClickHouse) -> list[Row]:
    return clickhouse.rows(
        "SELECT extract(create_table_query, 'index_granularity = (\\\\d+)') FROM system.tables"
        " WHERE database = currentDatabase() AND name = 'agent_sessions'"
    )


def test_no_session_is_missing_that_came_before_meanwhile_or_after(clickhouse: ClickHouse) -> None:
    _store(clickhouse, ["before"])
    names, done = ["before"], threading.Event()

    def ingest() -> None:
        while not done.is_set():
            names.append(f"meanwhile {len(names)}")
            _store(clickhouse, names[-1:])

    thread = threading.Thread(target=ingest)
    thread.start()
    try:
        for version in (3, 2, 3):
            migrate(clickhouse, version)
    finally:
        done.set()
        thread.join()
    names.append("after")
    _store(clickhouse, ["after"])
    found = _facts(clickhouse, names)
    assert len(names) > 3
    assert found.keys() == set(names)
    assert {(one.agent_id, one.environment) for one in found.values()} == {
        (f"root of {name}", "staging") for name in names
    }
    assert all(one.ended_at == one.last_event_at for one in found.values())
    assert _tables(clickhouse) == TABLES - {"own_evaluations"}


class _Killed(Exception):
    """Ends the release."""


class _Interrupted(Ddl):
    """Ends the release before the statement that begins with `before`."""

    def __init__(self, clickhouse: ClickHouse, before: str) -> None:
        super().__init__(clickhouse)
        self._before = before

    def run(self, template: str, params: Mapping[str, object] | None = None) -> None:
        if template.strip().startswith(self._before):
            raise _Killed
        super().run(template, params)


@pytest.mark.parametrize(
    "before",
    [
        "ALTER TABLE {table:events} MATERIALIZE",
        "CREATE TABLE",
        "CREATE MATERIALIZED VIEW",
        "INSERT INTO",
        "EXCHANGE",
        "DROP TABLE IF EXISTS {table:agent_sessions_next} ",
    ],
)
def test_an_interrupted_one_is_run_again(clickhouse: ClickHouse, before: str) -> None:
    _store(clickhouse, ["first"])
    with pytest.raises(_Killed):
        m0003_read_model.up(_Interrupted(clickhouse, before))
    _store(clickhouse, ["second"])
    assert _facts(clickhouse, ["first", "second"]).keys() == {"first", "second"}
    migrate(clickhouse)
    _store(clickhouse, ["third"])
    assert _facts(clickhouse, ["first", "second", "third"]).keys() == {"first", "second", "third"}
    assert _tables(clickhouse) == TABLES
    assert _granularity(clickhouse) == [("64",)]
