"""Opens and resolves incidents, and announces both to the incident's channels."""

import uuid

from sqlalchemy.orm import Session

from shared.foundation.core.actor import Actor
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import present_time
from shared.watch.incidents import activity, folding, mails, rows
from shared.watch.incidents.deliveries.service import announce
from shared.watch.incidents.folding import OpenedIncident
from shared.watch.incidents.models import Incident
from shared.watch.incidents.opening import Opening


def open_incident(session: Session, runtime: Runtime, opening: Opening) -> OpenedIncident:
    """Opens an incident and announces `alert.firing` to the opening's channels.

    A breach that is folded into an open incident is not announced again, except a level of a
    budget. Raises `NotFound` if the alert or finding is gone.
    """
    opened = folding.open_or_fold(session, opening)
    if opened.newly_opened or opening.level is not None:
        announce(session, runtime, opened.incident, "alert.firing")
    return opened


def resolve(
    session: Session,
    runtime: Runtime,
    org_id: uuid.UUID,
    incident_id: str | uuid.UUID,
    actor: Actor,
) -> Incident:
    """Resolves an incident and announces `alert.resolved` to its channels.

    The actor gets no mail about it. The finding that it came from stays unchanged:
    `resolve_with_finding` in `shared.watch.audits.findings.incident` resolves both. Raises
    `NotFound`, and `Conflict` (`incident_resolved`) for an incident that is already resolved.
    """
    incident = rows.unresolved(session, org_id, incident_id)
    incident.resolved_at = at = present_time(session)
    incident.state, incident.resolved_by = rows.RESOLVED, actor.name
    activity.record(session, incident, "resolved", actor.name, at)
    mails.tell(session, runtime, incident, "resolved", actor)
    session.flush()
    announce(session, runtime, incident, "alert.resolved")
    return incident
