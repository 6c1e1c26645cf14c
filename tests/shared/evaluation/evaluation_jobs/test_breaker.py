"""When calls are held back, and when the evaluator is tried again."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from shared.evaluation.evaluation_jobs.answers import AttemptFailure, Pending, Reading, Refusal
from shared.evaluation.evaluation_jobs.breaker import THRESHOLD, Breaker
from shared.evaluation.evaluation_jobs.result import JobResult

NOW = datetime(2026, 11, 2, tzinfo=UTC)
JOB, PROBE = UUID(int=1), UUID(int=2)
FAILED = AttemptFailure("out of order")


def after(*readings: Reading, start: Breaker = Breaker()) -> Breaker:  # noqa: B008 it is immutable
    """Returns the breaker after calls that end at the same time."""
    for reading in readings:
        start = start.after(JOB, reading, NOW)
    return start


def opened() -> Breaker:
    return after(*[FAILED] * THRESHOLD)


@pytest.mark.parametrize("reading", [FAILED, Refusal("wrong token", is_everyones=True)])
def test_it_opens_at_the_tenth_failure_in_a_row(reading: Reading) -> None:
    almost = after(*[reading] * (THRESHOLD - 1))
    assert (almost.state, almost.failures, almost.since) == ("failing", 9, NOW)
    found = after(reading, start=almost)
    assert (found.state, found.retry_at) == ("open", NOW + timedelta(seconds=30))


@pytest.mark.parametrize(
    "reading", [JobResult(status="done"), Pending("theirs", None), Refusal("no such model")]
)
def test_a_call_that_reaches_the_evaluator_closes_it(reading: Reading) -> None:
    assert after(reading, start=opened()) == Breaker()
    assert after(*[FAILED] * 9, reading, *[FAILED] * 9).state == "failing"


def test_probes_come_later_and_later() -> None:
    found, waits = opened(), []
    for _ in range(6):
        assert found.retry_at is not None
        waits.append((found.retry_at - NOW).total_seconds())
        found = found._replace(probe_id=PROBE).after(PROBE, FAILED, NOW)
    assert waits == [30, 60, 120, 240, 480, 600]


def test_only_the_probe_defers_the_next_one() -> None:
    found = opened()
    assert after(FAILED, start=found).retry_at == found.retry_at


def test_retry_after_defers_a_probe() -> None:
    found = after(*[FAILED] * 9, AttemptFailure("busy", retry_after_secs=3600))
    assert found.retry_at == NOW + timedelta(hours=1)


def test_an_outage_ends_jobs_after_a_day() -> None:
    day = timedelta(days=1)
    assert not opened().has_lasted_too_long(NOW + day - timedelta(seconds=1))
    assert opened().has_lasted_too_long(NOW + day)
    assert not after(FAILED).has_lasted_too_long(NOW + day)
