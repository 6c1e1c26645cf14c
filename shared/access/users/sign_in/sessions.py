"""Sessions of people who signed in."""

import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.access.keys.rules import hash_secret
from shared.access.settings import reading as settings
from shared.access.settings.rules import lets_in
from shared.access.users.members import Member, counted, memberships_of
from shared.access.users.sign_in.models import SignInSession
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.core.ids import parse_uuid

TOKEN_PREFIX = "wps_"  # noqa: S105 the prefix of tokens, not a token

NOTED_EVERY = timedelta(minutes=5)

_TTL = "session_ttl_secs"


@dataclass(frozen=True)
class SessionOwner:
    """The person of a session, its expiry, and the memberships that it may use."""

    user_id: uuid.UUID
    email: str
    expires_at: datetime
    memberships: tuple[Member, ...]


@dataclass(frozen=True)
class OpenSession:
    """A session as its person sees it. Its id is no secret; `is_current`: of this very request."""

    id: uuid.UUID
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    address: str | None
    browser: str | None
    is_current: bool


@dataclass(frozen=True)
class EndedSession:
    """A session that is over; `used_in` as in `SignInSession`."""

    token_hash: bytes
    used_in: list[uuid.UUID] | None


def open_session(
    session: Session,
    config: Settings,
    members: list[Member],
    browser: str | None = None,
    used_in: Sequence[uuid.UUID] = (),
) -> tuple[str, int]:
    """Signs a person in; returns the new token and its lifetime in seconds.

    `members` are the person's memberships, at least one. The shortest `session_ttl_secs` of their
    organizations counts. `used_in`: where its use is known from the start.
    """
    ttl = shortest(session, config, members, _TTL)
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    session.add(
        SignInSession(
            token_hash=hash_secret(token.encode()),
            user_id=members[0].user_id,
            used_in=list(used_in),
            expires_at=now() + timedelta(seconds=ttl),
            address=audit_log.current_caller().address,
            browser=browser,
        )
    )
    return token, ttl


def find_session(session: Session, config: Settings, token_hash: bytes) -> SessionOwner | None:
    """Returns the session of a token, None if there is none or it is over.

    A `session_ttl_secs` that was shortened meanwhile applies to open sessions too.
    """
    query = select(SignInSession).where(SignInSession.token_hash == token_hash)
    found = session.scalars(query).one_or_none()
    if found is None:
        return None
    members = [
        one
        for one in allowed(session, config, memberships_of(session, user_id=found.user_id))
        if one.signed_out_at is None or one.signed_out_at < found.created_at
    ]
    if not members:
        return None
    ttl = timedelta(seconds=shortest(session, config, members, _TTL))
    _note_use(session, found)
    return SessionOwner(
        user_id=found.user_id,
        email=members[0].email,
        expires_at=min(found.expires_at, found.created_at + ttl),
        memberships=tuple(members),
    )


def sessions_of(
    session: Session, config: Settings, user_id: uuid.UUID, token_hash: bytes
) -> list[OpenSession]:
    """Lists a person's sessions that are not over, the one used last first.

    `token_hash` is that of the request's own session.
    """
    members = allowed(session, config, memberships_of(session, user_id=user_id))
    ttl = timedelta(seconds=shortest(session, config, members, _TTL))
    query = select(SignInSession).where(SignInSession.user_id == user_id)
    found = [
        OpenSession(
            id=one.id,
            created_at=one.created_at,
            last_used_at=one.last_used_at or one.created_at,
            expires_at=min(one.expires_at, one.created_at + ttl),
            address=one.address,
            browser=one.browser,
            is_current=one.token_hash == token_hash,
        )
        for one in session.scalars(query)
    ]
    living = [one for one in found if one.expires_at > now()]
    return sorted(living, key=lambda one: one.last_used_at, reverse=True)


def end_session(session: Session, user_id: uuid.UUID, session_id: str) -> list[EndedSession]:
    """Ends one session of a person, if there is such a one; run it in `cache.at_once`."""
    parsed = parse_uuid(session_id)
    if parsed is None:
        return []
    return _end(session, SignInSession.user_id == user_id, SignInSession.id == parsed)


def end_other_sessions(
    session: Session, user_id: uuid.UUID, token_hash: bytes
) -> list[EndedSession]:
    """Ends all sessions of a person but this one; run it in `cache.at_once`."""
    others = SignInSession.token_hash != token_hash
    return _end(session, SignInSession.user_id == user_id, others)


def close_session(session: Session, token_hash: bytes) -> list[EndedSession]:
    """Signs out; run it in `cache.at_once`."""
    return _end(session, SignInSession.token_hash == token_hash)


def close_sessions_of(session: Session, user_id: uuid.UUID) -> None:
    """Signs a person out everywhere; run it in `cache.at_once`."""
    session.execute(delete(SignInSession).where(SignInSession.user_id == user_id))


def note_organization(session: Session, token_hash: bytes, org_id: uuid.UUID) -> bool:
    """Remembers that a session is used in an organization; returns whether it is the first time."""
    used_in = SignInSession.used_in
    note = update(SignInSession).where(
        SignInSession.token_hash == token_hash,
        used_in.is_not(None),
        func.array_position(used_in, org_id).is_(None),
    )
    noted = note.values(used_in=func.array_append(used_in, org_id)).returning(SignInSession.id)
    return session.scalars(noted).one_or_none() is not None


def _end(session: Session, *which: ColumnElement[bool]) -> list[EndedSession]:
    ended = delete(SignInSession).where(*which)
    columns = (SignInSession.token_hash, SignInSession.used_in)
    return [EndedSession(*row) for row in session.execute(ended.returning(*columns))]


def _note_use(session: Session, found: SignInSession) -> None:
    """Remembers that a session is in use, with one write in five minutes at most.

    Processes keep identities for a minute, so a session in use is read, and noted, often enough.
    """
    long_ago = now() - NOTED_EVERY
    if (found.last_used_at or found.created_at) > long_ago:
        return
    is_due = or_(SignInSession.last_used_at.is_(None), SignInSession.last_used_at <= long_ago)
    note = update(SignInSession).where(SignInSession.id == found.id, is_due)
    session.execute(note.values(last_used_at=now()).execution_options(synchronize_session=False))


def allowed(session: Session, config: Settings, members: list[Member]) -> list[Member]:
    """Returns the memberships whose organization lets the address sign in."""
    org_ids = [member.org_id for member in members]
    lists = settings.values(session, config, org_ids, "allowed_sign_ins")
    return [member for member in members if lets_in(lists[member.org_id], member.email)]


def shortest(session: Session, config: Settings, members: list[Member], key: str) -> int:
    """Returns a setting's smallest value in seconds among the organizations, or its default.

    Invitations that wait do not count.
    """
    org_ids = [member.org_id for member in counted(members)]
    found = settings.values(session, config, org_ids, key)
    seconds = [*found.values()] or [settings.default_of(config, key)]
    return min(int(one) for one in seconds if isinstance(one, int))
