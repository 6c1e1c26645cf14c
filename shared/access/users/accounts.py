"""Accounts: created with their first membership, removed after their last."""

import uuid
from collections.abc import Collection

from sqlalchemy import delete, exists, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access.users.models import Membership, User
from shared.foundation.core.ids import new_id


def join(
    session: Session,
    org_id: uuid.UUID,
    address: str,
    *,
    is_protected: bool = False,
    is_pending: bool = False,
) -> Membership | None:
    """Makes an address a member without permissions; None if it already is one.

    A second call for the same address waits here for the first and then finds a member. The account
    stays until the end of the transaction, even when another process finds it unused.
    """
    account = insert(User).values(id=new_id(), email=address)
    # Writes the row without changing it, which locks an existing row and returns it.
    account = account.on_conflict_do_update(
        index_elements=[User.email], set_={"email": account.excluded.email}
    )
    user_id = session.scalars(account.returning(User.id)).one()
    membership = (
        insert(Membership)
        .values(org_id=org_id, user_id=user_id, is_protected=is_protected, is_pending=is_pending)
        .on_conflict_do_nothing()
    )
    return session.scalars(membership.returning(Membership)).one_or_none()


def remove_unused(session: Session, user_ids: Collection[uuid.UUID]) -> list[str]:
    """Removes those of the accounts that have no membership; returns their addresses.

    Their sign-in sessions are removed too. An account that is just becoming a member stays.
    """
    candidates = select(User.id).where(User.id.in_(list(user_ids)))
    free = session.scalars(candidates.with_for_update(skip_locked=True)).all()
    # A separate statement, so that it sees memberships that were committed before the lock.
    membership = exists().where(Membership.user_id == User.id)
    unused = delete(User).where(User.id.in_(free), ~membership).returning(User.email)
    return list(session.scalars(unused))
