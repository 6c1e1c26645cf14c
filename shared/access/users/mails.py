"""The mail to a member whose permissions change."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access.mail import Letter, enqueue_within_quota
from shared.access.organizations import Organization
from shared.access.users.grants import Granter
from shared.foundation.core.config import Settings
from shared.foundation.queue import Queue


def tell(
    session: Session,
    queue: Queue,
    config: Settings,
    org_id: uuid.UUID,
    email: str,
    before: frozenset[str],
    after: frozenset[str],
    by: Granter,
) -> None:
    """Mails a member the difference, if there is one and the day's mails are not used up."""
    if before == after:
        return
    context = {
        "org_name": name_of(session, org_id),
        "changed_by": by.name,
        "permissions": sorted(after),
        "gained": sorted(after - before),
        "lost": sorted(before - after),
    }
    letter = Letter("permissions_changed", email, org_id, context)
    enqueue_within_quota(session, queue, config, letter)


def name_of(session: Session, org_id: uuid.UUID) -> str:
    """Returns the name of an organization as mails show it."""
    return session.scalars(select(Organization.name).where(Organization.id == org_id)).one()
