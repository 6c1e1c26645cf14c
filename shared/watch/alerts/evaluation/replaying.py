"""Replays of rules that are read by themselves: those with groups, and budgets."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import accumulate
from typing import NamedTuple, TypeVar

from shared.foundation.core.clock import from_us, to_us
from shared.foundation.core.ids import new_id
from shared.watch.alerts.evaluation.breaches import History, Terms
from shared.watch.alerts.evaluation.budgets.levels import ToldLevels, amount_of, due
from shared.watch.alerts.evaluation.triggers.budget import SpendingSlot, read_slots
from shared.watch.alerts.evaluation.triggers.group_series import GroupWindows, read_group_series
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Rule,
    RuleContext,
    RuleOutcome,
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.metric_threshold import MetricPlan
from shared.watch.alerts.evaluation.triggers.plan import BreachLimit
from shared.watch.alerts.periods import LOOKBACKS, BudgetPeriod, period_of
from shared.watch.alerts.specs import Budget, MetricThreshold, holds
from shared.watch.alerts.spending import BudgetReading, Spending

# The groups with most breaches are shown.
MOST_SHOWN = 10
T = TypeVar("T")
_EMPTY = RuleReading(None, False, "", {})


@dataclass(frozen=True)
class Point:
    """The outcome of the evaluation of the window that ends at `ts`."""

    ts: datetime
    outcome: RuleOutcome


@dataclass(frozen=True)
class ReplayedIncident:
    """An incident that the rule would have opened, and the number of its breaches."""

    opened_at: datetime
    resolved_at: datetime | None = None
    breaches: int = 1


class Replay(NamedTuple):
    """What would have become of a group, or of a rule without any; both lists oldest first."""

    points: Sequence[Point]
    incidents: Sequence[ReplayedIncident]


def incidents_of(points: Sequence[Point], terms: Terms) -> Sequence[ReplayedIncident]:
    """Returns the incidents of a rule that had not been evaluated before, oldest first."""
    history, found = History((), 0), list[ReplayedIncident]()
    for point in points:
        if isinstance(point.outcome, NotEvaluated):
            continue
        history = history.followed_by(point.outcome.breached, terms)
        is_open = bool(found) and found[-1].resolved_at is None
        effect = history.effect(terms, is_open=is_open)
        if effect == "end":
            found[-1] = replace(found[-1], resolved_at=point.ts)
        elif effect == "breach" and is_open:
            found[-1] = replace(found[-1], breaches=found[-1].breaches + 1)
        elif effect == "breach":
            found.append(ReplayedIncident(point.ts))
    return found


def replay_groups(
    context: RuleContext,
    spec: MetricThreshold,
    by: str,
    ends: Sequence[datetime],
    terms: Terms,
    only: str | None,
) -> tuple[BreachLimit, dict[str, Replay]]:
    """Replays the groups with most breaches, or the one of the value `only`.

    Raises `QueryTimeout` and `Unavailable`.
    """
    plans = [MetricPlan(Rule(new_id(), spec, since=None, until=end), spec) for end in ends]
    clickhouse, windows = context.runtime.clickhouse, [plan.aggregates for plan in plans]
    found = read_group_series(clickhouse, context.org_id, by, windows)

    def rank(windows: GroupWindows) -> tuple[float, float]:
        values = [plans[0].value_of(one) for one in windows.values()]
        breaches = sum(one is not None and holds(spec.op, one, spec.value) for one in values)
        return (-breaches, -len(values))

    replays = {}
    for group in _shown(found, rank, only):
        of_group = found.get(group, {})
        points = [
            Point(end, plan.outcome(of_group[nth]) if nth in of_group else _EMPTY)
            for nth, (end, plan) in enumerate(zip(ends, plans, strict=True))
        ]
        replays[group] = Replay(points, incidents_of(points, terms))
    return plans[0].limit, replays


def replay_budget(
    context: RuleContext, spec: Budget, ends: Sequence[datetime], only: str | None
) -> tuple[BreachLimit, dict[str, Replay]]:
    """Replays a budget: all calls together, or the groups that were longest over the amount.

    A point's value is the spending of its period until then, and its bound the amount. A breach of
    an incident is an announced level. Raises `QueryTimeout` and `Unavailable`.
    """
    amount, lookback = amount_of(spec), LOOKBACKS[spec.period]
    periods = [period_of(spec.period, spec.tz, end) for end in ends]
    cuts = {to_us(end) for end in ends} | {to_us(one.starts_at) for one in periods}
    if spec.forecast:
        cuts |= {to_us(end - lookback) for end in ends}
    found = read_slots(
        context.runtime.clickhouse, context.org_id, spec, sorted(cuts), to_us(ends[-1])
    )

    def rank(slots: Sequence[SpendingSlot]) -> tuple[float, float]:
        sums = _RunningSums(slots)
        spent = [sums.between(one.starts_at, end) for end, one in zip(ends, periods, strict=True)]
        return (-sum(one >= amount for one in spent), -float(max(spent)))

    chosen = _shown(found, rank, only) if spec.group_by else [""]
    return BreachLimit(">=", spec.amount_usd), {
        group: _replayed(spec, ends, periods, _RunningSums(found.get(group, ())))
        for group in chosen
    }


def _shown(
    found: Mapping[str, T], rank: Callable[[T], tuple[float, float]], only: str | None
) -> Sequence[str]:
    if only is not None:
        return [only]
    ranks = {group: (*rank(one), group) for group, one in found.items()}
    return sorted(ranks, key=ranks.__getitem__)[:MOST_SHOWN]


class _RunningSums:
    """The spending of a group between any two moments that are cuts."""

    def __init__(self, slots: Sequence[SpendingSlot]) -> None:
        self._slots = sorted(slots)
        self._starts = [slot.start for slot in self._slots]
        self._sums = [Decimal(0), *accumulate(slot.spent for slot in self._slots)]

    def between(self, start: datetime, stop: datetime) -> Decimal:
        return self._sums[self._at(stop)] - self._sums[self._at(start)]

    def first_between(self, start: datetime, stop: datetime) -> datetime | None:
        first = self._at(start)
        return from_us(self._slots[first].first_at) if first < self._at(stop) else None

    def _at(self, moment: datetime) -> int:
        return bisect_left(self._starts, to_us(moment))


def _replayed(
    spec: Budget, ends: Sequence[datetime], periods: Sequence[BudgetPeriod], sums: _RunningSums
) -> Replay:
    amount, lookback = amount_of(spec), LOOKBACKS[spec.period]
    points, incidents, told = list[Point](), list[ReplayedIncident](), ToldLevels()
    running = periods[0]
    for end, period in zip(ends, periods, strict=True):
        if period != running:
            if incidents and incidents[-1].resolved_at is None:
                incidents[-1] = replace(incidents[-1], resolved_at=running.ends_at)
            running, told = period, ToldLevels()
        since = end - lookback
        spending = Spending(
            spent=sums.between(period.starts_at, end),
            recent=sums.between(since, end) if spec.forecast else Decimal(0),
            since=sums.first_between(since, end) if spec.forecast else None,
        )
        levels = due(spec, BudgetReading(period, end, {}), spending, told)
        for level in levels:
            told = told.and_then(level)
        if levels and incidents and incidents[-1].resolved_at is None:
            breaches = incidents[-1].breaches + len(levels)
            incidents[-1] = replace(incidents[-1], breaches=breaches)
        elif levels:
            incidents.append(ReplayedIncident(end, breaches=len(levels)))
        points.append(Point(end, _reading(spending.spent, amount)))
    return Replay(points, incidents)


def _reading(spent: Decimal, amount: Decimal) -> RuleReading:
    return RuleReading(float(spent), spent >= amount, "", {})
