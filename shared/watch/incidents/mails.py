"""Mail to the subscribers of an incident."""

from typing import Literal

from sqlalchemy.orm import Session

from shared.access.mail import Letter, enqueue_within_quota
from shared.access.users.members import members_of
from shared.foundation.core import pages
from shared.foundation.core.actor import Actor
from shared.foundation.deployment.runtime import Runtime
from shared.watch.incidents import subscribers
from shared.watch.incidents.models import Incident

Event = Literal["acknowledged", "assigned", "commented", "resolved"]


def tell(
    session: Session,
    runtime: Runtime,
    incident: Incident,
    event: Event,
    actor: Actor,
    note: str = "",
) -> None:
    """Mails every subscriber except the actor about an event; `note` adds a detail to it.

    The actor is recognised by address, since anyone may give a key the name of a person. Only
    members with `incidents:read` get the mail: it says nothing that they may not read. A person who
    has not taken an invitation up gets none. The organization's mails of a day bound all of them,
    because a member can comment any number of times.
    """
    subscribed = {one.email for one in subscribers.list_(session, incident.org_id, incident.id)}
    told = subscribed - {actor.email}
    for member in members_of(session, incident.org_id) if told else ():
        is_told = member.email in told and not member.is_pending
        if is_told and "incidents:read" in member.permissions:
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
            enqueue_within_quota(session, runtime.queue, runtime.settings, letter)
