"""Promotion while drains store events and other processes promote as well."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from shared.evaluation.evaluation_jobs import promotion
from shared.evaluation.evaluation_jobs.watching import StoredSession, watch
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.client import Row
from shared.foundation.core.clock import now
from tests.support.events import event, store_events
from tests.support.jobs import Bench


def test_more_sessions_than_a_batch_and_two_promoters_make_one_job_each(bench: Bench) -> None:
    sessions = [f"s{number}" for number in range(promotion.BATCH + 50)]
    lines = [event(name, "10:00:00", "agent_end") for name in sessions]
    store_events(bench.runtime.clickhouse, bench.org.id, lines)
    for name in sessions:
        bench.watch(name, has_end=True)
    bench.pass_time(3)
    with ThreadPoolExecutor(2) as pool:
        created = sum(pool.map(lambda _: bench.promote(), range(2)))
    assert created + bench.promote() == len(sessions)
    assert sorted(job["session_id"] for job in bench.jobs()) == sorted(sessions)


def test_drains_and_promoters_never_wait_for_each_other_crosswise(bench: Bench) -> None:
    sessions = [f"s{number}" for number in range(100)]
    lines = [event(name, "10:00:00", "agent_end") for name in sessions]
    store_events(bench.runtime.clickhouse, bench.org.id, lines)
    # After these sixty seconds they stay due, whatever else arrives.
    for name in sessions:
        bench.watch(name, has_end=True)
    bench.pass_time(61)
    over = threading.Event()

    def drain(names: list[str]) -> int:
        rounds = 0
        stored = [
            StoredSession(bench.org.uuid, bench.org.slug, name, has_agent_end=True)
            for name in names
        ]
        while not over.is_set():
            with bench.runtime.postgres.transaction() as session:
                watch(session, bench.runtime.settings, stored)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(2) as pool:
        drains = [pool.submit(drain, names) for names in (sessions, sessions[::-1])]
        try:
            for _ in range(20):
                bench.promote()
        finally:
            over.set()
        assert all(drained.result() > 0 for drained in drains)
    bench.promote()
    assert len(bench.jobs()) == len(sessions)


def test_an_event_that_comes_while_clickhouse_is_asked_is_looked_at(bench: Bench) -> None:
    bench.store("s", "agent_start", "tool_use")
    bench.watch("s", has_end=True)
    bench.pass_time(3)
    began = now()
    slow = _Meanwhile(bench.runtime.settings.clickhouse_url, lambda: bench.store("s", "agent_end"))
    promotion.promote_ended(bench.runtime.postgres, slow, bench.runtime.settings)
    slow.close()
    [row] = bench.sql("SELECT check_at FROM watched_sessions WHERE org_id = :org_id")
    assert row["check_at"] is not None
    assert row["check_at"] > began
    bench.pass_time(3)
    assert bench.promote() == 1


class _Meanwhile(ClickHouse):
    """Runs an action after a query returns and before its caller continues."""

    def __init__(self, url: str, happen: Callable[[], None]) -> None:
        super().__init__(url)
        self._happen = happen

    def rows(self, *args: Any, **kwargs: Any) -> list[Row]:
        found = super().rows(*args, **kwargs)
        self._happen()
        return found
