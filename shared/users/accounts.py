"""Accounts that nobody uses any more."""

import uuid
from collections.abc import Collection

from sqlalchemy import delete, exists, select
from sqlalchemy.orm import Session

from shared.users.models import Membership, User


def remove_unused(session: Session, user_ids: Collection[uuid.UUID]) -> list[str]:
    """Removes those of the accounts that are a member of nothing; returns their addresses.

    Their sign-in sessions go with them. An account that somebody is making a member just now stays.
    """
    candidates = select(User.id).where(User.id.in_(list(user_ids)))
    free = session.scalars(candidates.with_for_update(skip_locked=True)).all()
    # A statement of its own: it sees the memberships that were committed before the lock.
    membership = exists().where(Membership.user_id == User.id)
    unused = delete(User).where(User.id.in_(free), ~membership).returning(User.email)
    return list(session.scalars(unused))
