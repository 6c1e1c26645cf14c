"""Who hears how an incident goes on."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.core.actor import Actor
from shared.core.email_address import normal_address
from shared.core.errors import Invalid
from shared.incidents import activity, rows
from shared.incidents.models import Incident, IncidentSubscriber
from shared.users.members import members_of

Source = Literal["creator", "ack", "comment", "assigned", "manual"]


class Subscription(NamedTuple):
    """Whether an address hears of an incident."""

    email: str
    subscribed: bool


def list_(
    session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID
) -> list[IncidentSubscriber]:
    """Who is subscribed now, the first one first; raises `NotFound`."""
    incident = rows.get(session, org_id, incident_id)
    query = _of(incident).where(IncidentSubscriber.unsubscribed_at.is_(None))
    lock_until_commit = query.order_by(IncidentSubscriber.subscribed_at, IncidentSubscriber.email)
    return list(session.scalars(lock_until_commit))


def subscribe(
    session: Session, org_id: uuid.UUID, incident_id: str, actor: Actor, email: str | None
) -> Subscription:
    """Subscribes an active member, the actor where no address is named.

    Raises `NotFound`, and `Invalid` naming `email` for anybody else.
    """
    incident = rows.changeable(session, org_id, incident_id)
    address = _whom(actor, email)
    if address not in {member.email for member in members_of(session, org_id)}:
        raise Invalid.field("email", f"{address} is no active member of the organization")
    at = rows.now(session)
    if add(session, incident, [address], "manual", at):
        activity.record(session, incident, "subscribed", actor.name, at, {"email": address})
    return Subscription(address, subscribed=True)


def unsubscribe(
    session: Session, org_id: uuid.UUID, incident_id: str, actor: Actor, email: str | None
) -> Subscription:
    """Ends a subscription, the actor's where no address is named; without one nothing changes.

    Raises `NotFound`, and `Invalid` naming `email`.
    """
    incident = rows.changeable(session, org_id, incident_id)
    address = _whom(actor, email)
    query = _of(incident).where(IncidentSubscriber.email == address)
    found = session.scalars(query).one_or_none()
    if found is not None and found.unsubscribed_at is None:
        found.unsubscribed_at = at = rows.now(session)
        activity.record(session, incident, "unsubscribed", actor.name, at, {"email": address})
    return Subscription(address, subscribed=False)


def add(
    session: Session, incident: Incident, emails: Iterable[str], source: Source, at: datetime
) -> list[str]:
    """Subscribes those who are not yet, also who had unsubscribed; returns their addresses.

    To be called for those who act themselves or are assigned: what others do brings nobody back.
    The incident has to be locked.
    """
    values = [
        {
            "org_id": incident.org_id,
            "incident_id": incident.id,
            "email": email,
            "source": source,
            "subscribed_at": at,
        }
        for email in emails
    ]
    if not values:
        return []
    statement = insert(IncidentSubscriber).values(values)
    back = {"source": source, "subscribed_at": at, "unsubscribed_at": None}
    statement = statement.on_conflict_do_update(
        index_elements=["org_id", "incident_id", "email"],
        set_=back,
        where=IncidentSubscriber.unsubscribed_at.is_not(None),
    )
    return list(session.scalars(statement.returning(IncidentSubscriber.email)))


def _whom(actor: Actor, email: str | None) -> str:
    if email is not None:
        return normal_address(email)
    if actor.email is None:
        raise Invalid.field("email", "is needed from a key that acts for nobody")
    return actor.email


def _of(incident: Incident) -> Select[IncidentSubscriber]:
    return select(IncidentSubscriber).where(
        IncidentSubscriber.org_id == incident.org_id,
        IncidentSubscriber.incident_id == incident.id,
    )
