"""Members as they are shown and managed, including disabled ones."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.access.permissions import readable
from shared.access.permissions.custom_sets.models import PermissionSet
from shared.access.users.members import effective_permissions
from shared.access.users.models import Membership, User


@dataclass(frozen=True)
class MemberRecord:
    """A member of one organization; `id` is the account's, the times are the membership's.

    `permissions` are the effective ones, sorted. A disabled member gets them back when enabled.
    """

    id: uuid.UUID
    email: str
    permissions: list[str]
    permission_set: str | None
    permission_added: list[str]
    permission_removed: list[str]
    disabled_at: datetime | None
    is_protected: bool
    created_at: datetime
    updated_at: datetime


def records(session: Session, org_id: uuid.UUID) -> list[MemberRecord]:
    """Lists every member of an organization, by address."""
    return [_record(*row) for row in session.execute(_members(org_id).order_by(User.email))]


def record(session: Session, org_id: uuid.UUID, user_id: uuid.UUID) -> MemberRecord | None:
    """Returns one member, None if the account is not a member of this organization."""
    row = session.execute(_members(org_id).where(User.id == user_id)).one_or_none()
    return None if row is None else _record(*row)


def log_change(
    session: Session,
    org_id: uuid.UUID,
    action: str,
    member: MemberRecord,
    before: MemberRecord | None = None,
    by: audit_log.Caller | None = None,
) -> MemberRecord:
    """Adds a line about a member to the audit log, and returns the member."""
    audit_log.record(
        session,
        org_id,
        action,
        target=member.id,
        name=member.email,
        before=None if before is None else _logged(before),
        after=_logged(member),
        by=by,
    )
    return member


def log_own_act(
    session: Session, org_id: uuid.UUID, action: str, user_id: uuid.UUID, email: str
) -> None:
    """Adds a line about a person as the person's own act, before the request has an identity."""
    by = replace(audit_log.current_caller(), kind="user", name=email, id=user_id)
    audit_log.record(session, org_id, action, target=user_id, name=email, by=by)


def _logged(member: MemberRecord) -> dict[str, object]:
    names = ("permission_set", "permission_added", "permission_removed", "is_protected")
    return audit_log.fields_of(member, *names, "disabled_at")


def _members(org_id: uuid.UUID) -> Select[Membership, User, PermissionSet]:
    of_own = and_(
        PermissionSet.org_id == Membership.org_id, PermissionSet.name == Membership.permission_set
    )
    return (
        select(Membership, User, PermissionSet)
        .join(User, User.id == Membership.user_id)
        .outerjoin(PermissionSet, of_own)
        .where(Membership.org_id == org_id)
    )


def _record(membership: Membership, user: User, custom: PermissionSet | None) -> MemberRecord:
    effective = effective_permissions(
        membership.permission_set,
        None if custom is None else custom.permissions,
        membership.permission_added,
        membership.permission_removed,
    )
    return MemberRecord(
        id=user.id,
        email=user.email,
        permissions=sorted(effective),
        permission_set=membership.permission_set,
        permission_added=readable(membership.permission_added),
        permission_removed=readable(membership.permission_removed),
        disabled_at=membership.disabled_at,
        is_protected=membership.is_protected,
        created_at=membership.created_at,
        updated_at=membership.updated_at,
    )
