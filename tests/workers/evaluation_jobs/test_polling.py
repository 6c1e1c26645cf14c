"""Asynchronous evaluations: JobPending, then polls."""

from datetime import timedelta

import pytest

from tests.support import evaluator as behave
from tests.support.jobs import Bench
from tests.support.processes import wait_until


def test_a_pending_job_is_polled_until_its_result(bench: Bench) -> None:
    bench.evaluator.script = [behave.pending("j/1", 70), behave.pending("j/1", 200)]
    bench.enqueue("s")
    _, delivered = bench.timed(bench.run)
    job = bench.job()
    assert (job["status"], job["evaluator_job_id"]) == ("polling", "j/1")
    assert delivered.planned(job["next_attempt_at"], 70)
    assert delivered.planned(job["poll_deadline_at"], 3600)
    assert bench.run() == 0
    _, polled = bench.timed(bench.run_later)
    assert polled.planned(bench.job()["next_attempt_at"], 200)
    bench.run_later()
    calls = [(request.method, request.path) for request in bench.evaluator.requests]
    assert calls == [("POST", "/evaluate"), *[("GET", "/evaluate/j%2F1")] * 2]
    result = bench.result()
    assert (result.status, result.attempt_count) == ("done", 1)
    assert result.scores == {"task_success": 1.0}


def test_the_interval_is_the_answers_then_the_configs_then_the_platforms(bench: Bench) -> None:
    bench.configure(evaluator_polling_interval_secs=50)
    bench.evaluator.default = behave.pending()
    bench.enqueue("s")
    _, delivered = bench.timed(bench.run)
    assert delivered.planned(bench.job()["next_attempt_at"], 50)
    bench.config(default_poll_interval_secs=30)
    _, polled = bench.timed(bench.run_later)
    assert polled.planned(bench.job()["next_attempt_at"], 30)
    bench.evaluator.default = behave.pending(next_poll_secs=0.001)
    _, polled = bench.timed(bench.run_later)
    assert polled.planned(bench.job()["next_attempt_at"], 1)


def test_the_interval_is_at_most_an_hour(bench: Bench) -> None:
    bench.configure(evaluator_max_poll_duration_secs=100_000)
    bench.evaluator.default = behave.pending(next_poll_secs=1e9)
    bench.enqueue("s")
    _, delivered = bench.timed(bench.run)
    assert delivered.planned(bench.job()["next_attempt_at"], 3600)


@pytest.mark.parametrize(
    "failure", [behave.reply(500), behave.hang, behave.close_midway, behave.reply(429)]
)
def test_failed_polls_use_up_no_attempts(bench: Bench, failure: behave.Answer) -> None:
    bench.configure(evaluator_max_attempts=1)
    bench.evaluator.script = [behave.pending("j", 60), failure, failure, failure]
    bench.enqueue("s")
    bench.run()
    bench.give_time_for(failure)
    for _ in range(3):
        _, polled = bench.timed(bench.run_later)
        job = bench.job()
        assert (job["status"], job["attempt_count"]) == ("polling", 1)
        assert job["last_error"]
        assert polled.planned(job["next_attempt_at"], 10)
    wait_until(lambda: bench.evaluator.script == [])
    bench.configure()
    bench.run_later()
    assert (bench.result().status, bench.result().attempt_count) == ("done", 1)


def test_a_failed_poll_waits_for_retry_after(bench: Bench) -> None:
    bench.evaluator.script = [
        behave.pending("j", 60),
        behave.reply(503, b"", {"Retry-After": "90"}),
    ]
    bench.enqueue("s")
    bench.run()
    _, polled = bench.timed(bench.run_later)
    assert polled.planned(bench.job()["next_attempt_at"], 90)


@pytest.mark.parametrize(
    "answer",
    [
        behave.reply(404, b"no such job"),
        behave.reply(200, b"{"),
        behave.reply(200, {"status": "error", "error": "failed"}),
        behave.reply(301, b"", {"Location": "/"}),
    ],
)
def test_a_refused_poll_ends_the_job(bench: Bench, answer: behave.Answer) -> None:
    bench.evaluator.script = [behave.pending("j", 60), answer]
    bench.enqueue("s")
    bench.run()
    bench.run_later()
    assert (bench.result().status, bench.result().attempt_count) == ("error", 1)


@pytest.mark.parametrize("last", [behave.pending(), behave.reply(500), behave.hang])
def test_at_the_cap_a_last_poll_decides(bench: Bench, last: behave.Answer) -> None:
    bench.configure(evaluator_max_poll_duration_secs=60)
    bench.evaluator.default = behave.pending(next_poll_secs=45)
    bench.enqueue("s")
    _, delivered = bench.timed(bench.run)
    job = bench.job()
    assert delivered.planned(job["next_attempt_at"], 45)
    assert delivered.planned(job["poll_deadline_at"], 60)
    bench.pass_time(45)
    _, polled = bench.timed(bench.run)
    job = bench.job()
    # The time to the cap is computed a moment before it is added to the clock.
    late = job["next_attempt_at"] - job["poll_deadline_at"]
    assert timedelta(0) <= late <= polled.ended - polled.began
    bench.pass_time(16)
    bench.evaluator.default = last
    bench.give_time_for(last)
    bench.run()
    result = bench.result()
    assert (result.status, result.attempt_count) == ("timeout", 1)
    assert "60 s" in (result.error or "")
    wait_until(lambda: len(bench.evaluator.requests) == 3)


def test_a_result_of_the_last_poll_counts(bench: Bench) -> None:
    bench.configure(evaluator_max_poll_duration_secs=60)
    bench.evaluator.script = [behave.pending("j", 3600)]
    bench.enqueue("s")
    bench.run()
    bench.pass_time(61)
    bench.run()
    assert bench.result().status == "done"
