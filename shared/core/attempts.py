"""What follows from an attempt, and how long to wait before another one."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Sent:
    """The other side has it."""


@dataclass(frozen=True)
class Again:
    """It is tried again in `after_secs`."""

    error: str
    after_secs: float


@dataclass(frozen=True)
class Failed:
    """It is not tried again."""

    error: str


def backoff(attempt: int, jitter: float, *, base_secs: float, cap_secs: float) -> float:
    """Seconds to wait after `attempt`, which counts from 1: the base, doubled each time, capped.

    `jitter` is a random number from 0 to 1. It takes up to half of the wait off, so that attempts
    that failed together are not repeated together.
    """
    # Python's floats end long after any cap: 2^64 seconds, so the power cannot overflow.
    return min(base_secs * 2.0 ** min(attempt - 1, 64), cap_secs) * (0.5 + jitter / 2)


def jitter() -> float:
    """A random number from 0 to 1."""
    return random.random()  # noqa: S311 it spreads attempts and keeps no secret
