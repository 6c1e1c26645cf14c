"""Mail to the subscribers of an incident."""

from typing import Literal

from sqlalchemy.orm import Session

from shared.core import pages
from shared.core.actor import Actor
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
    actor: Actor,
    note: str = "",
) -> None:
    """Mails every subscriber except the actor about an event; `note` adds a detail to it.

    The actor is recognised by address, since anyone may give a key the name of a person. Only
    active members with `incidents:read` get the mail: it says nothing that they may not read.
    """
    subscribed = {one.email for one in subscribers.list_(session, incident.org_id, incident.id)}
    told = subscribed - {actor.email}
    for member in members_of(session, incident.org_id) if told else ():
        if member.email in told and "incidents:read" in member.permissions:
            context = {
                "org_name": member.org_name,
                "incident_id": str(incident.id),
                "page": pages.incident(member.org_slug, incident.id),
                "title": incident.title,
                "severity": incident.alert_severity,
                "event": event,
                "actor": actor.name,
                "note": note,
            }
            letter = Letter("incident_activity", member.email, incident.org_id, context)
            enqueue(session, queue, letter)
