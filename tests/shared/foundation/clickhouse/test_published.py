"""The views that people's SQL reads: their content, their access and their creation."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from clickhouse_driver.errors import ServerException

from devstack import DevStack
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.published import (
    BASE_TABLES,
    DEFINER,
    POLICY,
    TABLES,
    publish,
    statement,
)
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store as evaluations
from shared.reading.sessions.facts import fetch
from shared.reading.sessions.totals import totals_of
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events
from tests.support.runtime import Org, make_org


@pytest.fixture(scope="module")
def reader(migrated_stack: DevStack) -> Iterator[ClickHouse]:
    """The user of people's SQL, without the guard in front of it."""
    made = ClickHouse(migrated_stack.urls.clickhouse_readonly_url, pool_size=2)
    yield made
    made.close()


def ask(reader: ClickHouse, org: Org, sql: str) -> list[tuple[Any, ...]]:
    """Returns the rows of a statement in the organization's name."""
    return reader.rows(sql, query_id=f"{org.id}:{uuid.uuid4()}")


@pytest.fixture
def stored(runtime: Runtime, org: Org) -> Org:
    """Three sessions, with every event stored twice, next to those of another organization."""
    lines = [
        event("a", "10:00:00", "tool_use", agent_id="early", environment="prod", input_tokens=3),
        event("a", "10:00:01", "agent_start", agent_id="root", environment="dev"),
        event("a", "10:00:02", "agent_start", agent_id="sub"),
        event("a", "10:00:03", "agent_end", agent_id="root"),
        event("a", "10:00:04", "agent_end", agent_id="root", error="again", output_tokens=5),
        event("a", "10:00:05", "agent_end", agent_id="sub"),
        event("b", "11:00:00", "error", agent_id="x", n=1),
        event("b", "11:00:00", "error", agent_id="y", n=2),
        event("b", "11:00:00", "tool_use", agent_id="y", n=3),
        event("c", "12:00:00", "agent_start", agent_id="open"),
    ]
    for _ in range(2):
        store_events(runtime.clickhouse, org.id, lines)
        record = evaluation(org.id, "a", 1, evaluation_id="e", scores={"x": 0.5}, reasoning={})
        evaluations.insert(runtime.clickhouse, [record])
    other = make_org(runtime)
    store_events(runtime.clickhouse, other.id, [event("a", "09:00:00", agent_id="foreign")])
    evaluations.insert(runtime.clickhouse, [evaluation(other.id, "a", 1)])
    return org


def test_a_view_has_exactly_the_columns_of_the_registry(reader: ClickHouse) -> None:
    for table in TABLES:
        found = reader.rows(f"DESCRIBE TABLE {table.name}")
        assert [row[0] for row in found] == [column.name for column in table.columns]
        types = ["".join(row[1].split()) for row in found]
        assert types == ["".join(column.type.split()) for column in table.columns]


def test_events_are_there_once_and_only_ones_own(reader: ClickHouse, stored: Org) -> None:
    rows = ask(reader, stored, "SELECT session_id, agent_id, payload FROM events ORDER BY ts, id")
    assert len(rows) == 10
    assert {json.loads(payload)["session_id"] for _, _, payload in rows} == {"a", "b", "c"}
    assert "foreign" not in {agent_id for _, agent_id, _ in rows}


def test_evaluations_are_there_once_and_only_ones_own(reader: ClickHouse, stored: Org) -> None:
    rows = ask(reader, stored, "SELECT evaluation_id, id, scores, reasoning FROM evaluations")
    assert rows == [("e", "e", {"x": 0.5}, {})]


def test_sessions_say_what_the_list_of_sessions_says(
    runtime: Runtime, reader: ClickHouse, stored: Org
) -> None:
    facts = fetch(runtime.clickhouse, stored.id, ["a", "b", "c"])
    totals = totals_of(runtime.clickhouse, stored.id, list(facts.values()))
    expected = {
        session_id: (
            facts[session_id].agent_id,
            [tuple(agent) for agent in totals[session_id].agents],
            facts[session_id].environment,
            totals[session_id].event_count,
            totals[session_id].error_count,
            facts[session_id].started_at,
            facts[session_id].last_event_at,
            facts[session_id].ended_at,
            totals[session_id].first_event_id,
            totals[session_id].last_event_id,
            totals[session_id].input_tokens,
            totals[session_id].output_tokens,
        )
        for session_id in facts
    }
    rows = ask(
        reader,
        stored,
        "SELECT session_id, agent_id, agents, environment, event_count, error_count,"
        " toUnixTimestamp64Micro(started_at), toUnixTimestamp64Micro(last_event_at),"
        " toUnixTimestamp64Micro(ended_at), first_event_id, last_event_id, input_tokens,"
        " output_tokens FROM agent_sessions",
    )
    assert {row[0]: row[1:] for row in rows} == expected
    assert expected["a"][0] == "root"
    assert expected["a"][7] is not None
    assert expected["b"][3] == 3


