"""How an address becomes a member, with an account where it has none."""

import uuid

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.core.ids import new_id
from shared.users.models import Membership, User


def join(
    session: Session, org_id: uuid.UUID, address: str, *, is_protected: bool = False
) -> Membership | None:
    """A new membership that gives nothing yet; None for who is a member already.

    Of two at a time the second waits here for the first, and then finds a member. The account stays
    until the end of the transaction, whoever else finds it unused.
    """
    account = insert(User).values(id=new_id(), email=address)
    # Written although nothing changes: that locks the row that is there, and returns it.
    account = account.on_conflict_do_update(
        index_elements=[User.email], set_={"email": account.excluded.email}
    )
    user_id = session.scalars(account.returning(User.id)).one()
    membership = (
        insert(Membership)
        .values(org_id=org_id, user_id=user_id, is_protected=is_protected)
        .on_conflict_do_nothing()
    )
    return session.scalars(membership.returning(Membership)).one_or_none()
