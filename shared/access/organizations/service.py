"""Organizations: creates, lists and finds them, and locks them while rows are written."""

import uuid
from collections.abc import Iterable

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from shared.access.organizations.models import Organization
from shared.access.organizations.rules import CANARY_ID, CANARY_SLUG, require_name, require_slug
from shared.foundation.core.errors import Conflict, Unavailable
from shared.foundation.postgres.rows import flush_unique

_SHOWN = Organization.id != CANARY_ID
# An insert takes a worker seconds; a statement may take 30.
_PATIENCE_SECS = 25
_LOCK_NOT_AVAILABLE = "55P03"


def create(session: Session, slug: str, name: str | None = None) -> Organization:
    """Creates an organization; without a name it is named like its slug.

    Raises `Invalid` for a bad slug or name, `Conflict` if the slug is taken, even by a deleted
    organization.
    """
    require_slug(slug)
    require_name(slug if name is None else name)
    organization = Organization(slug=slug, name=slug if name is None else name)
    session.add(organization)
    flush_unique(session, {"uq_organizations_slug": slug_taken(slug)})
    return organization


def slug_taken(slug: str) -> Conflict:
    """Returns the error for a slug that is taken, even by a deleted organization."""
    return Conflict(f"the slug {slug!r} is taken: choose another one", code="slug_taken")


def hold(session: Session, org_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Locks the organizations until the transaction ends.

    Returns those that exist, even if deleted.

    Code that writes rows of an organization into ClickHouse, where no foreign key can refuse them,
    runs inside such a transaction and skips organizations that are not returned. A purge waits for
    this transaction before it deletes for the last time (`shared.upkeep.purge`). Raises
    `Unavailable` if a purge does not end within 30 s.
    """
    query = (
        select(Organization.id)
        .where(Organization.id.in_(list(org_ids)))
        .order_by(Organization.id)
        .with_for_update(read=True, key_share=True)
    )
    return set(session.scalars(query))


def ensure_canary(session: Session) -> None:
    """Creates the canary's organization if it is missing. No function below returns it."""
    row = {"id": CANARY_ID, "slug": CANARY_SLUG, "name": CANARY_SLUG}
    session.execute(insert(Organization).values(row).on_conflict_do_nothing())


def hold_alone(session: Session, org_id: uuid.UUID) -> None:
    """Waits for all who hold the organization; locks out others until the transaction ends.

    Raises `Unavailable` if a transaction holds it for longer than 25 s.
    """
    session.execute(text(f"SET LOCAL lock_timeout = '{_PATIENCE_SECS}s'"))
    query = select(Organization.id).where(Organization.id == org_id).with_for_update()
    try:
        session.execute(query)
    except OperationalError as error:
        if getattr(error.orig, "pgcode", None) != _LOCK_NOT_AVAILABLE:
            raise
        raise Unavailable("data of the organization is still being stored: try again") from error


def all_live(session: Session) -> list[Organization]:
    """Lists every organization that is not deleted, by slug."""
    query = select(Organization).where(Organization.deleted_at.is_(None), _SHOWN)
    return list(session.scalars(query.order_by(Organization.slug)))


def list_(session: Session) -> list[Organization]:
    """Lists every organization, including deleted ones, by slug."""
    return list(session.scalars(select(Organization).where(_SHOWN).order_by(Organization.slug)))


def get(session: Session, slug: str) -> Organization | None:
    """Finds an organization by slug; returns None for an unknown or deleted one."""
    query = select(Organization).where(
        Organization.slug == slug, Organization.deleted_at.is_(None), _SHOWN
    )
    return session.scalars(query).one_or_none()
