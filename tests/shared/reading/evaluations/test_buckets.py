"""Buckets of time for a range."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.foundation.core.clock import from_us, to_us
from shared.reading.evaluations.aggregate.buckets import UNITS, Buckets, choose

SECOND = 1_000_000
WEDNESDAY = datetime(2026, 11, 4, 13, 47, 31, 250_000, tzinfo=UTC)
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)


def over(unit: str, first: datetime, length: timedelta) -> Buckets:
    return choose(unit, to_us(first), to_us(first + length))


@pytest.mark.parametrize(
    ("unit", "begins"),
    [
        ("minute", WEDNESDAY.replace(second=0, microsecond=0)),
        ("5m", WEDNESDAY.replace(minute=45, second=0, microsecond=0)),
        ("15m", WEDNESDAY.replace(minute=45, second=0, microsecond=0)),
        ("hour", WEDNESDAY.replace(minute=0, second=0, microsecond=0)),
        ("6h", WEDNESDAY.replace(hour=12, minute=0, second=0, microsecond=0)),
        ("day", WEDNESDAY.replace(hour=0, minute=0, second=0, microsecond=0)),
        ("week", MONDAY),
    ],
)
def test_buckets_begin_at_full_units_of_utc(unit: str, begins: datetime) -> None:
    found = choose(unit, to_us(WEDNESDAY), to_us(WEDNESDAY) + 1)
    assert found == Buckets(unit, UNITS[unit], to_us(begins), 1)
    assert list(found.starts()) == [to_us(begins)]


@pytest.mark.parametrize("unit", UNITS)
def test_the_last_bucket_holds_the_last_moment_and_no_more(unit: str) -> None:
    first, step = to_us(MONDAY), UNITS[unit] * SECOND
    assert choose(unit, first, first + 3 * step).count == 3
    assert choose(unit, first, first + 3 * step + 1).count == 4
    assert choose(unit, first - 1, first + 3 * step).count == 4


@pytest.mark.parametrize(
    ("unit", "length", "taken"),
    [
        ("minute", timedelta(minutes=1500), ("minute", 60, 1500)),
        ("minute", timedelta(minutes=1501), ("5m", 300, 301)),
        ("minute", timedelta(hours=1500), ("hour", 3600, 1500)),
        ("15m", timedelta(days=15, hours=15), ("15m", 900, 1500)),
        ("15m", timedelta(days=15, hours=16), ("hour", 3600, 376)),
        ("day", timedelta(days=1501), ("week", 604_800, 215)),
        ("week", timedelta(weeks=1500), ("week", 604_800, 1500)),
        ("week", timedelta(weeks=1501), ("week", 2 * 604_800, 751)),
        ("minute", timedelta(weeks=4501), ("week", 4 * 604_800, 1126)),
        ("auto", timedelta(minutes=200), ("minute", 60, 200)),
        ("auto", timedelta(minutes=201), ("5m", 300, 41)),
        ("auto", timedelta(days=1), ("15m", 900, 96)),
        ("auto", timedelta(days=7), ("hour", 3600, 168)),
        ("auto", timedelta(days=30), ("6h", 21_600, 120)),
        ("auto", timedelta(days=182), ("day", 86_400, 182)),
        ("auto", timedelta(days=365), ("week", 604_800, 53)),
        ("auto", timedelta(weeks=201), ("week", 2 * 604_800, 101)),
    ],
)
def test_a_coarser_unit_is_taken_where_there_would_be_too_many(
    unit: str, length: timedelta, taken: tuple[str, int, int]
) -> None:
    found = over(unit, MONDAY, length)
    assert (found.unit, found.secs) == taken[:2]
    # Multiples of several weeks are counted from 1969, so there may be one more bucket.
    assert found.count - taken[2] in ((0, 1) if found.secs > 604_800 else (0,))


def test_several_weeks_begin_on_a_monday_and_hold_the_range() -> None:
    first, stop = to_us(datetime(1900, 1, 1, tzinfo=UTC)), to_us(datetime(2300, 1, 1, tzinfo=UTC))
    found = choose("minute", first, stop)
    assert found.unit == "week"
    assert found.secs == 14 * 604_800
    assert found.count <= 1500
    assert from_us(found.start).weekday() == 0
    assert found.start <= first < found.start + found.width
    assert list(found.starts())[-1] < stop <= found.start + found.count * found.width


@pytest.mark.parametrize("unit", ["auto", "minute", "week"])
def test_an_empty_range_has_no_buckets(unit: str) -> None:
    assert choose(unit, 5, 5).count == choose(unit, 7, 5).count == 0
