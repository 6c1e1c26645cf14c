"""When an audit runs: at anchor + N x interval, N from 0 on. Pure, and in UTC throughout."""

from datetime import UTC, datetime, timedelta

# The hour of a day at which an audit begins that was not told when.
DEFAULT_HOUR = 9


def default_anchor(now: datetime) -> datetime:
    """The next 09:00 UTC after `now`."""
    today = now.astimezone(UTC).replace(hour=DEFAULT_HOUR, minute=0, second=0, microsecond=0)
    return today if today > now else today + timedelta(days=1)


def next_point(now: datetime, anchor: datetime, interval_secs: int) -> datetime:
    """The first anchor + N x interval after `now`; the anchor itself while that is still ahead."""
    if now < anchor:
        return anchor
    interval = timedelta(seconds=interval_secs)
    return anchor + ((now - anchor) // interval + 1) * interval
