"""The next step after each answer."""

from dataclasses import replace

import pytest

from shared.evaluation.evaluation_jobs.answers import AttemptFailure, Pending, Reading, Refusal
from shared.evaluation.evaluation_jobs.result import (
    MAX_ERROR_BYTES,
    JobResult,
    cut,
    error_text,
    unpack,
)
from shared.evaluation.evaluation_jobs.rules import (
    Call,
    Deliver,
    Finish,
    Poll,
    Step,
    next_step,
    poll_interval,
)
from shared.evaluation.evaluation_jobs.scope import CallLimits

LIMITS = CallLimits(timeout_secs=30, max_attempts=3, poll_secs=10, max_poll_secs=100)


def delivered(reading: Reading, attempt: int = 1, limits: CallLimits = LIMITS) -> Step:
    call = Call(attempt_count=attempt, evaluator_job_id=None, poll_secs_left=None)
    return next_step(call, reading, limits, jitter=1.0)


def polled(
    reading: Reading, left: float = 50.0, limits: CallLimits = LIMITS, *, is_away: bool = False
) -> Step:
    call = Call(attempt_count=3, evaluator_job_id="j", poll_secs_left=left)
    return next_step(call, reading, limits, jitter=1.0, is_away=is_away)


@pytest.mark.parametrize("after", [delivered, polled])
def test_a_result_ends_the_job(after: object) -> None:
    assert callable(after)
    step = after(JobResult(status="done", scores={"a": 1.0}, reasoning={"a": "r"}, summary="s"))
    assert step == Finish(
        JobResult(status="done", scores={"a": 1.0}, reasoning={"a": "r"}, summary="s")
    )


@pytest.mark.parametrize("after", [delivered, polled])
def test_a_refusal_ends_the_job_at_once(after: object) -> None:
    assert callable(after)
    assert after(Refusal("no")) == Finish(JobResult(status="error", error="no"))


def test_a_failed_delivery_is_repeated_until_the_attempts_are_used_up() -> None:
    assert delivered(AttemptFailure("x"), attempt=1) == Deliver(2.0, "x")
    assert delivered(AttemptFailure("x"), attempt=2) == Deliver(4.0, "x")
    assert delivered(AttemptFailure("x"), attempt=3) == Finish(JobResult(status="error", error="x"))


def test_used_up_attempts_end_in_timeout_when_the_last_failure_was_one() -> None:
    last = delivered(AttemptFailure("slow", timed_out=True), attempt=3)
    assert last == Finish(JobResult(status="timeout", error="slow"))


def test_an_outage_that_is_certain_uses_up_no_attempt_for_a_day() -> None:
    day, failed = 24 * 3600.0, AttemptFailure("x", counts=False)
    for age, step in (
        (0.0, Deliver(8.0, "x", counts=False)),
        (day - 1, Deliver(8.0, "x", counts=False)),
        (day, Finish(JobResult(status="error", error="x"))),
    ):
        call = Call(attempt_count=3, evaluator_job_id=None, poll_secs_left=None, age_secs=age)
        assert next_step(call, failed, LIMITS, jitter=1.0) == step


def test_retry_after_replaces_the_backoff() -> None:
    assert delivered(AttemptFailure("x", retry_after_secs=1.0), attempt=2) == Deliver(1.0, "x")
    assert delivered(AttemptFailure("x", retry_after_secs=7200.0)) == Deliver(7200.0, "x")


@pytest.mark.parametrize(
    ("attempt", "secs"), [(1, 2.0), (2, 4.0), (3, 8.0), (10, 1024.0), (11, 1800.0), (10**6, 1800.0)]
)
def test_waits_double_from_two_seconds_to_half_an_hour(attempt: int, secs: float) -> None:
    call = Call(attempt_count=attempt, evaluator_job_id=None, poll_secs_left=None)
    limits = replace(LIMITS, max_attempts=attempt + 1)
    for jitter, part in ((1.0, 1.0), (0.5, 0.75), (0.0, 0.5)):
        step = next_step(call, AttemptFailure("x"), limits, jitter=jitter)
        assert step == Deliver(secs * part, "x")


def test_pending_is_polled() -> None:
    assert delivered(Pending("j", 5.0)) == Poll("j", 5.0)
    assert polled(Pending("j", 5.0)) == Poll("j", 5.0)


