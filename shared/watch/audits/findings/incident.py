"""The incident of a finding: locks the finding when it opens, and resolves both together."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.foundation.core.actor import Actor
from shared.foundation.core.errors import NotFound
from shared.foundation.core.ids import parse_uuid
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.findings.models import Finding
from shared.watch.audits.findings.service import resolve_for_incident
from shared.watch.audits.lock import lock_findings
from shared.watch.incidents import service as incidents
from shared.watch.incidents.models import Incident


def hold(finding_id: uuid.UUID, session: Session, org_id: uuid.UUID) -> None:
    """Locks the organization's findings and this one; raises `NotFound`."""
    lock_findings(session, org_id)
    query = select(Finding.id).where(Finding.org_id == org_id, Finding.id == finding_id)
    if session.scalar(query.with_for_update(read=True, key_share=True)) is None:
        raise NotFound.named("finding", finding_id)


def resolve_with_finding(
    session: Session,
    runtime: Runtime,
    org_id: uuid.UUID,
    incident_id: str | uuid.UUID,
    actor: Actor,
) -> Incident:
    """Resolves an incident and its finding, if it has one. Announces `alert.resolved`.

    Raises the errors of `incidents.service.resolve`.
    """
    finding_id = _finding_of(session, org_id, incident_id)
    if finding_id is not None:
        # Every writer of findings locks them before it locks an incident. In the other order two
        # writers could deadlock.
        lock_findings(session, org_id)
    incident = incidents.resolve(session, runtime, org_id, incident_id, actor)
    if incident.source_finding_id is not None:
        resolve_for_incident(session, incident.source_finding_id, actor.name)
        session.flush()
    return incident


def _finding_of(
    session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID
) -> uuid.UUID | None:
    parsed = parse_uuid(incident_id) if isinstance(incident_id, str) else incident_id
    query = select(Incident.source_finding_id).where(
        Incident.org_id == org_id, Incident.id == parsed
    )
    return session.scalar(query)
