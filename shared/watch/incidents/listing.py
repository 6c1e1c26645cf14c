"""Lists and counts of incidents."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from shared.foundation.core.ids import parse_uuid
from shared.watch.incidents import rows
from shared.watch.incidents.models import Incident
from shared.watch.incidents.rules import OPEN_STATES, STATES, checked_state


@dataclass(frozen=True)
class IncidentFilter:
    """Incidents in one of `states`, of one of `alert_ids` (None: of any alert, or of none).

    Of resolved ones only those since `resolved_since`, if it is given.
    """

    states: Sequence[str] = OPEN_STATES
    alert_ids: Sequence[str] | None = None
    resolved_since: datetime | None = None


ALL = IncidentFilter(states=STATES)


def list_(
    session: Session, org_id: uuid.UUID, wanted: IncidentFilter, *, limit: int
) -> list[Incident]:
    """Lists the newest `limit` incidents, newest first; raises `Invalid` naming `state`."""
    query = select(Incident).where(*_conditions(org_id, wanted))
    newest_first = query.order_by(Incident.opened_at.desc(), Incident.id.desc())
    return list(session.scalars(newest_first.limit(limit)))


def count(session: Session, org_id: uuid.UUID, wanted: IncidentFilter) -> int:
    """Counts the incidents; raises `Invalid` naming `state`."""
    return session.scalar(select(func.count()).where(*_conditions(org_id, wanted))) or 0


def open_counts(session: Session, org_id: uuid.UUID) -> Mapping[uuid.UUID, int]:
    """Counts the open incidents of each alert; leaves out alerts without one."""
    query = (
        select(Incident.alert_id, func.count())
        .where(
            Incident.org_id == org_id,
            Incident.state != rows.RESOLVED,
            Incident.alert_id.is_not(None),
        )
        .group_by(Incident.alert_id)
    )
    return {alert_id: number for alert_id, number in session.execute(query) if alert_id is not None}


def _conditions(org_id: uuid.UUID, wanted: IncidentFilter) -> list[ColumnElement[bool]]:
    conditions = [Incident.org_id == org_id, Incident.state.in_(checked_state(wanted.states))]
    if set(wanted.states) <= set(OPEN_STATES):
        # Repeated, so that the index of open incidents can be used.
        conditions.append(Incident.state != rows.RESOLVED)
    if wanted.resolved_since is not None:
        is_open = Incident.state != rows.RESOLVED
        conditions.append(is_open | (Incident.resolved_at >= wanted.resolved_since))
    if wanted.alert_ids is not None:
        ids = [parsed for text in wanted.alert_ids if (parsed := parse_uuid(text)) is not None]
        conditions.append(Incident.alert_id.in_(ids))
    return conditions
