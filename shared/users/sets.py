"""Permission sets and their members: counts members, and changes and deletes sets."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from shared.core.clock import now
from shared.core.config import Settings
from shared.core.errors import Conflict
from shared.permissions import custom_sets as permission_sets
from shared.permissions.custom_sets import SetRecord
from shared.queue import Queue
from shared.users import mails
from shared.users.grants import Granter, default_set
from shared.users.members import members_of
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


def replace_set(
    session: Session,
    queue: Queue,
    org_id: uuid.UUID,
    name: str,
    by: Granter,
    *,
    description: str | None,
    permissions: Sequence[str] | None,
) -> SetRecord:
    """Replaces the arguments that are not None, and mails members whose permissions change.

    Run it in `cache.at_once`. Raises as `custom_sets.replace` does.
    """
    with _mailing_members(session, queue, org_id, name, by):
        return permission_sets.replace(
            session,
            org_id,
            name,
            description=description,
            permissions=permissions,
            granter=by.permissions or frozenset(),
        )


def delete_set(
    session: Session, queue: Queue, config: Settings, org_id: uuid.UUID, name: str, by: Granter
) -> int:
    """Deletes a set and takes it from its members, even disabled ones; returns their number.

    Active members whose permissions change get a mail. Run it in `cache.at_once`. Raises
    `NotFound`, `Conflict` for a built-in set and for the set of new members.
    """
    with _mailing_members(session, queue, org_id, name, by):
        return _delete(session, config, org_id, name)


@contextmanager
def _mailing_members(
    session: Session, queue: Queue, org_id: uuid.UUID, name: str, by: Granter
) -> Iterator[None]:
    """Compares the permissions of the set's active members before and after the block."""
    permission_sets.changeable(session, org_id, name)
    before = {one.email: one for one in members_of(session, org_id) if one.permission_set == name}
    yield
    session.flush()
    for after in members_of(session, org_id) if before else ():
        member = before.get(after.email)
        if member is not None:
            permissions = (member.permissions, after.permissions)
            mails.tell(session, queue, org_id, after.email, *permissions, by)


def _delete(session: Session, config: Settings, org_id: uuid.UUID, name: str) -> int:
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
