"""A job from its claim to its stored result."""

import json
import socket
from dataclasses import replace

import pytest

from shared.evaluation.evaluation_jobs import rules, storing
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.errors import Unavailable
from shared.reading.sessions import evaluation_request
from tests.support import evaluator as behave
from tests.support.events import event, store_events
from tests.support.jobs import Bench
from tests.support.processes import wait_until
from workers.evaluation_jobs.default_evaluator import MAX_REQUEST_BYTES


def test_a_synchronous_result_is_stored(bench: Bench) -> None:
    bench.evaluator.default = behave.reply(
        200, {"scores": {"a": 0.5}, "reasoning": {"a": "half"}, "summary": "so \x00 so"}, after=0.05
    )
    bench.enqueue("s")
    job = bench.job()
    handled, called = bench.timed(bench.run)
    assert handled == 1
    result = bench.result()
    assert result.evaluation_id == str(job["id"])
    assert (result.session_id, result.agent_id, result.environment) == ("s", "main", "default")
    assert (result.status, result.error, result.attempt_count) == ("done", None, 1)
    assert (result.scores, result.reasoning) == ({"a": 0.5}, {"a": "half"})
    assert result.summary == "so \x00 so"
    assert result.duration_ms is not None
    assert 50 <= result.duration_ms <= (called.ended - called.began).total_seconds() * 1000
    done = bench.job()
    assert (done["status"], done["result"], done["lease_token"]) == ("done", None, None)
    assert bench.run_later() == 0
    assert len(bench.evaluator.requests) == 1


def test_the_request_is_built_from_all_events_stored_when_the_job_is_claimed(bench: Bench) -> None:
    bench.enqueue("s/1")
    late = event("s/1", "10:01:00", "tool_use", note="late")
    store_events(bench.runtime.clickhouse, bench.org.id, [late])
    bench.run()
    [request] = bench.evaluator.requests
    built = evaluation_request.build(bench.runtime.clickhouse, bench.org.id, "s/1")
    assert request.body == built
    body = json.loads(request.body)
    assert body["schema_version"] == "1"
    assert [one["event_type"] for one in body["events"]] == ["agent_start", "agent_end", "tool_use"]
    assert late in request.body


def test_the_headers_name_job_and_request(bench: Bench) -> None:
    bench.enqueue("s")
    bench.run()
    [request] = bench.evaluator.requests
    assert request.headers["idempotency-key"] == str(bench.job()["id"])
    assert request.headers["x-request-id"] == bench.job()["request_id"]


