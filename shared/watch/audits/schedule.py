"""The schedule of an audit: anchor + N x interval, N from 0 on. Pure, and in UTC throughout."""

from datetime import UTC, datetime, timedelta

# The hour of the day at which an audit without an anchor begins.
DEFAULT_HOUR = 9


def default_anchor(now: datetime) -> datetime:
    """Returns the next 09:00 UTC after `now`."""
    today = now.astimezone(UTC).replace(hour=DEFAULT_HOUR, minute=0, second=0, microsecond=0)
    return today if today > now else today + timedelta(days=1)


def next_point(now: datetime, anchor: datetime, interval_secs: int) -> datetime:
    """Returns the first anchor + N x interval after `now`, or the anchor itself if it is ahead."""
    if now < anchor:
        return anchor
    interval = timedelta(seconds=interval_secs)
    return anchor + ((now - anchor) // interval + 1) * interval
