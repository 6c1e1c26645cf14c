"""Retention during ingest, a purge, evaluations, and another run of itself."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from shared.access.organizations import lifecycle
from shared.foundation.cache import at_once
from shared.foundation.clickhouse.mutations import unfinished
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import single_flight
from shared.foundation.queue.jobs import APPLY_RETENTION
from shared.intake.ingest import stream
from shared.intake.ingest.decode import decode_events
from shared.upkeep.purge.service import purge
from shared.upkeep.retention import service
from tests.shared.upkeep.retention.conftest import NOW, apply
from tests.shared.upkeep.retention.test_retention import (
    ON_TIME,
    events_of,
    lines,
    on_disk,
    sessions_of,
    store,
    store_result,
)
from tests.support.evaluator import running_evaluator
from tests.support.jobs import Bench
from tests.support.processes import wait_until
from tests.support.runtime import Org
from workers.clock import BEATS

OLD = "2026-09-01T10:00:00Z"


def reasons(runtime: Runtime, act: Callable[[], object]) -> list[str]:
    """Returns the reasons why the run that `act` makes ended early."""
    with capture_logs() as logs:
        act()
    return [line["reason"] for line in logs if line["event"] == "retention_postponed"]


def test_the_clock_starts_it() -> None:
    assert [beat.task for beat in BEATS].count(APPLY_RETENTION) == 1


def test_of_two_runs_at_once_one_does_the_work(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", OLD)
    with single_flight(runtime.postgres, APPLY_RETENTION.actor):
        assert apply(runtime) == {}
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: apply(runtime), range(4)))
    assert [rows for rows in found if rows] == [{org.id: {"agent_sessions": 1, "events": 1}}]


@pytest.mark.parametrize("killed_at", range(3))
def test_the_next_worker_finishes_a_killed_ones_work(
    runtime: Runtime, org: Org, other: Org, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    """The worker is killed once a statement is sent. ClickHouse goes on with that statement."""
    for one in (org, other):
        store(runtime, one, "s", OLD, ON_TIME)
        store(runtime, one, "old", OLD)
        store_result(runtime, one, "old", OLD)
    waited = []

    def die(run: object) -> None:
        waited.append(run)
        if len(waited) > killed_at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(service._Run, "_wait", die)
        patched.setattr(service._Run, "_require_quiet", lambda _run: None)
        with pytest.raises(KeyboardInterrupt):
            apply(runtime)
    while reasons(runtime, lambda: apply(runtime)):
        pass
    assert events_of(runtime, org) == [("s", "2026-10-19T00:00:00.000000Z")]
    assert sessions_of(runtime, org) == {"s"}
    assert len(events_of(runtime, other)) == 3
    assert sessions_of(runtime, other) == {"s", "old"}


def test_it_waits_for_ingest(runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    store(runtime, org, "s", OLD)
    batch = decode_events(lines("s", ON_TIME), org.id, 10_000).batch
    stream.append(runtime.redis, org.id, org.slug, batch)
    monkeypatch.setattr(service, "BACKLOG_SHARE", 0.0)
    assert reasons(runtime, lambda: apply(runtime)) == ["ingest is behind"]
    monkeypatch.undo()
    monkeypatch.setattr(service, "LAG_SECS", -1.0)
    assert reasons(runtime, lambda: apply(runtime)) == ["ingest is behind"]
    monkeypatch.undo()
    stream.remove(runtime.redis, org.id)
    assert apply(runtime) == {org.id: {"agent_sessions": 1, "events": 1}}


def test_it_waits_for_mutations(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", OLD)
    store_result(runtime, org, "s", ON_TIME)
    runtime.clickhouse.execute(
        "ALTER TABLE evaluations DELETE WHERE throwIf(org_id = {org_id:String}, 'stuck')"
        " SETTINGS mutations_sync = 0",
        {"org_id": org.id},
    )
    wait_until(lambda: bool(unfinished(runtime.clickhouse, org.id)[0].failure))
    [why] = reasons(runtime, lambda: apply(runtime))
    assert why.startswith("a mutation of evaluations is under way, which fails: ")
    assert "stuck" in why
    assert len(events_of(runtime, org)) == 1
    runtime.clickhouse.execute("KILL MUTATION WHERE database = currentDatabase() SYNC")
    assert apply(runtime) == {org.id: {"agent_sessions": 1, "events": 1}}


def test_it_ends_with_its_worker(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", OLD)
    stopping = threading.Event()
    stopping.set()
    why = reasons(runtime, lambda: service.apply(runtime, stopping, NOW))
    assert why == ["this worker stops"]
    assert len(events_of(runtime, org)) == 1


def test_rows_stored_meanwhile_stay(runtime: Runtime, org: Org, other: Org) -> None:
    """In the same months, and old events of organizations that keep them."""
    done = threading.Event()
    stored = 0

    def ingest() -> int:
        count = 0
        start = datetime(2026, 10, 19, tzinfo=UTC)
        while not done.is_set():
            young = (start + timedelta(seconds=count)).isoformat()
            store(runtime, org, f"s{count}", young)
            old = (start - timedelta(seconds=count)).isoformat()
            store(runtime, other, f"s{count}", old)
            count += 1
        return count

    store(runtime, org, "s0", OLD, "2026-10-01T10:00:00Z")
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(ingest)
        removed = apply(runtime)
        for _ in range(5):
            store(runtime, org, "late", "2026-10-01T10:00:00Z")
            apply(runtime)
        done.set()
        stored = writing.result()
    assert removed[org.id]["events"] == 2
    assert len(events_of(runtime, org)) == len(events_of(runtime, other)) == stored
    assert len(sessions_of(runtime, org)) == stored


def test_a_purge_takes_hidden_rows_off_the_disk(runtime: Runtime, org: Org, other: Org) -> None:
    for one in (org, other):
        store(runtime, one, "s", "2026-10-18T10:00:00Z", ON_TIME)
        store(runtime, one, "old", "2026-10-18T11:00:00Z")
        store(runtime, one, "old", OLD)
    # One part per month: in that of `OLD` only the other's row is visible.
    runtime.clickhouse.execute("OPTIMIZE TABLE events FINAL")
    apply(runtime)
    assert on_disk(runtime, org)["events"] == 4
    with at_once(runtime.postgres, runtime.redis) as session:
        lifecycle.delete(session, org.slug)
    purged = purge(runtime, org.slug, confirmed=org.slug, tell=lambda _doing: None)
    assert purged.clickhouse == {
        "events": 1,
        "agent_sessions": 1,
        "evaluations": 0,
        "own_evaluations": 0,
    }
    assert set(on_disk(runtime, org).values()) == {0}
    assert len(events_of(runtime, other)) == 4


def test_a_purge_finds_rows_that_are_all_hidden(runtime: Runtime, org: Org, other: Org) -> None:
    # The other's row keeps the month on the disk.
    store(runtime, org, "s", "2026-10-18T10:00:00Z")
    store(runtime, other, "s", ON_TIME)
    runtime.clickhouse.execute("OPTIMIZE TABLE events FINAL")
    apply(runtime)
    assert on_disk(runtime, org)["events"] == 1
    with at_once(runtime.postgres, runtime.redis) as session:
        lifecycle.delete(session, org.slug)
    purge(runtime, org.slug, confirmed=org.slug, tell=lambda _doing: None)
    assert set(on_disk(runtime, org).values()) == {0}


def test_an_organization_under_purge_is_left_to_it(runtime: Runtime, org: Org) -> None:
    store(runtime, org, "s", OLD)
    with at_once(runtime.postgres, runtime.redis) as session:
        lifecycle.delete(session, org.slug)
    with runtime.postgres.transaction() as session:
        lifecycle.require_deleted(session, org.slug)
        assert org.id not in apply(runtime)
    assert apply(runtime)[org.id]["events"] == 1


def test_the_live_job_of_a_removed_session_ends_and_says_why(runtime: Runtime, org: Org) -> None:
    with running_evaluator() as evaluator:
        bench = Bench(runtime, org, evaluator)
        # Events of 2026-11-02, which are 30 days old on 2026-12-03.
        bench.enqueue("s")
        bench.store("watched", "agent_start")
        removed = apply(runtime, datetime(2026, 12, 3, tzinfo=UTC))
        assert removed == {org.id: {"agent_sessions": 2, "events": 3}}
        bench.run()
        bench.promote()
        assert evaluator.requests == []
        result = bench.result()
        assert (result.status, result.error) == ("error", "the session has no events")
        assert [job["status"] for job in bench.jobs()] == ["error"]
        bench.clean_up()
