"""Announces the levels that the groups of a budget reached, each once a period.

It runs in the transaction that records the evaluation, under the lock of the rule's state. So of
two workers one announces, and a killed one has announced and remembered, or neither.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts import groups
from shared.watch.alerts.evaluation.budgets.levels import FORECAST, Level, ToldLevels, due
from shared.watch.alerts.evaluation.budgets.models import BudgetLevel
from shared.watch.alerts.evaluation.budgets.wording import opening_of
from shared.watch.alerts.models import Alert
from shared.watch.alerts.periods import BudgetPeriod
from shared.watch.alerts.specs import Budget
from shared.watch.alerts.spending import BudgetReading
from shared.watch.incidents import service as incidents


class _News(NamedTuple):
    group: str
    levels: Sequence[Level]
    told: ToldLevels


def tell(
    session: Session,
    runtime: Runtime,
    alert: Alert,
    spec: Budget,
    reading: BudgetReading,
    *,
    open_groups: set[str],
    resting: set[str],
) -> None:
    """Opens or continues an incident for each level that is due, and announces it.

    `open_groups` have an open incident. Groups that are `resting` after a snooze are told nothing.
    Of a rule at most `MOST_OPEN` incidents are open; for other groups nothing is remembered, so
    they follow when there is room.
    """
    rows = _rows(session, alert, reading.period)
    news = []
    for group, spending in reading.groups.items():
        row = rows.get(group)
        told = ToldLevels() if row is None else ToldLevels(row.level, row.has_forecast)
        levels = due(spec, reading, spending, told) if group not in resting else ()
        if levels:
            news.append(_News(group, levels, told))
    places = groups.MOST_OPEN - len(open_groups)
    fresh = [one for one in news if one.group not in open_groups]
    unplaced = {one.group for one in fresh[max(places, 0) :]}
    for one in news:
        if one.group in unplaced:
            continue
        told = one.told
        for level in one.levels:
            opening = opening_of(alert, spec, reading, one.group, level, len(unplaced))
            incidents.open_incident(session, runtime, opening)
            told = told.and_then(level)
        _remember(session, alert, spec, reading, one.group, told, rows)


def told_in(session: Session, alert: Alert, period: BudgetPeriod) -> Mapping[str, Level]:
    """Returns the last level of the period that was announced, by group."""
    rows = _rows(session, alert, period)
    return {group: row.level or FORECAST for group, row in rows.items()}


def forget_earlier(session: Session, alert: Alert, reading: BudgetReading) -> None:
    """Removes what was announced in earlier periods, and of an earlier trigger."""
    is_of_alert = (BudgetLevel.org_id == alert.org_id) & (BudgetLevel.alert_id == alert.id)
    is_past = (BudgetLevel.starts_at < reading.period.starts_at) | (
        BudgetLevel.spec_revision != alert.spec_revision
    )
    session.execute(delete(BudgetLevel).where(is_of_alert, is_past))


def _rows(session: Session, alert: Alert, period: BudgetPeriod) -> dict[str, BudgetLevel]:
    query = select(BudgetLevel).where(
        BudgetLevel.org_id == alert.org_id,
        BudgetLevel.alert_id == alert.id,
        BudgetLevel.spec_revision == alert.spec_revision,
        BudgetLevel.starts_at == period.starts_at,
    )
    return {row.group_value: row for row in session.scalars(query)}


def _remember(
    session: Session,
    alert: Alert,
    spec: Budget,
    reading: BudgetReading,
    group: str,
    told: ToldLevels,
    rows: Mapping[str, BudgetLevel],
) -> None:
    row = rows.get(group)
    if row is None:
        row = BudgetLevel(
            org_id=alert.org_id,
            alert_id=alert.id,
            spec_revision=alert.spec_revision,
            starts_at=reading.period.starts_at,
            group_value=group,
            group_field=spec.group_by,
        )
        session.add(row)
    row.level, row.has_forecast = told.level, told.has_forecast
    session.flush()
