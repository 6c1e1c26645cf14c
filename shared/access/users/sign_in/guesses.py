"""Wrong codes of an address, counted over a day, whichever clients send them.

A client may try few codes, but many clients can try many. After `MAX_TRIES` in a day the address
gets codes of twelve letters for a day, which nobody guesses. A lock instead would let a stranger
shut a person out. Addresses without a member are counted in the same way, so that nothing shows who
is one; their mail is dropped when it is due (`tell`).
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.access.mail import Letter, enqueue
from shared.access.users.members import counted, memberships_of
from shared.access.users.sign_in.models import SignInGuesses
from shared.access.users.sign_in.sessions import allowed
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.queue import Queue

MAX_TRIES = 20
_DAY = timedelta(days=1)
_KIND = "codes_guessed"


def needs_long_code(session: Session, email: str) -> bool:
    """Returns whether codes of this address have twelve letters now."""
    query = select(SignInGuesses.email).where(
        SignInGuesses.email == email, SignInGuesses.long_until > now()
    )
    return session.scalars(query).one_or_none() is not None


def count(session: Session, queue: Queue, email: str) -> None:
    """Counts a wrong code of six digits, and mails the person when it was the last one.

    The caller holds the lock of the address's code.
    """
    at = now()
    query = select(SignInGuesses).where(SignInGuesses.email == email).with_for_update()
    found = session.scalars(query).one_or_none()
    if found is None:
        found = SignInGuesses(email=email, tried_at=[], is_told=False)
        session.add(found)
    found.tried_at = [*(one for one in found.tried_at if one > at - _DAY), at]
    found.expires_at = at + _DAY
    if len(found.tried_at) >= MAX_TRIES:
        found.tried_at, found.long_until, found.is_told = [], at + _DAY, False
        enqueue(session, queue, Letter(_KIND, email))


def tell(session: Session, config: Settings, email: str) -> Mapping[str, Any] | None:
    """Adds a line to the audit logs of the person's organizations, once; returns the mail's values.

    None for an address of no member, which gets no mail.
    """
    members = allowed(session, config, memberships_of(session, email=email))
    if not members:
        return None
    made = {"wrong_codes": MAX_TRIES}
    query = select(SignInGuesses).where(SignInGuesses.email == email).with_for_update()
    found = session.scalars(query).one_or_none()
    if found is not None and not found.is_told:
        found.is_told = True
        for one in counted(members):
            audit_log.record(
                session,
                one.org_id,
                "user.codes_guessed",
                target=one.user_id,
                name=email,
                after=made,
            )
    return made
