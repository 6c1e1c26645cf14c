"""What becomes of somebody's sessions when an organization takes its access back."""

import uuid

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.conversations import Conversation
from shared.users import operator
from shared.users.accounts import remove_unused
from shared.users.records import MemberRecord
from shared.users.service import disable
from shared.users.sign_in.sessions import close_sessions_of


def disable_member(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """Disables a member and signs the person out everywhere; run it in `generation.at_once`.

    Sessions are the account's: a member of several organizations signs in again for the others.
    Were they left open, they would be good for this organization again once it enables the member.
    Raises as `users.service.disable` does.
    """
    member = disable(session, org_id, user_id)
    close_sessions_of(session, member.id)
    return member


def remove_member(session: Session, org_id: uuid.UUID, email: str) -> bool:
    """Removes a member, and what it kept in the organization; run it in `generation.at_once`.

    The person is signed out everywhere. An account that is a member of nothing else goes as well:
    returns whether it did. Raises `NotFound`, `Invalid` naming `email`.
    """
    membership = operator.member(session, org_id, email)
    user_id = membership.user_id
    kept = delete(Conversation).where(
        Conversation.org_id == org_id, Conversation.user_id == user_id
    )
    session.execute(kept)
    session.delete(membership)
    session.flush()
    close_sessions_of(session, user_id)
    return bool(remove_unused(session, [user_id]))
