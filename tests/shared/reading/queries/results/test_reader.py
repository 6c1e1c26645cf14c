"""Runs as the read-only user: limits, refusals, and reuse of connections."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from devstack import DevStack
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.errors import QueryFailed, QueryTimeout, Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.results import reader as module
from shared.reading.queries.results.columns import MAX_VALUES
from shared.reading.queries.results.reader import MAX_ROWS, QueryCancelled, Reader
from tests.support.events import event, store_events
from tests.support.processes import wait_until
from tests.support.runtime import Org, make_org

# Ten seconds of work that only the time limit ends.
LONG = (
    "SELECT count() FROM numbers(400000000) WHERE sipHash64(number) = 1 OR sipHash64(-number) = 1"
)


def running(clickhouse: ClickHouse, org: Org) -> int:
    """Counts the statements of the organization that the server runs now."""
    sql = "SELECT count() FROM system.processes WHERE startsWith(query_id, {org_id:String})"
    return int(clickhouse.rows(sql, {"org_id": org.id})[0][0])


def test_a_run_sees_the_rows_of_its_organization(
    runtime: Runtime, reader: Reader, org: Org
) -> None:
    other = make_org(runtime)
    store_events(runtime.clickhouse, org.id, [event("mine", "10:00:00")])
    store_events(runtime.clickhouse, other.id, [event("theirs", "10:00:00")])
    for mine, session in ((org, "mine"), (other, "theirs"), (org, "mine")):
        assert reader.run(mine.id, "SELECT session_id FROM events", {}).rows == [(session,)]


@pytest.mark.parametrize("org_id", ["", "x", f"{uuid.uuid4()}:x", f"{uuid.uuid4()}' OR '"])
def test_nothing_runs_for_what_is_no_organization(reader: Reader, org_id: str) -> None:
    with pytest.raises(ValueError, match="organization"):
        reader.run(org_id, "SELECT 1", {})


@pytest.mark.parametrize(("rows", "truncated"), [(MAX_ROWS, False), (MAX_ROWS + 1, True)])
def test_a_result_has_at_most_ten_thousand_rows(
    reader: Reader, org: Org, rows: int, truncated: bool
) -> None:
    sql = "SELECT number FROM numbers({n:UInt64})"
    for _ in range(2):
        result = reader.run(org.id, sql, {"n": rows})
        assert (len(result.rows), result.truncated) == (MAX_ROWS, truncated)


def test_rows_are_counted_even_where_the_profile_sets_no_limit(
    migrated_stack: DevStack, org: Org
) -> None:
    anybody = Reader(migrated_stack.urls.clickhouse_url, pool_size=1)
    for _ in range(2):
        result = anybody.run(org.id, "SELECT number FROM system.numbers", {})
        assert (len(result.rows), result.truncated) == (MAX_ROWS, True)
    anybody.close()


def test_the_limit_of_rows_does_not_cut_counts(reader: Reader, org: Org) -> None:
    sql = "SELECT count(), (SELECT sum(n) FROM (SELECT 1 AS n FROM numbers(20000))) FROM (%s)"
    inner = "SELECT number FROM numbers(30000) UNION ALL SELECT number FROM numbers(5000)"
    assert reader.run(org.id, sql % inner, {}).rows == [(35000, 20000)]


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        ("SELECT throwIf(1, 'boo')", "boo: while executing"),
        ("SELECT nope FROM events", "Unknown expression identifier `nope`"),
        ("SELECT groupArray(number) FROM numbers(400000000)", "Query memory limit exceeded"),
        ("SELECT count() FROM numbers(1000000000)", "max rows: 500.00 million"),
        ("SELECT repeat('x', 100000) FROM numbers(1000)", "64"),
        # 12 MB in the database, 72 MB as JSON.
        ("SELECT repeat(char(0), 1000000) FROM numbers(12)", "larger than 64 MiB"),
        (f"SELECT range(number + {MAX_VALUES}) FROM numbers(1)", f"more than {MAX_VALUES} values"),
        (
            "SELECT arrayMap(x -> tuple(x), range(number + 8000000)) FROM numbers(1)",
            f"more than {MAX_VALUES} values",
        ),
        ("SELECT 1 SETTINGS max_threads = 8", "Cannot modify 'max_threads'"),
        ("INSERT INTO events (id) VALUES (1)", "Not enough privileges"),
        ("SELECT * FROM url('http://127.0.0.1:1/')", "Not enough privileges"),
        ("SELEC 1", "Syntax error"),
    ],
)
def test_a_refusal_has_the_message_of_the_database(
    reader: Reader, org: Org, sql: str, detail: str
) -> None:
    with pytest.raises(QueryFailed) as failed:
        reader.run(org.id, sql, {})
    assert detail in failed.value.detail
    assert "Stack trace" not in failed.value.detail
    assert "DB::" not in failed.value.detail
    assert reader.run(org.id, "SELECT 1", {}).rows == [(1,)]


def test_a_run_ends_at_the_deadline(
    runtime: Runtime, reader: Reader, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DEADLINE_SECS", 0.3)
    with pytest.raises(QueryTimeout):
        reader.run(org.id, LONG, {})
    wait_until(lambda: running(runtime.clickhouse, org) == 0)


def test_a_limit_of_time_that_the_database_keeps_says_so(
    migrated_stack: DevStack, org: Org
) -> None:
    anybody = Reader(f"{migrated_stack.urls.clickhouse_url}?max_execution_time=1", pool_size=1)
    with pytest.raises(QueryTimeout):
        anybody.run(org.id, LONG, {})
    anybody.close()


def test_a_run_that_is_cancelled_leaves_the_server(
    runtime: Runtime, reader: Reader, org: Org
) -> None:
    with pytest.raises(QueryCancelled):
        reader.run(org.id, LONG, {}, cancelled=lambda: running(runtime.clickhouse, org) > 0)
    wait_until(lambda: running(runtime.clickhouse, org) == 0)
    assert reader.run(org.id, "SELECT 1", {}).rows == [(1,)]


def test_a_statement_left_to_the_database_reports_its_id(reader: Reader, org: Org) -> None:
    told: list[tuple[str, bool]] = []

    def left(query_id: str, has_begun: bool) -> None:
        told.append((query_id, has_begun))

    reader.run(org.id, "SELECT 1", {}, left=left)
    with pytest.raises(QueryFailed):
        reader.run(org.id, "SELECT nope", {}, left=left)
    assert told == []
    with pytest.raises(QueryCancelled):
        reader.run(org.id, "SELECT sleep(1)", {}, cancelled=lambda: True, left=left)
    reader.run(org.id, f"SELECT number FROM numbers({2 * MAX_ROWS})", {}, left=left)
    assert [has_begun for _, has_begun in told] == [False, True]
    assert all(query_id.startswith(f"{org.id}:") for query_id, _ in told)


def test_connections_are_bounded(migrated_stack: DevStack, org: Org) -> None:
    small = Reader(migrated_stack.urls.clickhouse_readonly_url, pool_size=1)
    held, done = threading.Event(), threading.Event()

    def hold() -> bool:
        held.set()
        return done.wait()

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(small.run, org.id, "SELECT 1", {}, cancelled=hold)
        try:
            wait_until(lambda: held.is_set() or holder.done())
            with pytest.raises(Unavailable) as busy:
                small.run(org.id, "SELECT 1", {})
            assert busy.value.code == "queries_busy"
        finally:
            done.set()
        assert isinstance(holder.exception(), QueryCancelled)
    assert small.run(org.id, "SELECT 1", {}).rows == [(1,)]
    small.close()


@pytest.mark.parametrize("user", ["nobody", "watchpost_views"])
def test_a_user_who_cannot_sign_in_is_a_fault_of_the_deployment(
    migrated_stack: DevStack, org: Org, user: str
) -> None:
    url = migrated_stack.urls.clickhouse_readonly_url.replace("reader@", f"{user}@")
    with pytest.raises(Unavailable) as refused:
        Reader(url, pool_size=1).run(org.id, "SELECT 1", {})
    assert refused.value.code == "queries_unavailable"


def test_a_refusal_that_quotes_bytes_which_are_no_text_can_be_read(
    reader: Reader, org: Org
) -> None:
    with pytest.raises(QueryFailed) as refused:
        reader.run(org.id, "SELECT toUInt64(unhex('c3ff'))", {})
    assert refused.value.detail is not None
    assert refused.value.detail.startswith("Cannot parse string '\ufffd\ufffd' as UInt64")
    assert reader.run(org.id, "SELECT 1", {}).rows == [(1,)]
