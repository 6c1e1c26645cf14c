"""Sessions of people who signed in."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.core.clock import now
from shared.core.config import Settings
from shared.keys.rules import hash_secret
from shared.settings import reading as settings
from shared.settings.rules import lets_in
from shared.users.members import Member, memberships_of
from shared.users.sign_in.models import SignInSession

TOKEN_PREFIX = "wps_"  # noqa: S105 the prefix of tokens, not a token

_TTL = "session_ttl_secs"


@dataclass(frozen=True)
class SignedIn:
    """The person of a session, its expiry, and the memberships that it may use."""

    user_id: uuid.UUID
    email: str
    expires_at: datetime
    memberships: tuple[Member, ...]


def open_session(session: Session, config: Settings, members: list[Member]) -> tuple[str, int]:
    """Signs a person in; returns the new token and its lifetime in seconds.

    `members` are the person's memberships, at least one. The shortest `session_ttl_secs` of their
    organizations counts.
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
    """Returns the session of a token, None if there is none or it is over.

    A `session_ttl_secs` that was shortened meanwhile applies to open sessions too.
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
    """Signs out; run it in `cache.at_once`."""
    session.execute(delete(SignInSession).where(SignInSession.token_hash == token_hash))


def close_sessions_of(session: Session, user_id: uuid.UUID) -> None:
    """Signs a person out everywhere; run it in `cache.at_once`."""
    session.execute(delete(SignInSession).where(SignInSession.user_id == user_id))


def allowed(session: Session, config: Settings, members: list[Member]) -> list[Member]:
    """Returns the memberships whose organization lets the address sign in."""
    org_ids = [member.org_id for member in members]
    lists = settings.values(session, config, org_ids, "allowed_sign_ins")
    return [member for member in members if lets_in(lists[member.org_id], member.email)]


def shortest(session: Session, config: Settings, members: list[Member], key: str) -> int:
    """Returns a setting's smallest value in seconds among the organizations, or its default."""
    found = settings.values(session, config, [member.org_id for member in members], key)
    seconds = [*found.values()] or [settings.default_of(config, key)]
    return min(int(one) for one in seconds if isinstance(one, int))
