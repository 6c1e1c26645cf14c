"""The calendar periods of budgets, in their zone. Pure."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from shared.watch.alerts.specs import PeriodKind

# The time whose spending tells the rate of now.
LOOKBACKS: dict[PeriodKind, timedelta] = {
    "day": timedelta(hours=3),
    "week": timedelta(days=2),
    "month": timedelta(days=7),
}
IN_WORDS: dict[PeriodKind, str] = {"day": "today", "week": "this week", "month": "this month"}


class BudgetPeriod(NamedTuple):
    """The time from `starts_at` (inclusive) to `ends_at` (exclusive)."""

    starts_at: datetime
    ends_at: datetime


def period_of(kind: PeriodKind, tz: str, moment: datetime) -> BudgetPeriod:
    """Returns the period that a moment lies in; days of a zone have 23 to 25 hours."""
    zone = ZoneInfo(tz)
    day = moment.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if kind == "week":
        day -= timedelta(days=day.weekday())
    elif kind == "month":
        day = day.replace(day=1)
    return BudgetPeriod(day.astimezone(UTC), _next(kind, day).astimezone(UTC))


def _next(kind: PeriodKind, day: datetime) -> datetime:
    """Returns the first day of the next period. Days are added by the calendar, not by hours."""
    if kind == "month":
        return (day + timedelta(days=31)).replace(day=1)
    return day + timedelta(days=7 if kind == "week" else 1)
