"""Waits between attempts."""

from datetime import UTC, datetime

import pytest

from shared.foundation.core.attempts import (
    MAX_RETRY_AFTER_SECS,
    backoff,
    jitter,
    parse_retry_after,
)

NOW = datetime(2026, 11, 1, 8, 0, 0, tzinfo=UTC)


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


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        ("0", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("²", None),
        ("9" * 6000, MAX_RETRY_AFTER_SECS),
        ("86400", 86400.0),
        ("Sun, 01 Nov 2026 08:00:30 GMT", 30.0),
        ("Sun, 01 Nov 2026 07:59:30 GMT", None),
        ("Sun, 01 Nov 2026 08:00:30 -0000", None),
        ("Fri, 01 Jan 2100 00:00:00 GMT", MAX_RETRY_AFTER_SECS),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds
