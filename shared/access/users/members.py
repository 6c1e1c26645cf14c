"""Memberships for the authentication of requests, with their effective permissions."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session

from shared.access.organizations.models import Organization
from shared.access.permissions import BUILTIN_SETS, effective
from shared.access.permissions.custom_sets.models import PermissionSet
from shared.access.users.models import Membership, User


@dataclass(frozen=True)
class Member:
    """An active membership in an organization that is not deleted.

    `is_pending` and `signed_out_at` are those of `Membership`; `since` is its beginning.
    """

    user_id: uuid.UUID
    email: str
    org_id: uuid.UUID
    org_slug: str
    org_name: str
    permission_set: str | None
    permissions: frozenset[str]
    since: datetime
    is_pending: bool
    signed_out_at: datetime | None


def counted(members: Sequence[Member]) -> list[Member]:
    """Returns those of an account's memberships that decide about the account as a whole.

    An invitation that waits is none of them: whoever may invite could otherwise shorten a person's
    sessions in other organizations. While all wait, the oldest one counts.
    """
    taken_up = [one for one in members if not one.is_pending]
    return taken_up or sorted(members, key=lambda one: one.since)[:1]


def memberships_of(
    session: Session, *, user_id: uuid.UUID | None = None, email: str | None = None
) -> list[Member]:
    """Lists the active memberships of one account, by slug.

    Finds it by id or lower-case address.
    """
    whose = User.id == user_id if user_id is not None else User.email == email
    return _members(session, _active().where(whose).order_by(Organization.slug))


def members_of(session: Session, org_id: uuid.UUID) -> list[Member]:
    """Lists the active members of one organization, by address."""
    return _members(session, _active().where(Organization.id == org_id).order_by(User.email))


def effective_permissions(
    permission_set: str | None,
    custom: Iterable[str] | None,
    added: Iterable[str],
    removed: Iterable[str],
) -> frozenset[str]:
    """Returns (set | added) - removed; `custom` holds the tokens of an organization's own set."""
    builtin = BUILTIN_SETS.get(permission_set or "")
    of_set = builtin.permissions if builtin is not None else effective(custom or ())
    return (of_set | effective(added)) - effective(removed)


def _active() -> Select[Membership, User, Organization, PermissionSet]:
    return (
        select(Membership, User, Organization, PermissionSet)
        .join(User, User.id == Membership.user_id)
        .join(Organization, Organization.id == Membership.org_id)
        .outerjoin(
            PermissionSet,
            and_(
                PermissionSet.org_id == Membership.org_id,
                PermissionSet.name == Membership.permission_set,
            ),
        )
        .where(Membership.disabled_at.is_(None), Organization.deleted_at.is_(None))
    )


def _members(
    session: Session, query: Select[Membership, User, Organization, PermissionSet]
) -> list[Member]:
    return [
        Member(
            user_id=user.id,
            email=user.email,
            org_id=organization.id,
            org_slug=organization.slug,
            org_name=organization.name,
            permission_set=membership.permission_set,
            permissions=effective_permissions(
                membership.permission_set,
                None if custom is None else custom.permissions,
                membership.permission_added,
                membership.permission_removed,
            ),
            since=membership.created_at,
            is_pending=membership.is_pending,
            signed_out_at=membership.signed_out_at,
        )
        for membership, user, organization, custom in session.execute(query)
    ]
