"""Which levels of a budget are to be announced. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from shared.watch.alerts.periods import LOOKBACKS
from shared.watch.alerts.specs import Budget
from shared.watch.alerts.spending import BudgetReading, Spending, projected

FORECAST: Literal["forecast"] = "forecast"
Level = int | Literal["forecast"]


@dataclass(frozen=True)
class ToldLevels:
    """The highest level of a period that was announced, 0 if none, and whether a forecast was."""

    level: int = 0
    has_forecast: bool = False

    def and_then(self, level: Level) -> "ToldLevels":
        """Returns what has been announced after one more."""
        if level == FORECAST:
            return ToldLevels(self.level, has_forecast=True)
        return ToldLevels(level, self.has_forecast)


def amount_of(spec: Budget) -> Decimal:
    """Returns the amount as it was written: the float 0.1 is a tenth."""
    return Decimal(repr(spec.amount_usd))


def reached(spec: Budget, spent: Decimal) -> int:
    """Returns the highest level that the spending has reached, 0 if none."""
    share = spent * 100 / amount_of(spec)
    return max((level for level in spec.levels if share >= level), default=0)


def due(
    spec: Budget, reading: BudgetReading, spending: Spending, told: ToldLevels
) -> Sequence[Level]:
    """Returns the levels to announce now, of several at once the highest alone.

    The forecast is announced once, and not after the spending itself passed the amount.
    """
    found: list[Level] = []
    level = reached(spec, spending.spent)
    if level > told.level:
        found.append(level)
    amount = amount_of(spec)
    is_early = spending.spent < amount and told.level < 100
    if spec.forecast and is_early and not told.has_forecast:
        lookback = LOOKBACKS[spec.period]
        made = projected(spending, amount, reading.period, lookback, reading.until)
        if made.forecast is not None and made.forecast > amount:
            found.append(FORECAST)
    return found
