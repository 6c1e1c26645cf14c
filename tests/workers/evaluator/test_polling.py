"""Asynchronous evaluations: JobPending, then polls."""

import pytest

from tests.support import evaluator as behave
from tests.support.jobs import Bench


def test_a_pending_job_is_polled_until_its_result(bench: Bench) -> None:
    bench.evaluator.script = [behave.pending("j/1", 7), behave.pending("j/1", 20)]
    bench.enqueue("s")
    bench.run()
    job = bench.job()
    assert (job["status"], job["evaluator_job_id"]) == ("polling", "j/1")
    assert 6 < job["wait"] <= 7
    assert 3590 < job["poll_left"] <= 3600
    assert bench.run() == 0
    bench.run_later()
    assert 19 < bench.job()["wait"] <= 20
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
    bench.run()
    assert 49 < bench.job()["wait"] <= 50
    bench.config(default_poll_interval_secs=30)
    bench.run_later()
    assert 29 < bench.job()["wait"] <= 30
    bench.evaluator.default = behave.pending(next_poll_secs=0.001)
    bench.run_later()
    assert 0.5 < bench.job()["wait"] <= 1


def test_the_interval_is_at_most_an_hour(bench: Bench) -> None:
    bench.configure(evaluator_max_poll_duration_secs=100_000)
    bench.evaluator.default = behave.pending(next_poll_secs=1e9)
    bench.enqueue("s")
    bench.run()
    assert 3599 < bench.job()["wait"] <= 3600


@pytest.mark.parametrize(
    "failure", [behave.reply(500), behave.hang, behave.close_midway, behave.reply(429)]
)
def test_failed_polls_use_up_no_attempts(bench: Bench, failure: behave.Answer) -> None:
    bench.configure(evaluator_max_attempts=1, evaluator_request_timeout_ms=200)
    bench.evaluator.script = [behave.pending("j", 1), failure, failure, failure]
    bench.enqueue("s")
    bench.run()
    for _ in range(3):
        bench.run_later()
        job = bench.job()
        assert (job["status"], job["attempt_count"]) == ("polling", 1)
        assert job["last_error"]
        assert 9 < job["wait"] <= 10
    bench.run_later()
    assert (bench.result().status, bench.result().attempt_count) == ("done", 1)


def test_a_failed_poll_waits_for_retry_after(bench: Bench) -> None:
    bench.evaluator.script = [
        behave.pending("j", 1),
        behave.reply(503, b"", {"Retry-After": "90"}),
    ]
    bench.enqueue("s")
    bench.run()
    bench.run_later()
    assert 89 < bench.job()["wait"] <= 90


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
    bench.evaluator.script = [behave.pending("j", 1), answer]
    bench.enqueue("s")
    bench.run()
    bench.run_later()
    assert (bench.result().status, bench.result().attempt_count) == ("error", 1)


@pytest.mark.parametrize("last", [behave.pending(), behave.reply(500), behave.hang])
def test_at_the_cap_a_last_poll_decides(bench: Bench, last: behave.Answer) -> None:
    bench.configure(evaluator_max_poll_duration_secs=60)
    bench.evaluator.default = behave.pending(next_poll_secs=45)
    bench.enqueue("s")
    bench.run()
    assert 44 < bench.job()["wait"] <= 45
    bench.pass_time(45)
    bench.run()
    assert 13 < bench.job()["wait"] <= 15
    bench.pass_time(16)
    bench.evaluator.default = last
    bench.run()
    result = bench.result()
    assert (result.status, result.attempt_count) == ("timeout", 1)
    assert "60 s" in (result.error or "")
    assert len(bench.evaluator.requests) == 3


def test_a_result_of_the_last_poll_counts(bench: Bench) -> None:
    bench.configure(evaluator_max_poll_duration_secs=60)
    bench.evaluator.script = [behave.pending("j", 3600)]
    bench.enqueue("s")
    bench.run()
    bench.pass_time(61)
    bench.run()
    assert bench.result().status == "done"
