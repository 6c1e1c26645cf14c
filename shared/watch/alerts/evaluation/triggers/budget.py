"""Reads the spending of each group of a budget, in one statement."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import from_us, to_us
from shared.watch.alerts.evaluation.triggers.aggregates import (
    EVENTS,
    Aggregate,
    AggregateRows,
    Term,
    scan,
)
from shared.watch.alerts.evaluation.triggers.calls import CALLS, IS_CALL, IS_UNPRICED
from shared.watch.alerts.evaluation.triggers.event_filter import conditions_of
from shared.watch.alerts.evaluation.triggers.group_series import MOST_ROWS, rows_of
from shared.watch.alerts.evaluation.triggers.grouping import (
    HAS_EVENTS,
    bound_by,
    by_group,
    merged_of,
    read_groups,
)
from shared.watch.alerts.evaluation.triggers.plan import among
from shared.watch.alerts.periods import LOOKBACKS, BudgetPeriod, period_of
from shared.watch.alerts.specs import Budget
from shared.watch.alerts.spending import BudgetReading, Spending

_BEFORE = "ts < fromUnixTimestamp64Micro(toInt64(?), 'UTC')"
_FROM = "ts >= fromUnixTimestamp64Micro(toInt64(?), 'UTC')"
_SPENT = "toFloat64(ifNull(m0, 0))"
# Finds too many rather than too few: floats are not exact, and decimals decide afterwards.
_NEAR = 1 - 1e-9
_REACHED = (
    f"{_SPENT} >= {{floor:Float64}}"
    f" OR {_SPENT} + toFloat64(ifNull(m3, 0)) * {{times:Float64}} > {{amount:Float64}}"
)


def evaluate(clickhouse: ClickHouse, org_id: str, spec: Budget, until: datetime) -> BudgetReading:
    """Reads the groups that reached a level, or will pass the amount, in the period of `until`.

    All stored calls of the period count, those after `until` too: a clock may be ahead. Raises
    `Unavailable` and `TooMuch`.
    """
    period = period_of(spec.period, spec.tz, until)
    left = (period.ends_at - until) / LOOKBACKS[spec.period]
    limits = {
        "floor": spec.amount_usd * spec.levels[0] / 100 * _NEAR,
        "amount": spec.amount_usd * _NEAR,
        "times": left if spec.forecast else 0.0,
    }
    groups = read_spending(clickhouse, org_id, spec, period, until, having=_REACHED, params=limits)
    return BudgetReading(period, until, groups)


def read_spending(
    clickhouse: ClickHouse,
    org_id: str,
    spec: Budget,
    period: BudgetPeriod,
    until: datetime,
    *,
    having: str = HAS_EVENTS,
    params: Mapping[str, object] | None = None,
) -> dict[str, Spending]:
    """Returns the spending of the groups, the highest first.

    `having` is a condition on `m0` (spent), `m1` (calls), `m2` (calls without a price) and `m3`
    (spent in the lookback). Raises `Unavailable` and `TooMuch`.
    """
    wanted = _aggregates(spec, period, until)
    found = read_groups(clickhouse, org_id, spec.group_by, wanted, having=having, params=params)
    read = {group: _spending(*values) for group, values in found.items()}
    return dict(sorted(read.items(), key=lambda one: (-one[1].spent, one[0])))


class SpendingSlot(NamedTuple):
    """The spending from one cut to the next: its start and first call, in microseconds."""

    start: int
    spent: Decimal
    first_at: int


def read_slots(
    clickhouse: ClickHouse, org_id: str, spec: Budget, cuts: Sequence[int], stop: int
) -> dict[str, list[SpendingSlot]]:
    """Returns the spending of each group between the cuts, which rise, before `stop`.

    Raises `Unavailable`, and `QueryTimeout` if the statement takes more time or memory than it may.
    """
    calls = calls_of(spec, cuts[0], stop)
    wanted = (
        Aggregate("sumIf", calls, "cost_usd"),
        Aggregate("countIf", calls),
        Aggregate("minOrNullIf", calls, "toUnixTimestamp64Micro(ts)"),
    )
    part = scan(org_id, wanted, "State")
    keys = {"slot": "roundDown(toUnixTimestamp64Micro(ts), {cuts:Array(Int64)})"}
    sql = f"""
        SELECT grp, slot, {", ".join(merged_of(wanted))}
        FROM ({by_group(spec.group_by, part, keys)})
        GROUP BY grp, slot
        HAVING {HAS_EVENTS}
        LIMIT {MOST_ROWS + 1}
    """
    params = {**part.params, **bound_by(spec.group_by), "cuts": list(cuts)}
    found: dict[str, list[SpendingSlot]] = {}
    for group, slot, spent, _calls, first_at in rows_of(clickhouse, sql, params):
        found.setdefault(group, []).append(SpendingSlot(slot, spent or Decimal(0), first_at))
    return found


def calls_of(spec: Budget, start: int, stop: int) -> AggregateRows:
    """Returns the calls of a budget from `start` to `stop`, in microseconds."""
    columns, terms, _ = conditions_of(spec.filter)
    types = {"event_type": CALLS}
    named = tuple((types | dict(among(columns))).items())
    return AggregateRows(EVENTS, start, stop, among=named, terms=(*terms, IS_CALL))


def _aggregates(spec: Budget, period: BudgetPeriod, until: datetime) -> tuple[Aggregate, ...]:
    start, stop = to_us(period.starts_at), to_us(period.ends_at)
    began = to_us(until - LOOKBACKS[spec.period])
    calls = calls_of(spec, min(start, began), stop)
    own = _with(calls, Term(_FROM, str(start)))
    recent = _with(calls, Term(_FROM, str(began)), Term(_BEFORE, str(to_us(until))))
    return (
        Aggregate("sumIf", own, "cost_usd"),
        Aggregate("countIf", own),
        Aggregate("countIf", _with(own, IS_UNPRICED)),
        Aggregate("sumIf", recent, "cost_usd"),
        Aggregate("minOrNullIf", recent, "toUnixTimestamp64Micro(ts)"),
    )


def _with(rows: AggregateRows, *terms: Term) -> AggregateRows:
    return replace(rows, terms=(*rows.terms, *terms))


def _spending(
    spent: Decimal | None, calls: int, unpriced: int, recent: Decimal | None, since: int | None
) -> Spending:
    return Spending(
        spent or Decimal(0),
        calls,
        unpriced,
        recent or Decimal(0),
        None if since is None else from_us(since),
    )
