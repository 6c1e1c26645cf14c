"""Finds incidents, and locks one that is about to change."""

import uuid

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from shared.foundation.core.errors import Conflict
from shared.foundation.postgres.rows import require_row
from shared.watch.incidents.models import Incident

RESOLVED = "resolved"


def get(session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID) -> Incident:
    """Returns one incident; raises `NotFound`."""
    return _one(session, _of(org_id), incident_id)


def changeable(session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID) -> Incident:
    """Locks one incident until the transaction ends and returns its current state.

    Raises `NotFound`.

    Every change of an incident locks it first, so of two concurrent changes the second sees the
    first.
    """
    return _one(session, locking(_of(org_id)), incident_id)


def unresolved(session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID) -> Incident:
    """Does the same as `changeable`.

    Raises `Conflict` (`incident_resolved`) for a resolved incident.
    """
    incident = changeable(session, org_id, incident_id)
    if incident.state == RESOLVED:
        raise Conflict("the incident is already resolved", code="incident_resolved")
    return incident


def locking(query: Select[Incident]) -> Select[Incident]:
    """Returns the query with its rows locked and as they are after the wait.

    With `key_share`, rows that refer to the incident, such as notifications, can still be written.
    """
    return query.with_for_update(key_share=True).execution_options(populate_existing=True)


def _of(org_id: uuid.UUID) -> Select[Incident]:
    return select(Incident).where(Incident.org_id == org_id)


def _one(session: Session, query: Select[Incident], incident_id: str | uuid.UUID) -> Incident:
    return require_row(session, query, Incident.id, incident_id, "incident")
