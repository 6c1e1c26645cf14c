"""Accounts that nobody uses any more."""

import uuid
from collections.abc import Collection

from sqlalchemy import delete, exists
from sqlalchemy.orm import Session

from shared.users.models import Membership, User


def remove_unused(session: Session, user_ids: Collection[uuid.UUID]) -> list[str]:
    """Removes those of the accounts that are a member of nothing; returns their addresses.

    Their sign-in sessions go with them.
    """
    membership = exists().where(Membership.user_id == User.id)
    unused = delete(User).where(User.id.in_(list(user_ids)), ~membership).returning(User.email)
    return list(session.scalars(unused))
