"""Sign-in and sign-out, with their transactions."""

from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

import redis
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.access.mail import Letter, enqueue
from shared.access.users.members import Member, counted, memberships_of
from shared.access.users.records import log_own_act
from shared.access.users.sign_in import codes, link
from shared.access.users.sign_in.models import SignInCode, SignInGuesses, SignInSession
from shared.access.users.sign_in.sessions import (
    EndedSession,
    close_session,
    end_other_sessions,
    end_session,
    note_organization,
    open_session,
)
from shared.foundation.cache import at_once
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Forbidden, NotFound, Unauthorized
from shared.foundation.core.logs import get_logger
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import Postgres

log = get_logger(__name__)


@dataclass(frozen=True)
class NewSignInSession:
    """A person who just signed in; `token` is only for the cookie."""

    user_id: UUID
    email: str
    token: str = field(repr=False)
    ttl_secs: int


def request_code(runtime: Runtime, email: str) -> None:
    """Requests a code for a normal address, if the address belongs to a member.

    The worker that sends the mail checks that: this function does the same for every address.
    Raises `Forbidden` while codes are switched off, `Unavailable` while PostgreSQL is down.
    """
    _require_codes(runtime)
    with runtime.postgres.transaction() as session:
        enqueue(session, runtime.queue, Letter("code", email))


def sign_in(
    runtime: Runtime, email: str, code: str, browser: str | None = None
) -> NewSignInSession:
    """Opens a session for the code of a normal address; `browser` is its name for people.

    Raises `Unauthorized` for a code that is wrong, expired or used, `Forbidden` while codes are
    switched off, `Unavailable` while PostgreSQL is down.
    """
    _require_codes(runtime)
    with runtime.postgres.transaction() as session:
        opened = _redeem(session, runtime, email, code, browser)
    if opened is None:
        raise Unauthorized("wrong, used or expired code: request a new one", code="wrong_code")
    log.info("signed_in", user_id=str(opened.user_id))
    return opened


def sign_in_by_link(runtime: Runtime, token: str, browser: str | None = None) -> NewSignInSession:
    """Opens a session of ADMIN_EMAIL for the token of a development deployment's link.

    Raises `Unauthorized` for a token that is wrong, expired or used, and if the member is gone;
    `Unavailable` while PostgreSQL or Redis is down.
    """
    config, opened = runtime.settings, None
    known_hash, email = config.sign_in_link_hash, config.admin_email
    if known_hash and email and link.redeem(runtime.redis, known_hash, token):
        with runtime.postgres.transaction() as session:
            members = codes.members_to_sign_in(session, config, normal_address(email))
            opened = open_for(session, config, members, browser) if members else None
    if opened is None:
        raise Unauthorized("this link was used or has expired: use the sign-in page")
    log.info("signed_in_by_link", user_id=str(opened.user_id))
    return opened


def sign_out(postgres: Postgres, client: redis.Redis, token_hash: bytes) -> None:
    """Ends the session of a token at once and everywhere; does nothing if there is none.

    Raises `Unavailable` while PostgreSQL or Redis is down.
    """
    # Made-up tokens must not make every process clear its caches.
    with postgres.transaction() as session:
        query = select(SignInSession.user_id).where(SignInSession.token_hash == token_hash)
        user_id = session.scalars(query).one_or_none()
    if user_id is None:
        return
    with at_once(postgres, client) as session:
        _log_ends(session, "user.sign_out", user_id, close_session(session, token_hash))
    log.info("signed_out", user_id=str(user_id))


def end(runtime: Runtime, user_id: UUID, session_id: str) -> bytes:
    """Ends one of a person's sessions, at once and everywhere; returns its token's hash.

    Raises `NotFound`, `Unavailable` while PostgreSQL or Redis is down.
    """
    with at_once(runtime.postgres, runtime.redis) as session:
        ended = end_session(session, user_id, session_id)
        if not ended:
            raise NotFound.named("session", session_id)
        _log_ends(session, "user.end_session", user_id, ended)
    log.info("session_ended", user_id=str(user_id))
    return ended[0].token_hash


def end_others(runtime: Runtime, user_id: UUID, token_hash: bytes) -> int:
    """Ends a person's sessions but the one of this token; returns how many there were.

    Raises `Unavailable` while PostgreSQL or Redis is down.
    """
    with at_once(runtime.postgres, runtime.redis) as session:
        ended = end_other_sessions(session, user_id, token_hash)
        _log_ends(session, "user.end_session", user_id, ended)
    log.info("sessions_ended", user_id=str(user_id), count=len(ended))
    return len(ended)


def tidy(session: Session) -> None:
    """Deletes expired codes, guesses and sessions."""
    for table in (SignInCode, SignInGuesses, SignInSession):
        session.execute(delete(table).where(table.expires_at <= now()))


def _require_codes(runtime: Runtime) -> None:
    if not runtime.settings.sign_in_codes:
        raise Forbidden(
            f"codes are switched off: sign in with {runtime.settings.oidc_name}", code="codes_off"
        )


def _redeem(
    session: Session, runtime: Runtime, email: str, code: str, browser: str | None
) -> NewSignInSession | None:
    members = codes.redeem(session, runtime.settings, runtime.queue, email, code)
    return None if members is None else open_for(session, runtime.settings, members, browser)


def open_for(
    session: Session, config: Settings, members: list[Member], browser: str | None = None
) -> NewSignInSession:
    """Opens a session for a person's memberships, at least one."""
    used_in = _certain(members)
    used_at = [one.org_id for one in used_in]
    token, ttl_secs = open_session(session, config, members, browser, used_at)
    for one in used_in:
        log_own_act(session, one.org_id, "user.sign_in", one.user_id, one.email)
    return NewSignInSession(members[0].user_id, members[0].email, token, ttl_secs)


def note_use(session: Session, token_hash: bytes, member: Member) -> None:
    """Tells an organization's audit log of a sign-in, when its session is first used there.

    At the sign-in nothing shows which of the person's organizations it is for, and the others must
    not learn when and from where the person works.
    """
    if note_organization(session, token_hash, member.org_id):
        log_own_act(session, member.org_id, "user.sign_in", member.user_id, member.email)


def _certain(members: list[Member]) -> list[Member]:
    """Returns the one organization that a new session is for, empty if it may be another one."""
    own = counted(members)
    is_certain = len(members) == 1 or (len(own) == 1 and not own[0].is_pending)
    return own if is_certain else []


def _log_ends(
    session: Session, action: str, user_id: UUID, ended: Collection[EndedSession]
) -> None:
    """Adds a line to the audit logs of the organizations that the sessions were used in."""
    members = memberships_of(session, user_id=user_id)
    anywhere = [one.org_id for one in counted(members)]
    known = {org for one in ended for org in (anywhere if one.used_in is None else one.used_in)}
    for one in members:
        if one.org_id in known:
            log_own_act(session, one.org_id, action, user_id, one.email)
