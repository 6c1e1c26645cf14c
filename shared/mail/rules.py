"""When a mail that could not be sent is tried again. Pure decisions."""

BACKOFF_BASE_SECS = 10.0
BACKOFF_CAP_SECS = 3600.0


def backoff(attempt: int, jitter: float) -> float:
    """Seconds before the attempt that follows `attempt` (from 1): 10 s doubling up to an hour.

    The upper half of that span at random (`jitter` is from 0 to 1), so that mails that failed
    together do not return together.
    """
    # 2^12 is beyond the cap already; more would only overflow.
    span = min(BACKOFF_BASE_SECS * 2.0 ** min(attempt - 1, 12), BACKOFF_CAP_SECS)
    return span * (0.5 + jitter / 2)
