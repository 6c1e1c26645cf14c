"""Time as the API writes it: UTC, microseconds, `Z`; integers of microseconds inside."""

import time
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> datetime:
    """The current time, aware, UTC."""
    return datetime.now(UTC)


def now_us() -> int:
    """The current time in microseconds since the epoch."""
    return time.time_ns() // 1000


def to_us(moment: datetime) -> int:
    """Microseconds since the epoch of an aware datetime."""
    return (moment - EPOCH) // _MICROSECOND


def from_us(us: int) -> datetime:
    """The aware UTC datetime of microseconds since the epoch."""
    return EPOCH + timedelta(microseconds=us)


def format_ts(moment: datetime) -> str:
    """RFC 3339 with microseconds and `Z`, e.g. `2026-11-01T08:00:33.587000Z`."""
    # Not strftime, which writes the year 1 with one digit on Linux.
    naive = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{naive.isoformat(timespec='microseconds')}Z"


def format_us(us: int) -> str:
    """`format_ts` for microseconds since the epoch."""
    return format_ts(from_us(us))


def format_optional_ts(moment: datetime | None) -> str | None:
    """`format_ts`, null staying null."""
    return None if moment is None else format_ts(moment)
