"""The step after an attempt, and the wait before another one."""

import random
from dataclasses import dataclass


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
