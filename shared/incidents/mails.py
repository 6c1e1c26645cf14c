"""Mail to those who are subscribed to an incident."""

from typing import Literal

from sqlalchemy.orm import Session

from shared.incidents import subscribers
from shared.incidents.models import Incident
from shared.mail import Letter, enqueue
from shared.queue import Queue
from shared.users.members import members_of

Event = Literal["acknowledged", "assigned", "commented", "resolved"]


def tell(
    session: Session,
    queue: Queue,
    incident: Incident,
    event: Event,
    actor: str,
    note: str = "",
    *,
    actor_email: str | None,
) -> None:
    """Mails every subscriber but the actor what happened; `note` is what there is to add to it.

    `actor` is the name that the mail tells, and anybody may name a key like a person: whom to leave
    out is `actor_email`, None for a key and for `system`. Only to active members that may read
    incidents: what somebody may no longer read is not mailed to them either.
    """
    subscribed = {one.email for one in subscribers.listing(session, incident.org_id, incident.id)}
    told = subscribed - {actor_email}
    for member in members_of(session, incident.org_id) if told else ():
        if member.email in told and "incidents:read" in member.permissions:
            context = {
                "org_name": member.org_name,
                "incident_id": str(incident.id),
                "title": incident.title,
                "severity": incident.alert_severity,
                "event": event,
                "actor": actor,
                "note": note,
            }
            letter = Letter("incident_activity", member.email, incident.org_id, context)
            enqueue(session, queue, letter)
