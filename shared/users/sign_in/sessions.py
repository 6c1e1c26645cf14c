"""Sessions of people who signed in."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared import settings
from shared.core.clock import now
from shared.core.config import Settings
from shared.keys import hash_secret
from shared.users.members import Member, memberships_of
from shared.users.sign_in.models import SignInSession

TOKEN_PREFIX = "wps_"  # noqa: S105 what tokens begin with, none itself

_TTL = "session_ttl_secs"


@dataclass(frozen=True)
class SignedIn:
    """Whose session a token opened, until when, and the memberships it may be used for."""

    user_id: uuid.UUID
    email: str
    expires_at: datetime
    memberships: tuple[Member, ...]


def open_session(session: Session, config: Settings, members: list[Member]) -> tuple[str, int]:
    """Signs a person in: the new token, and the seconds it is good for.

    `members` are the person's memberships, at least one; the shortest of their organizations'
    `session_ttl_secs` counts.
    """
    ttl = shortest(session, config, members, _TTL)
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    session.add(
        SignInSession(
            token_hash=hash_secret(token.encode()),
            user_id=members[0].user_id,
            expires_at=now() + timedelta(seconds=ttl),
        )
    )
    return token, ttl


def find_session(session: Session, config: Settings, token_hash: bytes) -> SignedIn | None:
    """Who is signed in with a token; None when it opens nothing, or nothing any more.

    A `session_ttl_secs` that was shortened since holds for sessions that are open already.
    """
    query = select(SignInSession).where(SignInSession.token_hash == token_hash)
    found = session.scalars(query).one_or_none()
    if found is None:
        return None
    members = allowed(session, config, memberships_of(session, user_id=found.user_id))
    if not members:
        return None
    ttl = timedelta(seconds=shortest(session, config, members, _TTL))
    return SignedIn(
        user_id=found.user_id,
        email=members[0].email,
        expires_at=min(found.expires_at, found.created_at + ttl),
        memberships=tuple(members),
    )


def close_session(session: Session, token_hash: bytes) -> None:
    """Signs out; run it in `generation.at_once`."""
    session.execute(delete(SignInSession).where(SignInSession.token_hash == token_hash))


def close_sessions_of(session: Session, user_id: uuid.UUID) -> None:
    """Signs a person out everywhere; run it in `generation.at_once`."""
    session.execute(delete(SignInSession).where(SignInSession.user_id == user_id))


def allowed(session: Session, config: Settings, members: list[Member]) -> list[Member]:
    """Those memberships whose organization lets the address sign in."""
    org_ids = [member.org_id for member in members]
    lists = settings.values(session, config, org_ids, "allowed_sign_ins")
    return [member for member in members if settings.lets_in(lists[member.org_id], member.email)]


def shortest(session: Session, config: Settings, members: list[Member], key: str) -> int:
    """The smallest value of a setting in seconds among organizations; its default for none."""
    found = settings.values(session, config, [member.org_id for member in members], key)
    seconds = [*found.values()] or [settings.default_of(config, key)]
    return min(int(one) for one in seconds if isinstance(one, int))
