"""The times of audits: tables of moments."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.watch.audits.schedule import default_anchor, next_point

HOUR, DAY = 3600, 86_400


def at(text: str) -> datetime:
    """Returns a moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "anchor", "interval", "expected"),
    [
        ("2026-03-01 08:59:59.999999", "2026-03-01 09:00", DAY, "2026-03-01 09:00"),
        ("2026-03-01 09:00", "2026-03-01 09:00", DAY, "2026-03-02 09:00"),
        ("2026-03-01 09:00:00.000001", "2026-03-01 09:00", DAY, "2026-03-02 09:00"),
        # Long past; the distance does not matter.
        ("2026-03-01 12:00", "1970-01-01 00:30", HOUR, "2026-03-01 12:30"),
        ("2026-03-05 09:00", "2026-03-01 09:00", 7 * DAY, "2026-03-08 09:00"),
        ("2026-03-01 00:00", "2026-02-27 09:00", 90_000, "2026-03-01 11:00"),
        # In the future: no run before it, however short the interval.
        ("2026-03-01 09:00", "2027-03-01 09:00", HOUR, "2027-03-01 09:00"),
        # A night of a clock change, and a leap day: UTC has neither problem.
        ("2026-03-29 00:30", "2026-03-28 01:00", DAY, "2026-03-29 01:00"),
        ("2026-10-25 01:30", "2026-03-28 01:00", DAY, "2026-10-26 01:00"),
        ("2028-02-28 10:00", "2026-01-01 09:00", DAY, "2028-02-29 09:00"),
    ],
)
def test_the_next_run_is_the_first_point_of_the_grid_after_now(
    now: str, anchor: str, interval: int, expected: str
) -> None:
    assert next_point(at(now), at(anchor), interval) == at(expected)


def test_the_zone_in_which_an_anchor_is_told_changes_nothing() -> None:
    zone = timezone(timedelta(hours=-7))
    anchor = datetime(2026, 3, 1, 2, tzinfo=zone)
    assert next_point(at("2026-03-04 08:00"), anchor, DAY) == at("2026-03-04 09:00")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-12-31 08:59:59", "2026-12-31 09:00"),
        ("2026-12-31 09:00", "2027-01-01 09:00"),
        ("2026-12-31 23:00", "2027-01-01 09:00"),
    ],
)
def test_an_audit_without_an_anchor_begins_at_nine(now: str, expected: str) -> None:
    assert default_anchor(at(now)) == at(expected)
