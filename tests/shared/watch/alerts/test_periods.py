"""Periods of budgets in their zones."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from shared.watch.alerts.periods import period_of
from shared.watch.alerts.specs import PeriodKind

HOUR = timedelta(hours=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "tz", "moment", "starts_at", "ends_at"),
    [
        ("day", "UTC", "2026-11-02T00:00", "2026-11-02T00:00", "2026-11-03T00:00"),
        ("day", "UTC", "2026-11-01T23:59:59.999999", "2026-11-01T00:00", "2026-11-02T00:00"),
        # A day of 23 hours and one of 25.
        ("day", "Europe/Berlin", "2026-03-29T12:00", "2026-03-28T23:00", "2026-03-29T22:00"),
        ("day", "Europe/Berlin", "2026-10-25T12:00", "2026-10-24T22:00", "2026-10-25T23:00"),
        # The hour that comes twice belongs to one day.
        ("day", "America/Havana", "2026-11-01T04:30", "2026-11-01T04:00", "2026-11-02T05:00"),
        ("day", "America/Havana", "2026-11-01T05:30", "2026-11-01T04:00", "2026-11-02T05:00"),
        # Weeks begin on Monday.
        ("week", "UTC", "2026-11-01T12:00", "2026-10-26T00:00", "2026-11-02T00:00"),
        ("week", "Asia/Kolkata", "2026-11-01T18:30", "2026-11-01T18:30", "2026-11-08T18:30"),
        ("month", "UTC", "2026-12-31T12:00", "2026-12-01T00:00", "2027-01-01T00:00"),
        ("month", "UTC", "2028-02-29T12:00", "2028-02-01T00:00", "2028-03-01T00:00"),
        ("month", "Europe/Berlin", "2026-10-31T22:59", "2026-09-30T22:00", "2026-10-31T23:00"),
    ],
)
def test_a_period_is_one_of_the_calendar(
    kind: PeriodKind, tz: str, moment: str, starts_at: str, ends_at: str
) -> None:
    assert period_of(kind, tz, at(moment)) == (at(starts_at), at(ends_at))


@pytest.mark.parametrize("tz", ["UTC", "Europe/Berlin", "America/Havana", "Pacific/Apia"])
@pytest.mark.parametrize("kind", ["day", "week", "month"])
def test_periods_of_a_year_follow_each_other(kind: PeriodKind, tz: str) -> None:
    moments = [at("2026-01-01T00:30") + number * HOUR for number in range(0, 24 * 365, 5)]
    found = [period_of(kind, tz, moment) for moment in moments]
    for moment, period in zip(moments, found, strict=True):
        assert period.starts_at <= moment < period.ends_at
    for before, after in pairwise(dict.fromkeys(found)):
        assert before.ends_at == after.starts_at
