"""Buckets of a calendar: hours, days, weeks and months as a time zone has them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.foundation.core.clock import from_us, to_us
from shared.foundation.core.errors import Invalid

NONE = "none"
UNITS = ("hour", "day", "week", "month")
MAX_POINTS = 1500
# The name of a time zone is a path in a folder of files.
MAX_ZONE_CHARS = 64

_HOUR = timedelta(hours=1)
# No month is longer.
_LONGEST = {"hour": _HOUR, "day": timedelta(days=1), "week": timedelta(days=7)}
_LONGEST["month"] = timedelta(days=31)


def zone_of(name: str) -> tzinfo:
    """Returns a time zone of the IANA database. Raises `Invalid` naming `tz`."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid.field("tz", "must be a time zone such as Europe/Berlin") from None


def starts_of(unit: str, zone: tzinfo, first: int, stop: int) -> list[int]:
    """Returns the start of each bucket that has a part of [first, stop), in microseconds.

    The first one begins at or before `first`. Weeks begin on Monday. Raises `Invalid` naming
    `bucket` for more than `MAX_POINTS`.
    """
    if first >= stop:
        return []
    too_many = Invalid.field(
        "bucket", f"gives more than {MAX_POINTS} points: take a longer one, or a shorter range"
    )
    if stop - first > (MAX_POINTS + 1) * _LONGEST[unit] / timedelta(microseconds=1):
        raise too_many
    found: list[int] = []
    for start in _from(unit, from_us(first).astimezone(zone)):
        if start >= stop:
            return found
        if len(found) == MAX_POINTS:
            raise too_many
        found.append(start)
    raise OverflowError("a calendar has no end")


def _from(unit: str, moment: datetime) -> Iterator[int]:
    """Yields the starts of buckets from the one that holds `moment` on."""
    if unit == "hour":
        yield from _hours(moment)
        return
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if unit == "week":
        day -= timedelta(days=day.weekday())
    elif unit == "month":
        day = day.replace(day=1)
    while True:
        # A midnight that the clock skips is the moment at which it does.
        yield to_us(day.astimezone(UTC))
        day = _next_month(day) if unit == "month" else day + _LONGEST[unit]


def _hours(moment: datetime) -> Iterator[int]:
    """Yields the moments at which the hour of the clock changes.

    Steps of UTC, because a clock that is put back shows an hour twice.
    """
    past = timedelta(minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond)
    start = moment.astimezone(UTC) - past
    while True:
        yield to_us(start)
        # Some zones move their clocks by half an hour.
        start += _HOUR - timedelta(minutes=start.astimezone(moment.tzinfo).minute)


def _next_month(day: datetime) -> datetime:
    return (day + _LONGEST["month"]).replace(day=1)
