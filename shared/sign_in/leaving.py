"""What becomes of somebody's sessions when an organization takes its access back."""

import uuid

from sqlalchemy.orm import Session

from shared.sign_in.sessions import close_sessions_of
from shared.users.records import MemberRecord
from shared.users.service import disable


def disable_member(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """Disables a member and signs the person out everywhere; run it in `generation.at_once`.

    Sessions are the account's: a member of several organizations signs in again for the others.
    Were they left open, they would be good for this organization again once it enables the member.
    Raises as `users.service.disable` does.
    """
    member = disable(session, org_id, user_id)
    close_sessions_of(session, member.id)
    return member
