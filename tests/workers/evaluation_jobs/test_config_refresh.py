"""Reads of /config when they are due, and the values until then."""

from datetime import datetime

import pytest

from shared.evaluation.evaluation_jobs import evaluator_config
from shared.evaluation.evaluation_jobs.evaluator_config import EvaluatorTimings
from tests.support import evaluator as behave
from tests.support.jobs import Bench
from workers.evaluation_jobs.client import default_client
from workers.evaluation_jobs.config_refresh import refresh_if_due

GOOD = {"inactivity_timeout_secs": 30, "default_poll_interval_secs": 5}


def refresh(bench: Bench, *, force: bool = False) -> EvaluatorTimings:
    client = default_client(bench.runtime.settings)
    refresh_if_due(bench.runtime, client, force=force)
    client.close()
    with bench.runtime.postgres.transaction() as session:
        return evaluator_config.current(session, bench.runtime.settings)


def next_refresh(bench: Bench) -> datetime:
    [row] = bench.sql("SELECT next_refresh_at FROM evaluator_config")
    at: datetime = row["next_refresh_at"]
    return at


def test_without_any_answer_there_is_no_config(bench: Bench) -> None:
    bench.evaluator.config = behave.reply(500)
    assert refresh(bench) == EvaluatorTimings()


def test_it_is_read_by_its_cadence(bench: Bench) -> None:
    bench.evaluator.config = behave.reply(200, GOOD)
    config, read = bench.timed(lambda: refresh(bench))
    assert config == EvaluatorTimings(30, 5)
    assert read.planned(next_refresh(bench), 300)
    bench.evaluator.config = behave.reply(200, {})
    assert refresh(bench) == EvaluatorTimings(30, 5)
    bench.sql("UPDATE evaluator_config SET next_refresh_at = now()")
    assert refresh(bench) == EvaluatorTimings()


@pytest.mark.parametrize("failure", [behave.reply(500), behave.hang, behave.reply(200, b"<html>")])
def test_a_failed_read_keeps_the_last_values_and_is_repeated_soon(
    bench: Bench, failure: behave.Answer
) -> None:
    bench.evaluator.config = behave.reply(200, GOOD)
    refresh(bench)
    bench.sql("UPDATE evaluator_config SET next_refresh_at = now()")
    bench.evaluator.config = failure
    bench.give_time_for(failure)
    config, failed = bench.timed(lambda: refresh(bench))
    assert config == EvaluatorTimings(30, 5)
    assert failed.planned(next_refresh(bench), 10)


def test_an_evaluator_that_stops_serving_it_has_none(bench: Bench) -> None:
    bench.evaluator.config = behave.reply(200, GOOD)
    refresh(bench)
    bench.sql("UPDATE evaluator_config SET next_refresh_at = now()")
    bench.evaluator.config = None
    assert refresh(bench) == EvaluatorTimings()


def test_a_process_that_starts_reads_it(bench: Bench) -> None:
    bench.evaluator.config = behave.reply(200, GOOD)
    refresh(bench)
    bench.evaluator.config = behave.reply(200, {})
    assert refresh(bench, force=True) == EvaluatorTimings()


def test_another_evaluators_config_does_not_count(bench: Bench) -> None:
    bench.evaluator.config = behave.reply(200, GOOD)
    refresh(bench)
    bench.configure(evaluator_endpoint="http://127.0.0.1:1")
    assert refresh(bench) == EvaluatorTimings()


def test_a_hanging_config_is_read_by_one_at_a_time(bench: Bench) -> None:
    def take(*, force: bool) -> bool:
        with bench.runtime.postgres.transaction() as session:
            return evaluator_config.take_refresh(session, bench.runtime.settings, force=force)

    bench.configure(evaluator_request_timeout_ms=500)
    is_taken, taken = bench.timed(lambda: take(force=True))
    assert is_taken
    assert taken.planned(next_refresh(bench), 10.5)
    assert not take(force=False)


def test_it_is_asked_for_with_the_token(bench: Bench) -> None:
    seen: list[str | None] = []

    def config(exchange: behave.Exchange) -> None:
        seen.append(exchange.received.headers.get("authorization"))
        behave.reply(200, GOOD)(exchange)

    bench.configure(evaluator_token="t0ken")
    bench.evaluator.config = config
    refresh(bench)
    assert seen == ["Bearer t0ken"]
