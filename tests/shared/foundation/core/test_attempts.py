"""Waits between attempts."""

from shared.foundation.core.attempts import backoff, jitter


def wait(attempt: int, part: float) -> float:
    return backoff(attempt, part, base_secs=10.0, cap_secs=3600.0)


def test_waits_double_until_the_cap() -> None:
    assert [wait(attempt, 1.0) for attempt in (1, 2, 3, 9)] == [10, 20, 40, 2560]
    assert {wait(attempt, 1.0) for attempt in (10, 100, 10**6)} == {3600}


def test_jitter_takes_up_to_half_of_the_wait_off() -> None:
    assert [wait(attempt, 0.0) for attempt in (1, 2, 3, 10**6)] == [5, 10, 20, 1800]
    assert wait(1, 0.5) == 7.5


def test_jitter_is_spread_between_0_and_1() -> None:
    drawn = [jitter() for _ in range(1000)]
    assert all(0 <= one <= 1 for one in drawn)
    assert min(drawn) < 0.1
    assert max(drawn) > 0.9
