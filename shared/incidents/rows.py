"""Finding incidents, and taking hold of one that is about to change."""

import uuid
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.core.errors import Conflict, NotFound
from shared.core.ids import parse_uuid
from shared.incidents.models import Incident

RESOLVED = "resolved"


def get(session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID) -> Incident:
    """One incident; raises `NotFound`."""
    return _one(session, _of(org_id), incident_id)


def changeable(session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID) -> Incident:
    """One incident as it is now, locked until the transaction ends; raises `NotFound`.

    Whatever is said or done about an incident locks it first: of two that do the same at once, the
    second sees what the first did.
    """
    return _one(session, locking(_of(org_id)), incident_id)


def unresolved(session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID) -> Incident:
    """As `changeable`; raises `Conflict` (`incident_resolved`) for one that is resolved, too."""
    incident = changeable(session, org_id, incident_id)
    if incident.state == RESOLVED:
        raise Conflict("the incident is resolved already", code="incident_resolved")
    return incident


def locking(query: Select[Incident]) -> Select[Incident]:
    """The query with its rows locked and as they are after the wait.

    `key_share`: rows that refer to the incident, such as notifications, can be written meanwhile.
    """
    return query.with_for_update(key_share=True).execution_options(populate_existing=True)


def now(session: Session) -> datetime:
    """By PostgreSQL's clock; a transaction's own time may be before that of who held its lock."""
    moment: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return moment


def _of(org_id: uuid.UUID) -> Select[Incident]:
    return select(Incident).where(Incident.org_id == org_id)


def _one(session: Session, query: Select[Incident], incident_id: str | uuid.UUID) -> Incident:
    parsed = parse_uuid(incident_id) if isinstance(incident_id, str) else incident_id
    found = None
    if parsed is not None:
        found = session.scalars(query.where(Incident.id == parsed)).one_or_none()
    if found is None:
        raise NotFound("there is no such incident")
    return found
