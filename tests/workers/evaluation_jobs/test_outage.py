"""While the evaluator is away, jobs wait for it; they are not lost."""

from collections import Counter

import pytest

from shared.evaluation.evaluation_jobs import breaker, due, listing
from shared.evaluation.evaluation_jobs.scope import breaker_key
from tests.support import evaluator as behave
from tests.support.events import event, store_events
from tests.support.jobs import Bench


def end_sessions(bench: Bench, names: list[str]) -> None:
    """Stores sessions that ended and creates their jobs."""
    lines = [
        event(name, f"10:00:0{second}", event_type)
        for name in names
        for second, event_type in enumerate(("agent_start", "agent_end"))
    ]
    store_events(bench.runtime.clickhouse, bench.org.id, lines)
    for name in names:
        bench.watch(name, has_end=True)
    bench.pass_time(3)
    bench.promote()


def state_of(bench: Bench) -> breaker.Breaker:
    with bench.runtime.postgres.transaction() as session:
        return breaker.current(session, breaker_key(bench.runtime.settings))


def open_breaker(bench: Bench, answer: behave.Answer) -> None:
    bench.evaluator.default = answer
    end_sessions(bench, [f"s{number}" for number in range(12)])
    bench.run()
    assert state_of(bench).is_open


@pytest.mark.parametrize("away", [behave.reply(503), behave.close_at_once])
def test_sessions_that_end_during_an_outage_are_evaluated_once(
    bench: Bench, away: behave.Answer
) -> None:
    """Five minutes of outage, 200 sessions; all have a result 15 minutes later."""
    bench.evaluator.default = away
    for minute_half in range(10):
        end_sessions(bench, [f"{minute_half}-{number}" for number in range(20)])
        bench.run()
        bench.pass_time(27)
    # Those until it opened, those that were under way then, and a few probes.
    called_in_vain = len(bench.evaluator.requests)
    assert called_in_vain < 10 + 2 * bench.runtime.settings.evaluator_concurrency + 10
    bench.evaluator.default = behave.scored()
    for _minute in range(15):
        bench.pass_time(60)
        bench.run()
    results = bench.results()
    assert Counter(one.status for one in results) == {"done": 200}
    assert len({one.session_id for one in results}) == 200
    assert len(bench.evaluator.requests) == called_in_vain + 200
    assert not state_of(bench).failures


def poll_through(bench: Bench, minutes: int) -> None:
    """Has jobs polled until the breaker opens, and then by probes, for this long."""
    for _minute in range(minutes):
        bench.run()
        bench.pass_time(60)


def test_a_job_that_is_polled_outlasts_an_outage_longer_than_the_limit(bench: Bench) -> None:
    bench.configure(evaluator_max_poll_duration_secs=1200)
    bench.evaluator.default = behave.pending(next_poll_secs=30)
    bench.enqueue("polled")
    bench.run()
    bench.evaluator.default = behave.reply(503)
    poll_through(bench, 30)
    assert (bench.job()["status"], state_of(bench).is_open) == ("polling", True)
    bench.evaluator.default = behave.scored()
    poll_through(bench, 11)
    assert (bench.result().status, bench.result().attempt_count) == ("done", 1)


@pytest.mark.parametrize("names", [["alone"], [f"s{number}" for number in range(60)]])
def test_a_wrong_token_loses_nothing(bench: Bench, names: list[str]) -> None:
    """Every route but /health wants the token, so /config shows that it is wrong."""
    bench.evaluator.default = bench.evaluator.config = behave.reply(401)
    end_sessions(bench, names)
    for _ in range(30):
        bench.run()
        bench.pass_time(30)
    called_in_vain = len(bench.evaluator.requests)
    assert called_in_vain < 10 + 2 * bench.runtime.settings.evaluator_concurrency + 10
    bench.evaluator.default, bench.evaluator.config = behave.scored(), None
    for _minute in range(15):
        bench.pass_time(60)
        bench.run()
    results = bench.results()
    assert Counter(one.status for one in results) == {"done": len(names)}
    assert {one.session_id for one in results} == set(names)
    assert len(bench.evaluator.requests) == called_in_vain + len(names)


def test_refusals_without_a_config_hold_calls_back(bench: Bench) -> None:
    """The calls before it opens end at once, as every refusal does; the rest waits."""
    bench.configure(evaluator_workers=1, evaluator_claim_batch=1)
    open_breaker(bench, behave.reply(401))
    assert Counter(one.status for one in bench.results()) == {"error": 9}
    assert [job["attempt_count"] for job in bench.jobs() if job["status"] == "pending"] == [0] * 3
    bench.evaluator.default = behave.scored()
    bench.pass_time(31)
    bench.run()
    assert Counter(one.status for one in bench.results()) == {"error": 9, "done": 3}


def test_a_probe_that_fails_uses_up_no_attempt(bench: Bench) -> None:
    open_breaker(bench, behave.reply(503))
    before = sum(job["attempt_count"] for job in bench.jobs())
    assert bench.run_later() == 0, "no call before the time of the probe"
    bench.pass_time(31)
    assert bench.run_later() == 1, "one probe, however many jobs are due"
    assert sum(job["attempt_count"] for job in bench.jobs()) == before


def test_waiting_for_a_probe_is_no_delay_of_workers(bench: Bench) -> None:
    open_breaker(bench, behave.reply(503))
    bench.sql("UPDATE evaluation_jobs SET next_attempt_at = now() WHERE org_id = :org_id")
    with bench.runtime.postgres.transaction() as session:
        settings = bench.runtime.settings
        assert listing.oldest_due_secs(session, settings) == 0
        wait = due.of_jobs(session, settings)
        assert wait is not None
        assert 20 < wait <= 30
        breaker.try_now(session, breaker_key(settings))
        wait = due.of_jobs(session, settings)
        assert wait is not None
        assert wait <= 1


def test_an_outage_of_a_day_ends_the_jobs_that_waited_for_all_of_it(bench: Bench) -> None:
    open_breaker(bench, behave.reply(503, b"out of order"))
    bench.pass_time(24 * 3600)
    end_sessions(bench, ["later"])
    bench.run()
    results = bench.results()
    assert {one.session_id for one in results} == {f"s{number}" for number in range(12)}
    assert {one.status for one in results} == {"error"}
    assert all("24 h" in (one.error or "") for one in results)
    # The evaluator's own words may be about another organization's session.
    assert "the evaluator answered 503" in (results[0].error or "")
    assert "out of order" not in (results[0].error or "")


def test_an_outage_of_a_day_ends_a_job_that_is_polled(bench: Bench) -> None:
    bench.evaluator.default = behave.pending(next_poll_secs=30)
    bench.enqueue("polled")
    bench.run()
    bench.evaluator.default = behave.reply(503)
    poll_through(bench, 15)
    assert (bench.job()["status"], state_of(bench).is_open) == ("polling", True)
    bench.pass_time(24 * 3600)
    bench.run()
    assert bench.result().status == "error"
    assert "24 h" in (bench.result().error or "")


def test_another_evaluator_is_called_at_once(bench: Bench) -> None:
    open_breaker(bench, behave.reply(503))
    with behave.running_evaluator() as other:
        bench.configure(evaluator_endpoint=other.url)
        bench.run_later()
        assert len(bench.results()) == 12
