"""People take up an incident: they acknowledge it and are assigned to it."""

import uuid
from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared.access.users.members import members_of
from shared.foundation.core.actor import Actor
from shared.foundation.core.errors import Invalid
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import present_time
from shared.watch.incidents import activity, mails, rows, subscribers
from shared.watch.incidents.details import AssignedDetail
from shared.watch.incidents.models import Incident
from shared.watch.incidents.rules import checked_assignees


def acknowledge(
    session: Session, runtime: Runtime, org_id: uuid.UUID, incident_id: str, actor: Actor
) -> Incident:
    """Records that somebody has seen it, subscribes the actor and mails the other subscribers.

    The incident keeps the time and the name of the first acknowledgement. An actor who has
    acknowledged it before is only subscribed. Raises `NotFound`, and `Conflict`
    (`incident_resolved`).
    """
    incident = rows.unresolved(session, org_id, incident_id)
    at = present_time(session)
    subscribers.add_actor(session, incident, actor, "ack", at)
    if incident.state == "firing":
        incident.state, incident.acknowledged_at = "acknowledged", at
        incident.acknowledged_by = actor.name
    elif activity.has(session, incident, "acknowledged", actor.name):
        return incident
    activity.record(session, incident, "acknowledged", actor.name, at)
    mails.tell(session, runtime, incident, "acknowledged", actor)
    return incident


def assign(
    session: Session,
    runtime: Runtime,
    org_id: uuid.UUID,
    incident_id: str,
    actor: Actor,
    emails: Sequence[str] | None,
    *,
    field: str = "assignees",
) -> Incident:
    """Replaces the assignees; the same list again changes nothing.

    Subscribes new assignees. Raises `NotFound`, `Conflict` (`incident_resolved`), and `Invalid`
    naming `field` if `emails` is None or contains an address that is not an active member's.
    """
    incident = rows.unresolved(session, org_id, incident_id)
    if emails is None:
        raise Invalid.field(field, "is required")
    members = {member.email for member in members_of(session, org_id)}
    assignees = checked_assignees(field, emails, members)
    before = incident.assignees
    if assignees == before:
        return incident
    incident.assignees, at = assignees, present_time(session)
    added = [email for email in assignees if email not in before]
    subscribers.add(session, incident, added, "assigned", at)
    detail: AssignedDetail = {"assignees": assignees, "before": before}
    activity.record(session, incident, "assigned", actor.name, at, detail)
    told = ", ".join(assignees)
    mails.tell(session, runtime, incident, "assigned", actor, told)
    return incident
