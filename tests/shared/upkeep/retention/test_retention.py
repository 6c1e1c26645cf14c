"""The rows that retention removes, by value, and no others."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from shared.access.organizations import lifecycle
from shared.foundation.cache import at_once
from shared.foundation.clickhouse.kept import KEPT
from shared.foundation.core.clock import to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store as evaluations
from shared.reading.sessions import facts
from tests.shared.upkeep.retention.conftest import NOW, apply, keep
from tests.support.evaluations import evaluation
from tests.support.events import store_events
from tests.support.runtime import Org

JUST_BEFORE = "2026-10-18T23:59:59.999999Z"
# Exactly on the limit, so it is kept.
ON_TIME = "2026-10-19T00:00:00Z"
SATURDAY = NOW + timedelta(days=3)


def lines(session_id: str, *moments: str) -> list[bytes]:
    return [
        json.dumps({"timestamp": ts, "session_id": session_id, "type": "note"}).encode()
        for ts in moments
    ]


def store(runtime: Runtime, org: Org, session_id: str, *moments: str) -> None:
    store_events(runtime.clickhouse, org.id, lines(session_id, *moments))


def store_result(runtime: Runtime, org: Org, session_id: str, *moments: str) -> None:
    results = [evaluation(org.id, session_id, to_us(datetime.fromisoformat(ts))) for ts in moments]
    evaluations.insert(runtime.clickhouse, results)
    evaluations.insert(runtime.clickhouse, results)


def events_of(runtime: Runtime, org: Org) -> list[tuple[str, str]]:
    """Returns (session, moment) of each event, counting copies once."""
    return runtime.clickhouse.rows(
        "SELECT session_id, formatDateTime(ts, '%Y-%m-%dT%H:%i:%s.%fZ') FROM events FINAL"
        " WHERE org_id = {org_id:String} ORDER BY ts, session_id",
        {"org_id": org.id},
    )


def sessions_of(runtime: Runtime, org: Org) -> set[str]:
    return _texts(runtime, org, "session_id", "agent_sessions")


def results_of(runtime: Runtime, org: Org) -> set[str]:
    return _texts(runtime, org, "toString(completed_at)", "evaluations")


def _texts(runtime: Runtime, org: Org, column: str, table: str) -> set[str]:
    sql = f"SELECT {column} FROM {table} WHERE org_id = {{org_id:String}}"
    return {text for (text,) in runtime.clickhouse.rows(sql, {"org_id": org.id})}


def on_disk(runtime: Runtime, org: Org) -> dict[str, int]:
    """Counts the rows in the parts, including hidden ones."""
    return {
        kept.table: runtime.clickhouse.rows(
            f"SELECT count() FROM {kept.table} WHERE org_id = {{org_id:String}}",
            {"org_id": org.id},
            # A projection does not contain hidden rows.
            settings={"apply_deleted_mask": 0, "optimize_use_projections": 0},
        )[0][0]
        for kept in KEPT
    }


def test_only_older_rows_are_removed(runtime: Runtime, org: Org, other: Org) -> None:
    for one in (org, other):
        store(runtime, one, "old", "2026-08-02T10:00:00Z", "2026-09-30T10:00:00Z", JUST_BEFORE)
        store(runtime, one, "old", "2026-08-02T10:00:00Z", "2026-09-30T10:00:00Z", JUST_BEFORE)
        store(runtime, one, "straddles", "2026-09-30T11:00:00Z", JUST_BEFORE)
        store(runtime, one, "straddles", ON_TIME, "2026-11-18T09:00:00Z")
        store(runtime, one, "new", ON_TIME)
        store_result(runtime, one, "old", "2026-08-02T11:00:00Z", JUST_BEFORE, ON_TIME)
    whole = events_of(runtime, other)
    removed = apply(runtime)
    assert removed == {org.id: {"events": 5, "agent_sessions": 1, "evaluations": 2}}
    assert events_of(runtime, org) == [
        ("new", "2026-10-19T00:00:00.000000Z"),
        ("straddles", "2026-10-19T00:00:00.000000Z"),
        ("straddles", "2026-11-18T09:00:00.000000Z"),
    ]
    assert sessions_of(runtime, org) == {"straddles", "new"}
    assert results_of(runtime, org) == {"2026-10-19 00:00:00.000000"}
    assert events_of(runtime, other) == whole
    assert sessions_of(runtime, other) == {"old", "straddles", "new"}
    assert len(results_of(runtime, other)) == 3
    assert apply(runtime) == {}


def test_a_session_that_goes_on_keeps_what_is_known_of_it(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", "2026-09-01T10:00:00Z")
    store(runtime, org, "s", "2026-11-01T10:00:00Z")
    before = facts.find(runtime.clickhouse, org.id, "s")
    assert apply(runtime) == {org.id: {"events": 1}}
    assert facts.find(runtime.clickhouse, org.id, "s") == before
    assert before is not None


def test_each_organization_has_its_own_time(runtime: Runtime, org: Org, other: Org) -> None:
    keep(runtime, other, 60)
    for one in (org, other):
        store(runtime, one, "s", "2026-09-18T23:00:00Z", "2026-09-19T00:00:00Z", ON_TIME)
    removed = apply(runtime)
    assert (removed[org.id]["events"], removed[other.id]["events"]) == (2, 1)
    assert [ts for _, ts in events_of(runtime, other)] == [
        "2026-09-19T00:00:00.000000Z",
        "2026-10-19T00:00:00.000000Z",
    ]


def test_a_session_of_the_same_name_elsewhere_ages_no_other(
    runtime: Runtime, org: Org, other: Org
) -> None:
    keep(runtime, other, 30)
    for one, elsewhere in ((org, other), (other, org)):
        # Both have an old row, so one statement covers both.
        store(runtime, one, f"old in {one.id}", "2026-09-01T10:00:00Z")
        store(runtime, elsewhere, f"old in {one.id}", ON_TIME)
    assert apply(runtime) == {one.id: {"events": 1, "agent_sessions": 1} for one in (org, other)}
    assert sessions_of(runtime, org) == {f"old in {other.id}"}
    assert sessions_of(runtime, other) == {f"old in {org.id}"}


def test_the_next_run_reads_the_setting_again(runtime: Runtime, org: Org) -> None:
    keep(runtime, org, 0)
    store(runtime, org, "s", "2026-10-01T10:00:00Z", "2026-11-10T10:00:00Z")
    assert apply(runtime) == {}
    keep(runtime, org, 3650)
    assert apply(runtime) == {}
    keep(runtime, org, 30)
    assert apply(runtime) == {org.id: {"events": 1}}
    keep(runtime, org, 7)
    assert apply(runtime) == {org.id: {"events": 1, "agent_sessions": 1}}


def test_late_rows_are_removed_by_the_next_run(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", "2026-09-01T10:00:00Z")
    assert apply(runtime)[org.id]["events"] == 1
    store(runtime, org, "s", "2026-09-01T10:00:00Z", "2026-09-01T10:00:01Z")
    assert apply(runtime) == {org.id: {"events": 2, "agent_sessions": 1}}
    assert events_of(runtime, org) == []


def test_a_deleted_organization_is_kept_no_longer_than_it_said(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", "2026-09-01T10:00:00Z")
    with at_once(runtime.postgres, runtime.redis) as session:
        lifecycle.delete(session, org.slug)
    assert apply(runtime)[org.id]["events"] == 1


def test_a_month_in_which_nothing_remains_leaves_the_disk_at_once(
    runtime: Runtime, org: Org
) -> None:
    store(runtime, org, "s", "2026-03-01T10:00:00Z", "2026-11-18T09:00:00Z")
    assert apply(runtime) == {org.id: {"events": 1}}
    assert on_disk(runtime, org)["events"] == 1


def test_hidden_rows_leave_the_disk_on_sunday(
    runtime: Runtime, org: Org, without_merges: None
) -> None:
    store(runtime, org, "s", "2026-10-18T10:00:00Z", "2026-10-30T10:00:00Z")
    assert apply(runtime) == {org.id: {"events": 1}}
    apply(runtime, SATURDAY)
    assert on_disk(runtime, org)["events"] == 2
    with capture_logs() as logs:
        apply(runtime, SATURDAY + timedelta(days=1))
    assert on_disk(runtime, org)["events"] == 1
    assert ("events", "202610") in {
        (line["table"], line["partition"])
        for line in logs
        if line["event"] == "retention_wrote_again"
    }


def test_one_log_line_per_organization_counts_the_removed_rows(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", "2026-09-01T10:00:00Z")
    store_result(runtime, org, "s", "2026-09-01T11:00:00Z")
    with capture_logs() as logs:
        apply(runtime)
    told: Iterable[Any] = [line for line in logs if line.get("org_id") == org.id]
    assert told == [
        {
            "event": "retention_applied",
            "log_level": "info",
            "org_id": org.id,
            "days": 30,
            "agent_sessions": 1,
            "evaluations": 1,
            "events": 1,
        }
    ]


def test_without_old_rows_the_disk_is_not_used(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", ON_TIME)
    before = _mutations(runtime)
    assert apply(runtime) == {}
    assert _mutations(runtime) == before


def test_organizations_with_the_same_need_share_a_statement(
    runtime: Runtime, org: Org, other: Org
) -> None:
    keep(runtime, other, 45)
    for one in (org, other):
        store(runtime, one, "s", "2026-07-01T10:00:00Z", "2026-11-01T10:00:00Z")
    before = _mutations(runtime)
    assert apply(runtime) == {org.id: {"events": 1}, other.id: {"events": 1}}
    assert _mutations(runtime) == before + 1


def _mutations(runtime: Runtime) -> int:
    sql = "SELECT count() FROM system.mutations WHERE database = currentDatabase()"
    return int(runtime.clickhouse.rows(sql)[0][0])


def test_every_table_with_an_organization_is_known(runtime: Runtime) -> None:
    tables: dict[str, str] = dict(
        runtime.clickhouse.rows(
            "SELECT name, partition_key FROM system.tables WHERE database = currentDatabase()"
            " AND name IN (SELECT table FROM system.columns WHERE name = 'org_id'"
            " AND database = currentDatabase()) AND endsWith(engine, 'MergeTree')"
        )
    )
    assert {kept.table for kept in KEPT} == tables.keys()
    for kept in KEPT:
        by_month = kept.moment is not None and kept.by_month
        assert tables[kept.table] == (f"toYYYYMM({kept.moment})" if by_month else ""), kept


@pytest.mark.parametrize("hour", [0, 23])
def test_the_limit_is_a_midnight_whenever_the_run_is(runtime: Runtime, org: Org, hour: int) -> None:
    store(runtime, org, f"s{hour}", JUST_BEFORE, ON_TIME)
    assert apply(runtime, NOW.replace(hour=hour, minute=59)) == {org.id: {"events": 1}}
