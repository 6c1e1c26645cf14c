"""A run from the guard to the log."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from structlog.testing import capture_logs

from devstack import DevStack
from shared.foundation.core.errors import (
    Invalid,
    QueryFailed,
    RateLimited,
    Unavailable,
    WatchpostError,
)
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import slots
from shared.foundation.queue.slots import RUNS_AT_ONCE, QuerySlots
from shared.reading.queries.results.reader import QueryCancelled
from shared.reading.queries.run import QueryOwner, QueryRunner
from tests.support.events import event, store_events
from tests.support.runtime import Org, connected, settings_for


@pytest.fixture(scope="module")
def runner(runtime: Runtime) -> Iterator[QueryRunner]:
    """Two connections."""
    made = QueryRunner(runtime, pool_size=2)
    yield made
    made.close()


def line_of(
    runner: QueryRunner,
    org: Org,
    sql: str,
    *params: object,
    refused: type[WatchpostError] | None = None,
) -> dict[str, Any]:
    """Returns the one log line of a run."""
    with capture_logs() as lines:
        if refused is None:
            runner.run(QueryOwner(org.id, "ann@example.com"), sql, params)
        else:
            with pytest.raises(refused):
                runner.run(QueryOwner(org.id, "ann@example.com"), sql, params)
    [line] = [line for line in lines if line["event"] == "query_run"]
    assert line["who"] == "ann@example.com"
    assert line["org_id"] == org.id
    assert line["duration_ms"] >= 0
    return {name: line[name] for name in ("sql", "params", "rows", "outcome", "reason")}


def test_parameters_are_bound_and_never_spliced(
    runtime: Runtime, runner: QueryRunner, org: Org
) -> None:
    odd = "x' OR 1 = 1 --"
    store_events(runtime.clickhouse, org.id, [event("s", "10:00:00"), event(odd, "10:00:01")])
    sql = "SELECT session_id FROM analytics.events WHERE session_id = $1 AND 1 IN ($2)"
    run = runner.run(QueryOwner(org.id, "ann"), sql, [odd, 1])
    assert run.result.rows == [(odd,)]
    assert run.elapsed_ms >= 0


def test_a_run_is_logged_with_what_became_of_it(runner: QueryRunner, org: Org) -> None:
    sql = "SELECT count() FROM events WHERE session_id = $1"
    line = line_of(runner, org, sql, "a'b")
    assert line == {"sql": sql, "params": '["a\'b"]', "rows": 1, "outcome": "ok", "reason": None}


@pytest.mark.parametrize(
    ("sql", "refused", "outcome", "reason"),
    [
        ("DROP TABLE events", Invalid, "query_refused", "sql: only SELECT"),
        ("SELECT nope FROM events", QueryFailed, "query_failed", "nope"),
        ("SELECT $2", Invalid, "query_refused", "$2 has no value"),
    ],
)
def test_a_refused_run_is_logged_as_well(
    runner: QueryRunner,
    org: Org,
    sql: str,
    refused: type[WatchpostError],
    outcome: str,
    reason: str,
) -> None:
    line = line_of(runner, org, sql, "x", refused=refused)
    assert reason in line.pop("reason")
    assert line == {"sql": sql, "params": '["x"]', "rows": 0, "outcome": outcome}


def test_a_run_that_was_left_to_the_database_counts_on(
    runtime: Runtime, runner: QueryRunner, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "ARRIVAL_MS", 60_000)
    asker = QueryOwner(org.id, "ann")
    with ExitStack() as stack:
        for _ in range(RUNS_AT_ONCE - 1):
            stack.enter_context(QuerySlots(runtime.redis, runtime.clickhouse).hold(org.id))
        with pytest.raises(QueryCancelled):
            runner.run(asker, "SELECT count() FROM events", [], cancelled=lambda: True)
        with pytest.raises(RateLimited):
            runner.run(asker, "SELECT count() FROM events", [])


def test_a_run_too_many_is_refused_and_logged(
    runtime: Runtime, runner: QueryRunner, org: Org
) -> None:
    with ExitStack() as stack:
        for _ in range(RUNS_AT_ONCE):
            stack.enter_context(QuerySlots(runtime.redis, runtime.clickhouse).hold(org.id))
        line = line_of(runner, org, "SELECT 1 FROM events", refused=RateLimited)
        assert line["outcome"] == "too_many_queries"
    assert line_of(runner, org, "SELECT 1 FROM events")["outcome"] == "ok"


def test_a_deployment_without_a_reader_says_so(migrated_stack: DevStack, org: Org) -> None:
    settings = settings_for(migrated_stack.urls, clickhouse_readonly_url=None)
    with connected(settings) as without:
        runner = QueryRunner(without, pool_size=1)
        line = line_of(runner, org, "SELECT 1 FROM events", refused=Unavailable)
        assert line["outcome"] == "queries_unavailable"
        with pytest.raises(Unavailable):
            _ = runner.schema
