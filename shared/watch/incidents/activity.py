"""The history of an incident, one row after the other."""

import uuid
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from shared.foundation.core.clock import format_ts
from shared.watch.incidents.details import BreachDetail, BreachedDetail, Detail
from shared.watch.incidents.models import Incident, IncidentActivity

Kind = Literal[
    "opened",
    "acknowledged",
    "assigned",
    "commented",
    "comment_deleted",
    "subscribed",
    "unsubscribed",
    "breached",
    "resolved",
]

KINDS: tuple[Kind, ...] = get_args(Kind)

# An incident is read as a whole.
MOST_SHOWN = 2000


def record(
    session: Session,
    incident: Incident,
    kind: Kind,
    actor: str,
    at: datetime,
    detail: Detail | None = None,
) -> None:
    """Records an action of `actor`; the incident has to be locked."""
    session.add(
        IncidentActivity(
            org_id=incident.org_id,
            incident_id=incident.id,
            kind=kind,
            actor=actor,
            at=at,
            detail=dict(detail or {}),
        )
    )


def record_breach(
    session: Session, incident: Incident, actor: str, at: datetime, told: BreachDetail
) -> None:
    """Records one more breach; the incident has to be locked.

    Consecutive breaches of one actor share a row, with their `count`, the time of the first one
    (`since`) and the details of the last one (`told`). Otherwise an alert that is evaluated every
    30 s would bury the actions of people below thousands of rows a day.
    """
    last = session.scalars(_newest_first(incident.org_id, incident.id).limit(1)).one_or_none()
    if last is None or last.kind != "breached" or last.actor != actor:
        first: BreachedDetail = {"count": 1, "since": format_ts(at), **told}
        record(session, incident, "breached", actor, at, first)
        return
    counted = {"count": last.detail["count"] + 1, "since": last.detail["since"]}
    last.at, last.detail = at, {**counted, **told}


def has(session: Session, incident: Incident, kind: Kind, actor: str) -> bool:
    """Returns whether `actor` has done this to the incident before."""
    query = _newest_first(incident.org_id, incident.id).where(
        IncidentActivity.kind == kind, IncidentActivity.actor == actor
    )
    return session.scalar(query.limit(1)) is not None


def of_incident(
    session: Session, org_id: uuid.UUID, incident_id: uuid.UUID
) -> list[IncidentActivity]:
    """Lists the newest 2000 rows, oldest first."""
    newest = session.scalars(_newest_first(org_id, incident_id).limit(MOST_SHOWN))
    return list(newest)[::-1]


def _newest_first(org_id: uuid.UUID, incident_id: uuid.UUID) -> Select[IncidentActivity]:
    return (
        select(IncidentActivity)
        .where(IncidentActivity.org_id == org_id, IncidentActivity.incident_id == incident_id)
        .order_by(IncidentActivity.id.desc())
    )
