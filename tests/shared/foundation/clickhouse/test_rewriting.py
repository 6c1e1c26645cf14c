"""Events that were written again: each read and each filter sees the newest copy, and no other."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.rewriting import (
    FIRST_VERSION,
    NEXT_VERSION,
    may_change,
    merged,
)
from shared.foundation.clickhouse.where import Where
from shared.foundation.deployment.runtime import Runtime
from shared.reading.dimensions.conditions import parse_attributes, parse_missing
from shared.reading.events.error_summary import error_summary
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency.aggregate import latency_aggregate
from shared.reading.events.latency.query import LatencyFilters, LatencyQuery
from shared.reading.events.outline.outline import outline
from shared.reading.events.outline.query import OutlineFilters, outline_query
from shared.reading.events.page import read_page
from shared.reading.sessions import facts
from shared.reading.sessions.totals import totals_of
from shared.upkeep.rewriting.writing import write
from tests.support.events import event, store_events
from tests.support.runtime import Org

TS = 1_793_613_600_000_000  # 2026-11-02T10:00:00Z
# By the name of a filter: the column, and its value in the old copy and in the new one.
CASES: dict[str, tuple[dict[str, tuple[Any, Any]], Callable[[Any], dict[str, Any]]]] = {
    "cost_source": (
        {"cost_source": ("unpriced", "computed")},
        lambda value: {"cost_source": [value]},
    ),
    "provider": ({"provider": ("openai", "azure")}, lambda value: {"provider": [value]}),
    "service_tier": ({"service_tier": ("batch", "fast")}, lambda value: {"service_tier": [value]}),
    "user_id": ({"user_id": ("ann", "bob")}, lambda value: {"user_id": [value]}),
    "agent_version": ({"agent_version": ("1", "2")}, lambda value: {"agent_version": [value]}),
    "tag": ({"tags": (["a"], ["b"])}, lambda value: {"tag": value}),
    "attribute": (
        {"attributes": ({"plan": "free"}, {"plan": "pro"})},
        lambda value: {"attr": parse_attributes({"plan": [value["plan"]]})},
    ),
}


@pytest.fixture
def without_merges(clickhouse: ClickHouse) -> Iterator[None]:
    """The copies of an event stay in parts of their own."""
    clickhouse.execute("SYSTEM STOP MERGES events")
    yield
    clickhouse.execute("SYSTEM START MERGES events")


def twice(
    clickhouse: ClickHouse, org_id: str, columns: dict[str, tuple[Any, Any]], **fields: Any
) -> None:
    """Stores a call with the old values, and writes it again with the new ones."""
    line = event("s", "10:00:00", "model_response", error="no", **fields)
    [stored] = store_events(clickhouse, org_id, [line])
    key = [(stored.ts, "s", stored.event_id)]
    write(clickhouse, org_id, key, {name: [old] for name, (old, _) in columns.items()})
    write(clickhouse, org_id, key, {name: [new] for name, (_, new) in columns.items()})


def found_by(runtime: Runtime, org_id: str, given: dict[str, Any]) -> tuple[int, ...]:
    """Returns how many events each read finds by a filter."""
    clickhouse, filters = runtime.clickhouse, EventFilters(**given)
    page = read_page(clickhouse, org_id, ("id",), filters, ascending=False, cursor=None, limit=9)
    shown = outline(
        runtime,
        org_id,
        "s",
        outline_query(OutlineFilters(**given), columns="id"),
    )
    pairs = latency_aggregate(
        clickhouse,
        org_id,
        LatencyQuery(
            TS - 10**9,
            TS + 10**9,
            "model_request",
            "model_response",
            filters=LatencyFilters(**given),
        ),
    )
    return (
        len(page.rows),
        error_summary(clickhouse, org_id, filters)["total"],
        shown["total"],
        len(shown["columns"]["id"]),
        pairs["events"]["end"],
    )


@pytest.mark.usefixtures("without_merges")
@pytest.mark.parametrize("case", CASES)
def test_filters_see_the_newest_copy(runtime: Runtime, org: Org, case: str) -> None:
    columns, filter_of = CASES[case]
    twice(runtime.clickhouse, org.id, columns)
    copies = "SELECT count() FROM events WHERE org_id = {org_id:String}"
    assert runtime.clickhouse.rows(copies, {"org_id": org.id}) == [(3,)]
    [(old, new)] = columns.values()
    assert found_by(runtime, org.id, filter_of(old)) == (0, 0, 0, 0, 0)
    assert found_by(runtime, org.id, filter_of(new)) == (1, 1, 1, 1, 1)


@pytest.mark.usefixtures("without_merges")
@pytest.mark.parametrize(
    ("name", "column"), [("user_id", "user_id"), ("tag", "tags"), ("attr.plan", "attributes")]
)
def test_what_was_filled_is_not_missing(runtime: Runtime, org: Org, name: str, column: str) -> None:
    values: dict[str, tuple[Any, Any]] = {
        "user_id": (None, "ann"),
        "tags": ([], ["a"]),
        "attributes": ({}, {"plan": "pro"}),
    }
    twice(runtime.clickhouse, org.id, {column: values[column]})
    given = {"missing": parse_missing([name])}
    assert found_by(runtime, org.id, given) == (0, 0, 0, 0, 0)


@pytest.mark.usefixtures("without_merges")
def test_a_copy_counts_once_and_only_named_columns_change(runtime: Runtime, org: Org) -> None:
    twice(
        runtime.clickhouse,
        org.id,
        {"input_tokens": (1, 2), "cost_usd": (10**12, 2 * 10**12), "cost_source": ("a", "b")},
        agent_id="writer",
        environment="staging",
    )
    before = facts.find(runtime.clickhouse, org.id, "s")
    assert before is not None
    totals = totals_of(runtime.clickhouse, org.id, [before])["s"]
    assert (totals.event_count, totals.input_tokens) == (1, 2)
    assert totals.cost_usd == 2
    row = runtime.clickhouse.rows(
        "SELECT agent_id, environment, is_error, version - {first:UInt64} < 2,"
        " JSONExtractString(payload, 'type') FROM events FINAL WHERE org_id = {org_id:String}",
        {"org_id": org.id, "first": FIRST_VERSION},
    )
    assert row[0][:3] == ("writer", "staging", True)
    assert row[0][4] == "model_response"


@pytest.mark.usefixtures("without_merges")
def test_a_late_copy_loses(runtime: Runtime, org: Org) -> None:
    ms = int(datetime(2026, 11, 2, tzinfo=UTC).timestamp() * 1000)
    columns: dict[str, list[object]] = {
        "org_id": [org.id],
        "id": [7],
        "session_id": ["s"],
        "ts": [TS],
        "payload": ["{}"],
        "provider": ["old"],
    }
    clickhouse = runtime.clickhouse
    clickhouse.insert("events", {**columns, "arrival": [ms << 21]})
    write(clickhouse, org.id, [(TS, "s", 7)], {"provider": ["new"]})
    # One that came later, and one that came first and was stored last.
    for arrived in (ms + 60_000, ms - 60_000):
        clickhouse.insert("events", {**columns, "arrival": [arrived << 21]})
    sql = "SELECT provider FROM events FINAL WHERE org_id = {org_id:String}"
    assert clickhouse.rows(sql, {"org_id": org.id}) == [("new",)]
    write(clickhouse, org.id, [(TS, "s", 7)], {"provider": ["newer"]})
    assert clickhouse.rows(sql, {"org_id": org.id}) == [("newer",)]


def test_what_is_gone_stays_away(runtime: Runtime, org: Org) -> None:
    [stored] = store_events(runtime.clickhouse, org.id, [event("s", "10:00:00")])
    write(runtime.clickhouse, org.id, [(stored.ts, "s", 1)], {"provider": ["new"]})
    rows = runtime.clickhouse.rows(
        "SELECT id, provider FROM events WHERE org_id = {org_id:String}", {"org_id": org.id}
    )
    assert rows == [(stored.event_id, None)]


def test_versions_of_arrivals_and_of_copies_never_meet(clickhouse: ClickHouse) -> None:
    first_ms = int(datetime(2005, 1, 1, tzinfo=UTC).timestamp() * 1000)
    [(arrived, copied, again, last)] = clickhouse.rows(
        f"SELECT bitNot(toUInt64({first_ms << 21}) AS arrival) AS version, {NEXT_VERSION},"
        f" {NEXT_VERSION.replace('version', str(FIRST_VERSION))},"
        f" {NEXT_VERSION.replace('version', str(2**64 - 1))}"
    )
    assert arrived < FIRST_VERSION
    assert (copied, again, last) == (FIRST_VERSION, FIRST_VERSION + 1, 2**64 - 1)


def test_conditions_on_what_may_change_come_after_final() -> None:
    where = Where("o").any_of("agent_id", ["a"]).add("user_id IN {users:Array(String)}")
    assert merged(where) == (
        "FINAL PREWHERE org_id = {org_id:String} AND (agent_id IN {any_agent_id:Array(String)})"
        " WHERE (user_id IN {users:Array(String)})"
    )
    assert merged(Where("o"), "arrival > 1") == (
        "FINAL PREWHERE org_id = {org_id:String} WHERE arrival > 1"
    )


def test_what_a_session_remembers_does_not_change() -> None:
    assert not may_change("session_id IN (SELECT 1 WHERE hasAny(seen_values['user_id'], ['a']))")
    assert may_change("mapContains(attributes, 'plan')")