@pytest.mark.parametrize(
    "failure",
    [
        behave.reply(500),
        behave.reply(503),
        behave.reply(408),
        behave.reply(425),
        behave.reply(429),
        behave.close_midway,
        behave.close_at_once,
        behave.garbage,
        behave.hang,
    ],
)
def test_a_temporary_failure_is_retried(
    bench: Bench, failure: behave.Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No wait ends before the test says so.
    monkeypatch.setattr(rules, "BACKOFF_BASE_SECS", 200.0)
    bench.evaluator.script = [failure, failure]
    bench.enqueue("s")
    bench.give_time_for(failure)
    _, first = bench.timed(bench.run)
    job = bench.job()
    assert (job["status"], job["attempt_count"]) == ("pending", 1)
    assert job["last_error"]
    assert first.planned(job["next_attempt_at"], 100, 200)
    assert bench.run() == 0
    _, second = bench.timed(bench.run_later)
    assert second.planned(bench.job()["next_attempt_at"], 200, 400)
    wait_until(lambda: len(bench.evaluator.requests) == 2)
    bench.configure()
    bench.run_later()
    result = bench.result()
    assert (result.status, result.error, result.attempt_count) == ("done", None, 3)
    keys = {request.headers["idempotency-key"] for request in bench.evaluator.requests}
    assert len(bench.evaluator.requests) == 3
    assert keys == {result.evaluation_id}


def test_retry_after_is_honoured(bench: Bench) -> None:
    bench.evaluator.default = behave.reply(429, b"", {"Retry-After": "120"})
    bench.enqueue("s")
    _, refused = bench.timed(bench.run)
    assert refused.planned(bench.job()["next_attempt_at"], 120)


@pytest.mark.parametrize(
    ("failure", "status"),
    [(behave.reply(500, b"out of order"), "error"), (behave.hang, "timeout")],
)
def test_used_up_attempts_end_the_job(bench: Bench, failure: behave.Answer, status: str) -> None:
    bench.configure(evaluator_max_attempts=3)
    bench.evaluator.default = failure
    bench.enqueue("s")
    bench.give_time_for(failure)
    for _ in range(5):
        bench.run_later()
    wait_until(lambda: len(bench.evaluator.requests) == 3)
    result = bench.result()
    assert (result.status, result.attempt_count, result.scores) == (status, 3, None)
    assert result.error
    assert bench.job()["status"] == status


@pytest.mark.parametrize(
    "answer",
    [
        behave.reply(400, b"no"),
        behave.reply(401),
        behave.reply(404),
        behave.reply(302, b"", {"Location": "/evaluate"}),
        behave.reply(200, b"<html>"),
        behave.reply(200, b""),
        behave.reply(204),
        behave.reply(200, []),
        behave.reply(200, {"scores": {"a": "high"}}),
        behave.reply(200, b'{"scores": {"a": NaN}}'),
        behave.reply(200, {"status": "error", "error": "cannot"}),
        behave.reply(200, {"status": "pending"}),
        behave.gzip_bomb(50 * 1024 * 1024),
    ],
)
def test_a_permanent_failure_ends_the_job_at_once(bench: Bench, answer: behave.Answer) -> None:
    bench.evaluator.default = answer
    bench.enqueue("s")
    bench.run()
    result = bench.result()
    assert (result.status, result.attempt_count, result.scores) == ("error", 1, None)
    assert result.error
    assert len(bench.evaluator.requests) == 1


def test_a_flood_ends_the_job_at_once(bench: Bench) -> None:
    bench.evaluator.default = behave.flood(100 * 1024 * 1024)
    bench.enqueue("s")
    bench.run()
    assert bench.result().status == "error"
    assert "larger" in (bench.result().error or "")


def test_a_request_over_25_mib_is_never_sent(bench: Bench) -> None:
    chunk = "x" * 1_000_000
    lines = [event("s", f"10:00:{second:02}", "note", text=chunk) for second in range(27)]
    store_events(bench.runtime.clickhouse, bench.org.id, [*lines, event("s", "10:01", "agent_end")])
    bench.watch("s", has_end=True)
    bench.pass_time(3)
    bench.promote()
    bench.run()
    assert bench.evaluator.requests == []
    result = bench.result()
    assert (result.status, result.attempt_count, result.duration_ms) == ("error", 1, None)
    assert str(MAX_REQUEST_BYTES) in (result.error or "")


def test_a_session_whose_events_are_gone_ends_in_error(bench: Bench) -> None:
    bench.enqueue("s")
    bench.sql("UPDATE evaluation_jobs SET session_id = 'gone' WHERE org_id = :org_id")
    bench.run()
    assert bench.evaluator.requests == []
    assert bench.result().status == "error"


def test_an_attempt_that_killed_its_worker_counts(bench: Bench) -> None:
    bench.configure(evaluator_max_attempts=2)
    bench.enqueue("s")
    bench.sql("UPDATE evaluation_jobs SET attempt_count = 2 WHERE org_id = :org_id")
    bench.run()
    assert bench.evaluator.requests == []
    assert (bench.result().status, bench.result().attempt_count) == ("error", 2)


def test_without_clickhouse_no_attempt_is_used_up(bench: Bench) -> None:
    bench.enqueue("s")
    with_clickhouse = bench.runtime
    bench.runtime = replace(bench.runtime, clickhouse=_nowhere())
    _, given_back = bench.timed(bench.run)
    assert bench.evaluator.requests == []
    job = bench.job()
    assert (job["status"], job["attempt_count"], job["lease_token"]) == ("pending", 0, None)
    assert given_back.planned(job["next_attempt_at"], 5)
    bench.runtime = with_clickhouse
    bench.run_later()
    assert bench.result().attempt_count == 1


def test_a_result_waits_for_clickhouse_and_costs_no_second_call(bench: Bench) -> None:
    bench.enqueue("s")
    job = bench.job()
    bench.run()
    bench.sql(
        "UPDATE evaluation_jobs SET status = 'storing', result = :result WHERE org_id = :org_id",
        result=b"\x81\xa6status\xa4done",
    )
    nowhere = _nowhere()
    with pytest.raises(Unavailable):
        storing.store_results(bench.runtime.postgres, nowhere, storing.OF_DEFAULT)
    assert bench.job()["status"] == "storing"
    assert bench.run_later() == 0
    assert bench.job()["status"] == "done"
    assert len(bench.evaluator.requests) == 1
    # The same job was appended twice, as by a worker that died before it could close the job.
    assert bench.result().evaluation_id == str(job["id"])


def test_results_are_stored_in_blocks_of_bounded_size(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.evaluator.default = behave.reply(200, {"reasoning": {"a": "x" * 10_000}})
    monkeypatch.setattr(storing, "_BLOCK_BYTES", 25_000)
    bench.enqueue(*(f"s{number}" for number in range(7)))
    bench.run()
    assert len(bench.results()) == 7


def test_the_token_is_in_no_error(bench: Bench) -> None:
    bench.configure(evaluator_token="the-secret-token")
    bench.evaluator.default = behave.reply(403, b"Bearer the-secret-token is not welcome")
    bench.enqueue("s")
    bench.run()
    assert bench.result().error == "the evaluator answered 403: Bearer [hidden] is not welcome"


def _nowhere() -> ClickHouse:
    """A ClickHouse on a port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return ClickHouse(f"clickhouse://default@127.0.0.1:{free.getsockname()[1]}/default")