@pytest.mark.parametrize("query_id", ["", "nobody", ":", "'", f"{uuid.uuid4()}"])
def test_a_reader_without_an_organization_sees_no_row(
    reader: ClickHouse, stored: Org, query_id: str
) -> None:
    for table in TABLES:
        sql = f"SELECT count() FROM {table.name}"
        assert reader.rows(sql, query_id=query_id or None) == [(0,)]


def test_the_reader_reads_the_views_and_nothing_else(
    runtime: Runtime, reader: ClickHouse, stored: Org
) -> None:
    [(database,)] = runtime.clickhouse.rows("SELECT currentDatabase()")
    for table in ("events", "agent_sessions", "evaluations", "schema_migrations"):
        with pytest.raises(ServerException, match="Not enough privileges"):
            ask(reader, stored, f"SELECT count() FROM {database}.{table}")
    for table in ("processes", "parts", "users", "grants", "row_policies", "settings_changes"):
        with pytest.raises(ServerException, match="Not enough privileges"):
            ask(reader, stored, f"SELECT count() FROM system.{table}")
    shown = ask(reader, stored, "SELECT name FROM system.tables WHERE database != 'system'")
    assert sorted(shown) == [(table.name,) for table in sorted(TABLES)]


def test_the_definer_stands_under_the_policy_and_cannot_sign_in(
    runtime: Runtime, migrated_stack: DevStack
) -> None:
    policies = runtime.clickhouse.rows(
        "SELECT table, select_filter, apply_to_list FROM system.row_policies"
        " WHERE database = currentDatabase() ORDER BY table"
    )
    assert policies == [(table, POLICY, ["watchpost_views"]) for table in sorted(BASE_TABLES)]
    url = migrated_stack.urls.clickhouse_url.replace("default@", "watchpost_views@")
    definer = ClickHouse(url, pool_size=1)
    with pytest.raises(ServerException, match="watchpost_views"):
        definer.rows("SELECT 1")


def test_the_views_filter_even_where_the_policy_was_forgotten(
    runtime: Runtime, stored: Org
) -> None:
    name = f"forgotten_{uuid.uuid4().hex}"
    runtime.clickhouse.execute(f"CREATE DATABASE {name}")
    try:
        for table in TABLES:
            # The user here owns the tables, so no policy applies.
            view = statement(table, name, "watchpost").replace(f"DEFINER = {DEFINER} ", "")
            view = view.replace("SECURITY DEFINER", "SECURITY INVOKER")
            Ddl(runtime.clickhouse).run(view)
            sql = f"SELECT count() FROM {name}.{table.name}"
            own = runtime.clickhouse.rows(sql, query_id=f"{stored.id}:{uuid.uuid4()}")
            assert own[0][0] in {10, 3, 1}
            assert runtime.clickhouse.rows(sql) == [(0,)]
    finally:
        runtime.clickhouse.execute(f"DROP DATABASE {name}")


def test_text_is_never_of_a_dictionary_that_others_share() -> None:
    assert not [
        column for table in TABLES for column in table.columns if "LowCardinality" in column.type
    ]


@pytest.mark.parametrize(
    ("database", "message"),
    [("watchpost", "name another"), ("", "as its path"), ("a-b", "as its path")],
)
def test_a_bad_database_of_the_views_is_refused(
    runtime: Runtime, database: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        publish(runtime.clickhouse, f"clickhouse://reader@127.0.0.1/{database}")


def test_a_table_in_the_place_of_a_view_is_left_alone(runtime: Runtime) -> None:
    name = f"taken_{uuid.uuid4().hex}"
    runtime.clickhouse.execute(f"CREATE DATABASE {name}")
    try:
        runtime.clickhouse.execute(f"CREATE TABLE {name}.events (n UInt8) ENGINE = Memory")
        with pytest.raises(ConfigurationError, match=f"{name}.events is a table"):
            publish(runtime.clickhouse, f"clickhouse://reader@127.0.0.1/{name}")
        assert runtime.clickhouse.rows(f"SELECT count() FROM {name}.events") == [(0,)]
    finally:
        runtime.clickhouse.execute(f"DROP DATABASE {name}")


def test_a_release_makes_the_database_and_replaces_the_views(runtime: Runtime) -> None:
    name = f"views_{uuid.uuid4().hex}"
    url = f"clickhouse://reader@127.0.0.1/{name}"
    try:
        publish(runtime.clickhouse, url)
        runtime.clickhouse.execute(f"CREATE OR REPLACE VIEW {name}.events AS SELECT 1 AS old")
        publish(runtime.clickhouse, url)
        [column, *_] = runtime.clickhouse.rows(f"DESCRIBE TABLE {name}.events")
        assert column[0] == "id"
    finally:
        runtime.clickhouse.execute(f"DROP DATABASE IF EXISTS {name}")
