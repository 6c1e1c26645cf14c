"""Organizations: make them, list them, find them, and keep them while something is written."""

import uuid
from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.core.errors import Conflict
from shared.organizations.models import Organization
from shared.organizations.rules import require_name, require_slug


def create(session: Session, slug: str, name: str | None = None) -> Organization:
    """A new organization, named like its slug unless told otherwise.

    Raises `Invalid` for a bad slug or name, `Conflict` when the slug is taken, be it by a deleted
    organization.
    """
    require_slug(slug)
    require_name(slug if name is None else name)
    organization = Organization(slug=slug, name=slug if name is None else name)
    session.add(organization)
    try:
        session.flush()
    except IntegrityError:
        raise slug_taken(slug) from None
    return organization


def slug_taken(slug: str) -> Conflict:
    """Two organizations cannot have one slug, be the other one deleted."""
    return Conflict(f"there is an organization {slug!r} already", code="slug_taken")


def hold(session: Session, org_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Those of the organizations that exist, deleted ones too, until the transaction ends.

    Whoever writes rows of an organization where no foreign key can refuse them, into ClickHouse,
    does it inside such a transaction and leaves out what is not returned: a purge waits for it
    before it looks for the last time (`shared.upkeep.purge`). Raises `Unavailable` when a purge
    does not end within 30 s.
    """
    query = (
        select(Organization.id)
        .where(Organization.id.in_(list(org_ids)))
        .order_by(Organization.id)
        .with_for_update(read=True, key_share=True)
    )
    return set(session.scalars(query))


def all_live(session: Session) -> list[Organization]:
    """Every organization that is not deleted, by slug."""
    query = (
        select(Organization).where(Organization.deleted_at.is_(None)).order_by(Organization.slug)
    )
    return list(session.scalars(query))


def every(session: Session) -> list[Organization]:
    """Every organization, deleted ones too, by slug."""
    return list(session.scalars(select(Organization).order_by(Organization.slug)))


def find(session: Session, slug: str) -> Organization | None:
    """The organization of a slug, None for an unknown or deleted one."""
    query = select(Organization).where(Organization.slug == slug, Organization.deleted_at.is_(None))
    return session.scalars(query).one_or_none()
