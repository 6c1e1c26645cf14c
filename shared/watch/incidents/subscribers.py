"""The subscribers of an incident, who get mail about it."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access.users.members import members_of
from shared.foundation.core.actor import Actor
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Invalid
from shared.foundation.postgres import present_time
from shared.watch.incidents import activity, rows
from shared.watch.incidents.models import Incident, IncidentSubscriber

Source = Literal["creator", "ack", "comment", "assigned", "manual"]


class Subscription(NamedTuple):
    """An address, and whether it is subscribed to an incident."""

    email: str
    subscribed: bool


def list_(
    session: Session, org_id: uuid.UUID, incident_id: str | uuid.UUID
) -> list[IncidentSubscriber]:
    """Lists the current subscribers, in the order of subscription; raises `NotFound`."""
    incident = rows.get(session, org_id, incident_id)
    query = _of(incident).where(IncidentSubscriber.unsubscribed_at.is_(None))
    oldest_first = query.order_by(IncidentSubscriber.subscribed_at, IncidentSubscriber.email)
    return list(session.scalars(oldest_first))


def subscribe(
    session: Session, org_id: uuid.UUID, incident_id: str, actor: Actor, email: str | None
) -> Subscription:
    """Subscribes an active member; without an address the actor.

    Raises `NotFound`, and `Invalid` naming `email` for any other address.
    """
    incident = rows.changeable(session, org_id, incident_id)
    address = _whom(actor, email)
    if address not in {member.email for member in members_of(session, org_id)}:
        raise Invalid.field("email", f"{address} is not an active member of the organization")
    at = present_time(session)
    if add(session, incident, [address], "manual", at):
        activity.record(session, incident, "subscribed", actor.name, at, {"email": address})
    return Subscription(address, subscribed=True)


def unsubscribe(
    session: Session, org_id: uuid.UUID, incident_id: str, actor: Actor, email: str | None
) -> Subscription:
    """Ends a subscription, without an address the actor's; does nothing if there is none.

    Raises `NotFound`, and `Invalid` naming `email`.
    """
    incident = rows.changeable(session, org_id, incident_id)
    address = _whom(actor, email)
    query = _of(incident).where(IncidentSubscriber.email == address)
    found = session.scalars(query).one_or_none()
    if found is not None and found.unsubscribed_at is None:
        found.unsubscribed_at = at = present_time(session)
        activity.record(session, incident, "unsubscribed", actor.name, at, {"email": address})
    return Subscription(address, subscribed=False)


def add_actor(
    session: Session, incident: Incident, actor: Actor, source: Source, at: datetime
) -> None:
    """Subscribes a person who acts; a key that acts for no person subscribes to nothing."""
    if actor.email is not None:
        add(session, incident, [actor.email], source, at)


def add(
    session: Session, incident: Incident, emails: Iterable[str], source: Source, at: datetime
) -> list[str]:
    """Subscribes new addresses and those that had unsubscribed; returns these addresses.

    Call it for people who act themselves or are assigned: actions of others do not subscribe
    anybody again. The incident has to be locked.
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
        raise Invalid.field("email", "is required for a key without an actor")
    return actor.email


def _of(incident: Incident) -> Select[IncidentSubscriber]:
    return select(IncidentSubscriber).where(
        IncidentSubscriber.org_id == incident.org_id,
        IncidentSubscriber.incident_id == incident.id,
    )
