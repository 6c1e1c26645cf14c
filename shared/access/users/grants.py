"""Grants to members, and the check that the granter may give them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.access.permissions import STANDARD_SET, readable, require_known, require_may_grant
from shared.access.permissions.custom_sets import service as permission_sets
from shared.access.settings import reading as settings
from shared.access.users.members import effective_permissions
from shared.access.users.models import Membership
from shared.foundation.core.config import Settings


@dataclass(frozen=True)
class Grant:
    """The permissions (permission_set | added) - removed, with tokens as a caller sent them."""

    permission_set: str | None = None
    added: Sequence[str] = ()
    removed: Sequence[str] = ()


@dataclass(frozen=True)
class Granter:
    """The author of a grant: `name` for the mail, whether it is a key's, and the permissions.

    `permissions` is None for the operator at the server, who may grant everything, including
    `orgs:admin`.
    """

    name: str
    permissions: frozenset[str] | None
    is_key: bool = False


def worth(session: Session, org_id: uuid.UUID, grant: Grant) -> frozenset[str]:
    """Returns the effective permissions of a grant; locks its set until the transaction ends.

    Call it before locking a membership, because the deletion of a set locks the set first, too.
    Raises `Invalid` naming the field for a set or a token that does not exist.
    """
    require_known(grant.added, "permission_added")
    require_known(grant.removed, "permission_removed")
    of_set: Sequence[str] = ()
    if grant.permission_set is not None:
        of_set = permission_sets.chosen(session, org_id, grant.permission_set).permissions
    return effective_permissions(grant.permission_set, of_set, grant.added, grant.removed)


def assign(membership: Membership, grant: Grant, gained: frozenset[str], by: Granter) -> None:
    """Writes a grant into a membership, which gains the permissions `gained`.

    Raises `Forbidden` naming the first gained permission that the granter lacks.
    """
    if by.permissions is not None:
        require_may_grant(gained, by.permissions, "permission_added")
    membership.permission_set = grant.permission_set
    membership.permission_added = readable(grant.added)
    membership.permission_removed = readable(grant.removed)


def permissions_of(session: Session, membership: Membership) -> frozenset[str]:
    """Returns the permissions of a membership as it is now, even if it is disabled."""
    name, org_id = membership.permission_set, membership.org_id
    of_set = None if name is None else permission_sets.find(session, org_id, name)
    return effective_permissions(
        name,
        None if of_set is None else of_set.permissions,
        membership.permission_added,
        membership.permission_removed,
    )


def default_set(session: Session, config: Settings, org_id: uuid.UUID) -> permission_sets.SetRecord:
    """Returns the set of new members: the one in the settings, else `standard`.

    DEFAULT_USER_PERMISSIONS names one set for all organizations, and not every organization has it.
    """
    name = settings.value(session, config, org_id, "default_user_permissions")
    found = permission_sets.find(session, org_id, str(name))
    return found or permission_sets.get(session, org_id, STANDARD_SET)
