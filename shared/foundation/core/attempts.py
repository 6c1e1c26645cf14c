"""The step after an attempt, and the wait before another one."""

import random
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

# 4xx that mean "later" (RFC 9110, 8470 and 6585); every other 4xx means "never".
LATER = frozenset({408, 425, 429})

# Longer waits in a header count as this one: what waits for longer would be practically lost.
MAX_RETRY_AFTER_SECS = 24 * 3600.0


@dataclass(frozen=True)
class Sent:
    """The other side has accepted it."""


@dataclass(frozen=True)
class Again:
    """The attempt is repeated in `after_secs`."""

    error: str
    after_secs: float


@dataclass(frozen=True)
class Failed:
    """There is no further attempt."""

    error: str


def backoff(attempt: int, jitter: float, *, base_secs: float, cap_secs: float) -> float:
    """Returns the seconds to wait after `attempt`, from 1: the base, doubled each time, capped.

    `jitter` is a random number from 0 to 1. It takes up to half of the wait off, so that attempts
    that failed together are not repeated together.
    """
    # Python's floats end long after any cap: 2^64 seconds, so the power cannot overflow.
    return min(base_secs * 2.0 ** min(attempt - 1, 64), cap_secs) * (0.5 + jitter / 2)


def jitter() -> float:
    """Returns a random number from 0 to 1."""
    return random.random()  # noqa: S311 it spreads attempts and keeps no secret


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Returns the seconds of a Retry-After header (seconds or a date); None without a valid one."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        # The length is compared first: Python refuses to convert thousands of digits.
        seconds = float(value) if len(value) < 10 else MAX_RETRY_AFTER_SECS
    else:
        try:
            seconds = (parsedate_to_datetime(value) - now).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(seconds, MAX_RETRY_AFTER_SECS) if seconds > 0 else None
