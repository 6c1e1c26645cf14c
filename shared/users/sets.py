"""Permission sets and their members: counts them, and deletes sets."""

import uuid
from collections.abc import Mapping

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from shared.core.clock import now
from shared.core.config import Settings
from shared.core.errors import Conflict
from shared.permissions import custom_sets as permission_sets
from shared.users.grants import default_set
from shared.users.models import Membership


def active_by_set(session: Session, org_id: uuid.UUID) -> Mapping[str, int]:
    """Counts the active members of each set; leaves out sets without members."""
    query = (
        select(Membership.permission_set, func.count())
        .where(
            Membership.org_id == org_id,
            Membership.permission_set.is_not(None),
            Membership.disabled_at.is_(None),
        )
        .group_by(Membership.permission_set)
    )
    return {name: count for name, count in session.execute(query) if name is not None}


def delete_set(session: Session, config: Settings, org_id: uuid.UUID, name: str) -> int:
    """Deletes a set and takes it from its members, even disabled ones; returns their number.

    Run it in `cache.at_once`. Raises `NotFound`, `Conflict` for a built-in set and for the set of
    new members.
    """
    row = permission_sets.changeable(session, org_id, name)
    # Read after the set is locked: a change of the default holds the lock until it is committed.
    if name == default_set(session, config, org_id).name:
        raise Conflict(
            "this is the set of new members: choose another in default_user_permissions first",
            code="set_is_default",
        )
    session.delete(row)
    without = (
        update(Membership)
        .where(Membership.org_id == org_id, Membership.permission_set == name)
        .values(permission_set=None, updated_at=now())
        .returning(Membership.user_id)
    )
    return len(session.scalars(without).all())
