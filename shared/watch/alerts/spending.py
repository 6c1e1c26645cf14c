"""The spending of groups in a period, as it was read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from shared.watch.alerts.periods import BudgetPeriod


@dataclass(frozen=True)
class Spending:
    """What a group spent in a period until now, in dollars.

    `recent` is the spending of the lookback, and `since` its first call, None without one.
    """

    spent: Decimal = Decimal(0)
    calls: int = 0
    unpriced_calls: int = 0
    recent: Decimal = Decimal(0)
    since: datetime | None = None

    def rate(self, lookback: timedelta, until: datetime) -> Decimal | None:
        """Returns dollars a second, None while less than half of the lookback has data."""
        if self.since is None or until - self.since < lookback / 2:
            return None
        return self.recent / Decimal(lookback.total_seconds())


@dataclass(frozen=True)
class Projection:
    """The spending of a whole period if it goes on, and when it will be the amount.

    Both are None without a rate; `exhausted_at` also if it is not within the period, or is past.
    """

    forecast: Decimal | None = None
    exhausted_at: datetime | None = None


def projected(
    spending: Spending, amount: Decimal, period: BudgetPeriod, lookback: timedelta, until: datetime
) -> Projection:
    """Returns what the spending will be at the end of the period."""
    rate = spending.rate(lookback, until)
    if rate is None:
        return Projection()
    left = Decimal((period.ends_at - until).total_seconds())
    forecast = spending.spent + rate * max(left, Decimal(0))
    if rate == 0 or not spending.spent < amount <= forecast:
        return Projection(forecast)
    secs = float((amount - spending.spent) / rate)
    return Projection(forecast, until + timedelta(seconds=secs))


@dataclass(frozen=True)
class BudgetReading:
    """The groups that reached a level or will pass the amount, the highest spending first.

    `groups` are by their values, "" for the one without a value and for all calls together.
    """

    period: BudgetPeriod
    until: datetime
    groups: Mapping[str, Spending]
