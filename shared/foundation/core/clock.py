"""Time as the API writes it: UTC, microseconds, `Z`. Inside: integers of microseconds."""

import time
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> datetime:
    """Returns the current time, aware, in UTC."""
    return datetime.now(UTC)


def now_us() -> int:
    """Returns the current time in microseconds since the epoch."""
    return time.time_ns() // 1000


def to_us(moment: datetime) -> int:
    """Converts an aware datetime to microseconds since the epoch."""
    return (moment - EPOCH) // _MICROSECOND


def from_us(us: int) -> datetime:
    """Converts microseconds since the epoch to an aware UTC datetime."""
    return EPOCH + timedelta(microseconds=us)


def format_ts(moment: datetime) -> str:
    """Formats as RFC 3339 with microseconds and `Z`, e.g. `2026-11-01T08:00:33.587000Z`."""
    # Not strftime: on Linux it writes the year 1 with one digit.
    naive = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{naive.isoformat(timespec='microseconds')}Z"


def format_us(us: int) -> str:
    """Formats microseconds since the epoch as `format_ts` does."""
    return format_ts(from_us(us))


def format_optional_ts(moment: datetime | None) -> str | None:
    """Formats a moment as `format_ts` does; null stays null."""
    return None if moment is None else format_ts(moment)
