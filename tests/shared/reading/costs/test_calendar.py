"""Buckets follow the calendar of a time zone."""

from datetime import UTC, datetime

import pytest

from shared.foundation.core.clock import from_us, to_us
from shared.foundation.core.errors import Invalid
from shared.reading.costs.calendar import MAX_POINTS, starts_of, zone_of


def starts(unit: str, zone: str, first: str, stop: str) -> list[str]:
    bounds = (to_us(datetime.fromisoformat(one).replace(tzinfo=UTC)) for one in (first, stop))
    return [f"{from_us(one):%Y-%m-%d %H:%M}" for one in starts_of(unit, zone_of(zone), *bounds)]


@pytest.mark.parametrize(
    ("unit", "zone", "first", "stop", "expected"),
    [
        (
            "hour",
            "Asia/Kolkata",
            "2026-11-02 10:00",
            "2026-11-02 12:00",
            ["2026-11-02 09:30", "2026-11-02 10:30", "2026-11-02 11:30"],
        ),
        (
            "day",
            "Europe/Berlin",
            "2026-10-24 12:00",
            "2026-10-26 23:00",
            ["2026-10-23 22:00", "2026-10-24 22:00", "2026-10-25 23:00"],
        ),
        (
            "week",
            "UTC",
            "2026-11-01 23:59",
            "2026-11-09 00:00",
            ["2026-10-26 00:00", "2026-11-02 00:00"],
        ),
        (
            "month",
            "America/New_York",
            "2027-01-31 12:00",
            "2027-03-01 05:01",
            ["2027-01-01 05:00", "2027-02-01 05:00", "2027-03-01 05:00"],
        ),
        # The clock goes from 24:00 to 01:00, so the day begins then.
        (
            "day",
            "Africa/Cairo",
            "2026-04-23 23:00",
            "2026-04-24 21:01",
            ["2026-04-23 22:00", "2026-04-24 21:00"],
        ),
        # The clock goes from 02:00 to 02:30.
        (
            "hour",
            "Australia/Lord_Howe",
            "2026-10-03 14:45",
            "2026-10-03 16:01",
            ["2026-10-03 14:30", "2026-10-03 15:30", "2026-10-03 16:00"],
        ),
        ("day", "UTC", "2026-11-02 00:00", "2026-11-02 00:00", []),
    ],
)
def test_buckets_begin_where_the_clock_does(
    unit: str, zone: str, first: str, stop: str, expected: list[str]
) -> None:
    assert starts(unit, zone, first, stop) == expected


def test_more_points_than_a_chart_shows_are_refused() -> None:
    month = to_us(datetime(2026, 11, 1, tzinfo=UTC))
    hours = MAX_POINTS * 3600 * 1_000_000
    assert len(starts_of("hour", UTC, month, month + hours)) == MAX_POINTS
    for more in (1, 10 * hours):
        with pytest.raises(Invalid) as refusal:
            starts_of("hour", UTC, month, month + hours + more)
        assert list(refusal.value.fields) == ["bucket"]


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "/etc/passwd", "", "a\0b"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        zone_of(name)
    assert list(refusal.value.fields) == ["tz"]
