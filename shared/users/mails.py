"""The mail to a member whose permissions change."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.mail import Letter, enqueue
from shared.organizations import Organization
from shared.queue import Queue
from shared.users.grants import Granter


def tell(
    session: Session,
    queue: Queue,
    org_id: uuid.UUID,
    email: str,
    before: frozenset[str],
    after: frozenset[str],
    by: Granter,
) -> None:
    """Mails a member the difference, if there is one."""
    if before == after:
        return
    context = {
        "org_name": name_of(session, org_id),
        "changed_by": by.name,
        "permissions": sorted(after),
        "gained": sorted(after - before),
        "lost": sorted(before - after),
    }
    enqueue(session, queue, Letter("permissions_changed", email, org_id, context))


def name_of(session: Session, org_id: uuid.UUID) -> str:
    """Returns the name of an organization as mails show it."""
    return session.scalars(select(Organization.name).where(Organization.id == org_id)).one()
