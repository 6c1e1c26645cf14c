"""Lists the budgets of an organization with what their groups have spent."""

import hashlib
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.foundation.cache.answers import remembered
from shared.foundation.core.clock import now
from shared.foundation.core.errors import QueryTimeout
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts import groups
from shared.watch.alerts.evaluation.budgets import telling
from shared.watch.alerts.evaluation.budgets.levels import Level, amount_of
from shared.watch.alerts.evaluation.triggers.budget import read_spending
from shared.watch.alerts.evaluation.triggers.interface import TooMuch
from shared.watch.alerts.models import Alert
from shared.watch.alerts.periods import LOOKBACKS, BudgetPeriod, period_of
from shared.watch.alerts.specs import Budget, spec_of
from shared.watch.alerts.spending import Spending, projected
from shared.watch.incidents.models import Incident

FRESH = timedelta(seconds=60)
# The groups of an alert with the highest spending.
MOST_GROUPS = 20


class BudgetSpending(NamedTuple):
    """The spending of a group of a budget in the running period; amounts are dollars.

    `level` is the last one that was announced in the period. `exhausted_at` is when the amount will
    be spent, None if that is not before the end, is past, or cannot be told.
    """

    alert_id: uuid.UUID
    name: str
    enabled: bool
    period: str
    starts_at: datetime
    ends_at: datetime
    amount_usd: float
    group: dict[str, str | None] | None
    spent_usd: float
    share: float
    level: Level | None
    forecast_usd: float | None
    exhausted_at: datetime | None
    unpriced_calls: int
    incident_id: uuid.UUID | None


def list_(runtime: Runtime, org_id: str) -> list[BudgetSpending]:
    """Lists the budgets, the highest share first, at most 60 s old.

    A changed alert is seen at once. Raises `Unavailable`, and `QueryTimeout` if the calls of a
    budget take too long to add up.
    """
    with runtime.postgres.transaction() as session:
        alerts = _budgets(session, uuid.UUID(org_id))
    parts = [f"{one.id} {one.revision} {one.enabled} {one.name}" for one in alerts]
    mark = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return remembered(
        runtime.redis,
        f"budgets:{org_id}:{mark}",
        list[BudgetSpending],
        FRESH,
        lambda: _read(runtime, org_id, alerts),
    )


def _read(runtime: Runtime, org_id: str, alerts: Sequence[Alert]) -> list[BudgetSpending]:
    until, rows = now(), list[BudgetSpending]()
    for alert in alerts:
        spec = spec_of(alert.trigger_kind, alert.trigger_spec)
        if not isinstance(spec, Budget):
            continue
        period = period_of(spec.period, spec.tz, until)
        try:
            found = read_spending(runtime.clickhouse, org_id, spec, period, until)
        except TooMuch as error:
            raise QueryTimeout(f"the budget {alert.name!r}: {error.reason}") from error
        if not found and spec.group_by is None:
            found = {"": Spending()}
        highest = dict(list(found.items())[:MOST_GROUPS])
        rows.extend(_rows(runtime, alert, spec, period, until, highest))
    return sorted(rows, key=lambda row: (-row.share, row.name, str(row.group)))


def _rows(
    runtime: Runtime,
    alert: Alert,
    spec: Budget,
    period: BudgetPeriod,
    until: datetime,
    found: dict[str, Spending],
) -> list[BudgetSpending]:
    with runtime.postgres.transaction() as session:
        levels = telling.told_in(session, alert, period)
        incidents = _open_incidents(session, alert, spec.group_by)
    amount, rows = amount_of(spec), []
    for group, spending in found.items():
        made = projected(spending, amount, period, LOOKBACKS[spec.period], until)
        rows.append(
            BudgetSpending(
                alert_id=alert.id,
                name=alert.name,
                enabled=alert.enabled,
                period=spec.period,
                starts_at=period.starts_at,
                ends_at=period.ends_at,
                amount_usd=spec.amount_usd,
                group=groups.named(spec.group_by, group) if spec.group_by else None,
                spent_usd=float(spending.spent),
                share=float(spending.spent / amount),
                level=levels.get(group),
                forecast_usd=None if made.forecast is None else float(made.forecast),
                exhausted_at=made.exhausted_at,
                unpriced_calls=spending.unpriced_calls,
                incident_id=incidents.get(group),
            )
        )
    return rows


def _budgets(session: Session, org_id: uuid.UUID) -> list[Alert]:
    query = select(Alert).where(Alert.org_id == org_id, Alert.trigger_kind == "budget")
    found = list(session.scalars(query.order_by(Alert.id)))
    session.expunge_all()
    return found


def _open_incidents(session: Session, alert: Alert, field: str | None) -> dict[str, uuid.UUID]:
    query = select(Incident.breach_group, Incident.id).where(
        Incident.org_id == alert.org_id,
        Incident.alert_id == alert.id,
        Incident.state != "resolved",
    )
    return {
        groups.value_in(group): incident_id
        for group, incident_id in session.execute(query)
        if (group is None if field is None else field in (group or {}))
    }
