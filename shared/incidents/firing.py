"""Opening and resolving incidents so that their channels hear of it: the way for all callers."""

import uuid

from sqlalchemy.orm import Session

from shared.deployment.runtime import Runtime
from shared.incidents import service as incidents
from shared.incidents.deliveries.service import announce
from shared.incidents.models import Incident
from shared.incidents.opening import Opening
from shared.incidents.service import Opened

__all__ = ["Opened", "fire", "resolve"]


def fire(session: Session, runtime: Runtime, opening: Opening) -> Opened:
    """Opens an incident and announces `alert.firing` to the opening's channels.

    A breach that is folded into an open incident is not announced again. Raises `NotFound` when
    the alert or finding is gone.
    """
    opened = incidents.open_or_fold(session, opening)
    if opened.newly_opened:
        announce(session, runtime, opened.incident, "alert.firing")
    return opened


def resolve(
    session: Session,
    runtime: Runtime,
    org_id: uuid.UUID,
    incident_id: str | uuid.UUID,
    by: str,
    *,
    by_email: str | None = None,
) -> Incident:
    """Resolves an incident and announces `alert.resolved` to its channels.

    `by`: an address, the name of a key, or `system`. `by_email`: the address of the person who does
    it and gets no mail about it. The finding that it came from stays as it is:
    `resolve_with_finding` in `shared.audits.findings.incident` resolves both. Raises `NotFound`,
    and `Conflict` (`incident_resolved`) for one that is resolved already.
    """
    incident = incidents.resolve(session, runtime.queue, org_id, incident_id, by, by_email=by_email)
    announce(session, runtime, incident, "alert.resolved")
    return incident
