"""Jobs that are claimed together do not depend on each other."""

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from clickhouse_driver.errors import ServerException

from shared.evaluation.evaluation_jobs import outcomes
from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.core.errors import Unavailable
from tests.support import evaluator as behave
from tests.support.events import event, store_events
from tests.support.jobs import Bench
from tests.support.processes import wait_until
from workers.evaluation_jobs import dispatcher, flights
from workers.evaluation_jobs.client import default_client
from workers.evaluation_jobs.default_evaluator import DefaultEvaluator
from workers.evaluation_jobs.dispatcher import EvaluationDispatcher


class OddClickHouse(ClickHouse):
    """Reads the session `slow` only after `release`, and never the session `bad`."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.release = threading.Event()

    def stream(self, sql: str, params: Mapping[str, object] | None = None) -> Iterator[Row]:
        names = (params or {}).values()
        if "bad" in names:
            raise ServerException("it cannot be read", code=1000)
        if "slow" in names:
            self.release.wait(60)
        return super().stream(sql, params)


@pytest.fixture
def odd(bench: Bench) -> Iterator[OddClickHouse]:
    clickhouse = OddClickHouse(bench.runtime.settings.clickhouse_url)
    bench.runtime = replace(bench.runtime, clickhouse=clickhouse)
    yield clickhouse
    clickhouse.release.set()
    clickhouse.close()


def _finished(bench: Bench) -> list[str]:
    return [job["session_id"] for job in bench.jobs() if job["status"] in ("storing", "done")]


def test_a_session_that_is_slow_to_read_delays_no_other_job(
    bench: Bench, odd: OddClickHouse
) -> None:
    # Longer than an hour, so it is read by itself.
    lines = [event("slow", "10:00:00"), event("slow", "11:30:00", "agent_end")]
    store_events(bench.runtime.clickhouse, bench.org.id, lines)
    bench.watch("slow", has_end=True)
    bench.enqueue("a", "b")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(bench.run)
        wait_until(lambda: sorted(_finished(bench)) == ["a", "b"])
        bench.store("c", "agent_start", "agent_end")
        bench.sql("UPDATE watched_sessions SET check_at = now() WHERE session_id = 'c'")
        assert bench.promote() == 1
        wait_until(lambda: sorted(_finished(bench)) == ["a", "b", "c"])
        assert not run.done()
        odd.release.set()
        assert run.result() == 4
    assert len(bench.results()) == 4


def test_a_session_that_cannot_be_read_delays_no_other_job(
    bench: Bench, odd: OddClickHouse
) -> None:
    bench.enqueue("a", "bad", "b", "c")
    _, run = bench.timed(bench.run)
    assert sorted(_finished(bench)) == ["a", "b", "c"]
    [bad] = [job for job in bench.jobs() if job["session_id"] == "bad"]
    assert (bad["status"], bad["attempt_count"], bad["lease_token"]) == ("pending", 0, None)
    assert run.planned(bad["next_attempt_at"], 5)


def test_answers_wait_for_postgres_and_cost_no_second_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "RECORD_RETRY_SECS", 0.01)
    record, outages = outcomes.record, [Unavailable("PostgreSQL is down")] * 3

    def fail_at_first(*given: Any) -> Any:
        if given[2] and outages:
            raise outages.pop()
        return record(*given)

    monkeypatch.setattr(outcomes, "record", fail_at_first)
    bench.enqueue("a", "b", "c")
    assert bench.run() == 3
    assert outages == []
    assert len(bench.results()) == 3
    assert len(bench.evaluator.requests) == 3


def test_large_answers_are_recorded_in_groups(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flights, "MAX_ANSWERS_BYTES", 25_000)
    bench.evaluator.default = behave.reply(200, {"reasoning": {"a": "x" * 10_000}})
    bench.enqueue(*(f"s{number}" for number in range(7)))
    assert bench.run() == 7
    assert len(bench.results()) == 7


def test_a_place_is_refilled_while_another_call_runs(bench: Bench) -> None:
    bench.configure(
        evaluator_workers=1,
        evaluator_claim_batch=2,
        evaluator_request_timeout_ms=60_000,
        evaluator_max_attempts=1,
    )
    bench.evaluator.script = [behave.hang]
    bench.enqueue("stuck", "a", "b", "c", "d")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(bench.run)
        wait_until(lambda: len(_finished(bench)) == 4)
        assert not run.done()
        bench.evaluator.stopping.set()
        assert run.result() == 5


def test_a_process_that_stops_records_its_calls_and_claims_no_more(bench: Bench) -> None:
    bench.configure(evaluator_workers=1, evaluator_claim_batch=1)
    stopping = threading.Event()

    def answer(exchange: behave.Exchange) -> None:
        stopping.set()
        behave.scored()(exchange)

    bench.evaluator.default = answer
    bench.enqueue("a", "b")
    client = default_client(bench.runtime.settings)
    assert (
        EvaluationDispatcher(bench.runtime, DefaultEvaluator(bench.runtime, client), stopping).run()
        == 1
    )
    client.close()
    assert sorted(job["status"] for job in bench.jobs()) == ["pending", "storing"]
    assert len(bench.evaluator.requests) == 1
