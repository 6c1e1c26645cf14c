"""Retries of deliveries."""

import pytest

from shared.foundation.core.attempts import Again, Failed, Sent
from shared.watch.incidents.deliveries.rules import (
    MAX_RETRY_AFTER_SECS,
    Attempt,
    NoReceiverAnswer,
    ReceiverAnswer,
    next_step,
)

DAY = 24 * 3600.0
FIRST = Attempt("alert.firing", 1, DAY)


def test_waits_double_from_ten_seconds_to_half_an_hour() -> None:
    def waits(jitter: float) -> list[float]:
        attempts = [Attempt("alert.firing", number, DAY) for number in (*range(1, 12), 10_000)]
        steps = [next_step(ReceiverAnswer(500), attempt, jitter=jitter) for attempt in attempts]
        return [step.after_secs for step in steps if isinstance(step, Again)]

    assert waits(1.0) == [10, 20, 40, 80, 160, 320, 640, 1280, 1800, 1800, 1800, 1800]
    assert waits(0.0) == [one / 2 for one in waits(1.0)]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_success_is_sent(status: int) -> None:
    assert next_step(ReceiverAnswer(status), FIRST, jitter=0) == Sent()


@pytest.mark.parametrize("status", [301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 410, 422])
def test_a_permanent_refusal_fails(status: int) -> None:
    assert isinstance(next_step(ReceiverAnswer(status), FIRST, jitter=0), Failed)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_temporary_failure_is_retried(status: int) -> None:
    expected = Again(f"the receiver answered {status}", 5.0)
    assert next_step(ReceiverAnswer(status), FIRST, jitter=0) == expected
    assert next_step(NoReceiverAnswer("nobody there"), FIRST, jitter=0) == Again(
        "nobody there", 5.0
    )


def test_a_receiver_may_ask_for_more_time_but_not_for_days() -> None:
    for named, waited in ((1.0, 5.0), (60.0, 60.0), (1e9, MAX_RETRY_AFTER_SECS)):
        step = next_step(ReceiverAnswer(429, named), FIRST, jitter=0)
        assert step == Again("the receiver answered 429", waited)


def test_nothing_waits_beyond_the_end() -> None:
    late = Attempt("alert.firing", 50, 899.0)
    error = "the receiver answered 500, and there is no time for another attempt"
    assert next_step(ReceiverAnswer(500), late, jitter=0) == Failed(error)


def test_a_test_is_not_tried_again() -> None:
    test = Attempt("alert.test", 1, DAY)
    assert next_step(ReceiverAnswer(500), test, jitter=0) == Failed("the receiver answered 500")
    assert next_step(NoReceiverAnswer("nobody there"), test, jitter=0) == Failed("nobody there")