def test_a_poll_may_name_no_job_or_a_new_one() -> None:
    assert polled(Pending(None, 5.0)) == Poll("j", 5.0)
    assert polled(Pending("k", 5.0)) == Poll("k", 5.0)


def test_a_delivery_that_is_pending_without_a_job_is_an_error() -> None:
    step = delivered(Pending(None, 5.0))
    assert isinstance(step, Finish)
    assert step.result.status == "error"


def test_the_interval_is_the_answers_then_the_configs_then_the_platforms() -> None:
    assert delivered(Pending("j", 5.0), limits=replace(LIMITS, poll_secs=7.0)) == Poll("j", 5.0)
    assert delivered(Pending("j", None), limits=replace(LIMITS, poll_secs=7.0)) == Poll("j", 7.0)
    assert delivered(Pending("j", None)) == Poll("j", 10.0)


@pytest.mark.parametrize(
    ("named", "seconds"), [(0.0, 1.0), (-5.0, 1.0), (0.2, 1.0), (1e300, 3600.0), (3599.5, 3599.5)]
)
def test_the_interval_is_clamped_wherever_it_comes_from(named: float, seconds: float) -> None:
    assert poll_interval(named, LIMITS) == seconds
    assert poll_interval(None, replace(LIMITS, poll_secs=named)) == seconds


def test_failed_polls_use_up_no_attempts() -> None:
    assert polled(AttemptFailure("x")) == Poll("j", 10.0, "x")
    assert polled(AttemptFailure("x"), limits=replace(LIMITS, poll_secs=4.0)) == Poll("j", 4.0, "x")
    assert polled(AttemptFailure("x", retry_after_secs=20.0)) == Poll("j", 20.0, "x")
    assert polled(AttemptFailure("x", retry_after_secs=2.0)) == Poll("j", 10.0, "x")


def test_the_last_poll_is_at_the_cap() -> None:
    assert delivered(Pending("j", 3000.0)) == Poll("j", 100.0)
    assert polled(Pending("j", 30.0), left=12.0) == Poll("j", 12.0)
    assert polled(AttemptFailure("x"), left=7.0) == Poll("j", 7.0, "x")
    assert polled(Pending("j", 30.0), left=0.01) == Poll("j", 1.0)


def test_past_the_cap_a_job_ends_in_timeout() -> None:
    for reading in (Pending("j", 5.0), AttemptFailure("x"), AttemptFailure("x", timed_out=True)):
        step = polled(reading, left=0.0)
        assert isinstance(step, Finish)
        assert step.result.status == "timeout"
        assert "100 s" in (step.result.error or "")


@pytest.mark.parametrize("left", [50.0, 7.0, 0.0, -5.0])
def test_no_cap_ends_a_job_while_the_evaluator_is_away(left: float) -> None:
    for reading in (
        AttemptFailure("x"),
        AttemptFailure("x", timed_out=True),
        Refusal("x", is_everyones=True),
    ):
        assert polled(reading, left, is_away=True) == Poll("j", 10.0, "x")
    late = AttemptFailure("x", retry_after_secs=90.0)
    assert polled(late, left, is_away=True) == Poll("j", 90.0, "x")


def test_a_result_counts_even_past_the_cap() -> None:
    step = polled(JobResult(status="done", scores={"a": 1.0}), left=-5.0)
    assert isinstance(step, Finish)
    assert step.result.status == "done"


def test_errors_are_cut_at_2048_bytes_in_whole_characters() -> None:
    step = delivered(Refusal("ab" + "€" * 2048))
    assert isinstance(step, Finish)
    assert step.result.error == "ab" + "€" * 682
    assert len((step.result.error or "").encode()) == MAX_ERROR_BYTES
    retried = delivered(AttemptFailure("x" * 5000))
    assert isinstance(retried, Deliver)
    assert len(retried.error) == MAX_ERROR_BYTES


def test_errors_lose_what_postgresql_cannot_hold() -> None:
    assert error_text("a\x00b") == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize(
    ("text", "kept"), [("abc", "abc"), ("abcd", "abc"), ("aé", "aé"), ("abé", "ab"), ("😀", "")]
)
def test_cutting_never_splits_a_character(text: str, kept: str) -> None:
    assert cut(text, 3) == kept


def test_a_result_survives_packing() -> None:
    result = JobResult(status="done", scores={"a\x00": 0.1}, reasoning={"a": "\x00"}, summary="é")
    assert unpack(result.packed()) == result
