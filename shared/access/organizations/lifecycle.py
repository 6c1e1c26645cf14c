"""Changes of an organization after its creation; run each of these in `cache.at_once`."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.access.organizations.models import Organization
from shared.access.organizations.rules import CANARY_ID, DEFAULT_SLUG, require_name, require_slug
from shared.access.organizations.service import slug_taken
from shared.foundation.core.errors import Conflict, NotFound
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import flush_unique


def require(session: Session, slug: str) -> Organization:
    """Returns an organization by slug.

    Raises `NotFound` for an unknown one, `Conflict` for a deleted.

    Locks it against deletion and renaming until the transaction ends.
    """
    found = _locked(session, slug)
    if found.deleted_at is not None:
        raise Conflict(f"the organization {slug!r} is deleted", code="org_deleted")
    return found


def require_deleted(session: Session, slug: str) -> Organization:
    """Returns a deleted organization by slug; raises `NotFound` or `Conflict`.

    Locks it against being restored until the transaction ends.
    """
    found = _locked(session, slug)
    if found.deleted_at is None:
        raise Conflict(f"the organization {slug!r} is not deleted", code="org_not_deleted")
    return found


def rename(
    session: Session, slug: str, *, name: str | None = None, new_slug: str | None = None
) -> Organization:
    """Changes the name, the slug, or both.

    Clients that name the slug in `X-Service-Org` must use the new one from then on. Raises
    `NotFound`, `Invalid` naming the field, and `Conflict` for a deleted organization, a slug that
    is taken, and the slug of the built-in organization.
    """
    organization = require(session, slug)
    before = fields_of(organization, "slug", "name")
    if name is not None:
        require_name(name)
        organization.name = name
    if new_slug is not None and new_slug != slug:
        require_slug(new_slug)
        if slug == DEFAULT_SLUG:
            raise Conflict(f"{slug!r} is built in and keeps its slug", code="builtin_org")
        organization.slug = new_slug
    flush_unique(session, {"uq_organizations_slug": slug_taken(str(new_slug))})
    after = fields_of(organization, "slug", "name")
    record(session, organization.id, "organization.rename", before=before, after=after)
    return organization


def delete(session: Session, slug: str) -> Organization:
    """Disables all keys and memberships of an organization; removes no data.

    Raises `NotFound`, and `Conflict` for a deleted organization and the built-in one.
    """
    if slug == DEFAULT_SLUG:
        raise Conflict(f"{slug!r} is built in and cannot be deleted", code="builtin_org")
    return _marked(session, require(session, slug), transaction_time(session))


def restore(session: Session, slug: str) -> Organization:
    """Undoes `delete`.

    Raises `NotFound`, and `Conflict` for an organization that is not deleted.
    """
    return _marked(session, require_deleted(session, slug), None)


def _marked(
    session: Session, organization: Organization, deleted_at: datetime | None
) -> Organization:
    organization.deleted_at = deleted_at
    action = "organization.restore" if deleted_at is None else "organization.delete"
    record(session, organization.id, action)
    return organization


def _locked(session: Session, slug: str) -> Organization:
    query = select(Organization).where(Organization.slug == slug, Organization.id != CANARY_ID)
    found = session.scalars(query.with_for_update(key_share=True)).one_or_none()
    if found is None:
        raise NotFound(f"there is no organization {slug!r}", code="org_not_found")
    return found
