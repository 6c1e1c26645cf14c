"""What a member is given, by whom, and whether that one may give it."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared import settings
from shared.core.config import Settings
from shared.permissions import STANDARD_SET, readable, require_known, require_may_grant
from shared.permissions import custom_sets as permission_sets
from shared.users.members import effective_permissions
from shared.users.models import Membership


@dataclass(frozen=True)
class Grant:
    """(permission_set | added) - removed, with tokens as a caller sent them."""

    permission_set: str | None = None
    added: Sequence[str] = ()
    removed: Sequence[str] = ()


@dataclass(frozen=True)
class Granter:
    """Who changes a member: `name` for the mail, and what it holds.

    `permissions` None is the operator at the server, who may grant everything, `orgs:admin` too.
    """

    name: str
    permissions: frozenset[str] | None


def worth(session: Session, org_id: uuid.UUID, grant: Grant) -> frozenset[str]:
    """The effective permissions that a grant would give; its set stays until the transaction ends.

    Call it before locking a membership: whoever deletes a set locks the set first, too. Raises
    `Invalid` naming the field for a set or a token that does not exist.
    """
    require_known(grant.added, "permission_added")
    require_known(grant.removed, "permission_removed")
    of_set: Sequence[str] = ()
    if grant.permission_set is not None:
        of_set = permission_sets.chosen(session, org_id, grant.permission_set).permissions
    return effective_permissions(grant.permission_set, of_set, grant.added, grant.removed)


def assign(membership: Membership, grant: Grant, gained: frozenset[str], by: Granter) -> None:
    """Writes a grant into a membership that gains these permissions by it.

    Raises `Forbidden` naming the first permission that is gained and that the granter lacks.
    """
    if by.permissions is not None:
        require_may_grant(gained, by.permissions, "permission_added")
    membership.permission_set = grant.permission_set
    membership.permission_added = readable(grant.added)
    membership.permission_removed = readable(grant.removed)


def permissions_of(session: Session, membership: Membership) -> frozenset[str]:
    """What a membership is worth as it stands, be it disabled."""
    name, org_id = membership.permission_set, membership.org_id
    of_set = None if name is None else permission_sets.find(session, org_id, name)
    return effective_permissions(
        name,
        None if of_set is None else of_set.permissions,
        membership.permission_added,
        membership.permission_removed,
    )


def default_set(session: Session, config: Settings, org_id: uuid.UUID) -> permission_sets.SetRecord:
    """The set of new members: the one that the setting names, `standard` where there is none such.

    DEFAULT_USER_PERMISSIONS is one name for all organizations, and not each of them has that set.
    """
    name = settings.value(session, config, org_id, "default_user_permissions")
    found = permission_sets.find(session, org_id, str(name))
    return found or permission_sets.get(session, org_id, STANDARD_SET)
