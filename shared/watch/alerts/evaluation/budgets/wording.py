"""The opening of a budget's incident: its title, and the facts behind it."""

from decimal import Decimal

from shared.foundation.core.clock import format_ts
from shared.foundation.core.text import dollars
from shared.watch.alerts import groups
from shared.watch.alerts.evaluation.budgets.levels import FORECAST, Level, amount_of
from shared.watch.alerts.evaluation.triggers.event_filter import conditions_of
from shared.watch.alerts.evidence import BudgetFacts
from shared.watch.alerts.models import Alert
from shared.watch.alerts.opening import measured
from shared.watch.alerts.periods import IN_WORDS, LOOKBACKS
from shared.watch.alerts.specs import Budget
from shared.watch.alerts.spending import BudgetReading, Spending, projected
from shared.watch.incidents.opening import Breach, Opening

# What is compared, in evidence.
METRIC = "spent_usd"


def opening_of(
    alert: Alert, spec: Budget, reading: BudgetReading, group: str, level: Level, more: int
) -> Opening:
    """Returns the opening for a level of a group; `more` other groups have no incident."""
    spending = reading.groups[group]
    facts = _facts(spec, reading, spending, level, more)
    sentence = _sentence(spec, spending, level, facts["forecast_usd"])
    who = f"{groups.words(spec.group_by, group)} " if spec.group_by else ""
    breach = Breach(float(spending.spent), f"{who}{sentence}", facts)
    return measured(
        alert,
        breach,
        title=f"{alert.name}: {who}{sentence}",
        group=groups.named(spec.group_by, group) if spec.group_by else None,
        level=level,
        ends_at=reading.period.ends_at,
    )


def _sentence(spec: Budget, spending: Spending, level: Level, forecast: float | None) -> str:
    """Returns `spent $41.20 of $50.00 (82 %) this month`; percents are rounded down."""
    is_forecast = level == FORECAST and forecast is not None
    amount = Decimal(repr(forecast)) if is_forecast else spending.spent
    share = int(amount * 100 / amount_of(spec))
    verb = "will spend" if is_forecast else "spent"
    of_all = dollars(spec.amount_usd)
    return f"{verb} {dollars(float(amount))} of {of_all} ({share} %) {IN_WORDS[spec.period]}"


def _facts(
    spec: Budget, reading: BudgetReading, spending: Spending, level: Level, more: int
) -> BudgetFacts:
    amount, period = amount_of(spec), reading.period
    made = projected(spending, amount, period, LOOKBACKS[spec.period], reading.until)
    return {
        "metric": METRIC,
        "value": float(spending.spent),
        "op": ">=",
        "bound": spec.amount_usd,
        "window": {"from": format_ts(period.starts_at), "to": format_ts(period.ends_at)},
        "filter": conditions_of(spec.filter).shown,
        "counts": {"calls": spending.calls, "unpriced_calls": spending.unpriced_calls},
        "period": spec.period,
        "level": level,
        "levels": list(spec.levels),
        "share": float(spending.spent / amount),
        "forecast_usd": None if made.forecast is None else float(made.forecast),
        "groups_more": more,
    }
