"""Codes that are sent by mail: six digits, one valid code per address, five tries.

An address whose codes many clients try to guess gets twelve letters instead (`guesses.py`). The
first character shows the page of which kind a code is.

The few tries and the short lifetime protect a code. The hash protects the table: 10^6 codes at
about 10 ms each take a core three hours for one row, while a code is valid for ten minutes by
default. A costlier hash would cost us too much, because strangers make us compute it.

Clients must not learn who is a member, neither from answers nor from their timing. So an address
without a member gets a row as well, which no code matches, and a hash is also computed for an
address without a row.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access.users.members import Member, memberships_of
from shared.access.users.models import Membership, User
from shared.access.users.sign_in import guesses
from shared.access.users.sign_in.models import SignInCode
from shared.access.users.sign_in.sessions import allowed, shortest
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.queue import Queue

DIGITS = 6
LETTERS = 12
# Without letters that look like another one.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz"
MAX_WRONG_TRIES = 5

_HASH_BYTES = 32
_SALT_BYTES = 16
_NO_SALT = bytes(_SALT_BYTES)
_TTL = "otp_ttl_secs"


@dataclass(frozen=True)
class IssuedCode:
    """A code in clear, only for the mail, and its lifetime in seconds."""

    code: str = field(repr=False)
    ttl_secs: int


def issue(session: Session, config: Settings, email: str) -> IssuedCode | None:
    """Creates a code for a lower-case address; it replaces the previous one.

    Returns None if the address belongs to no active member whose organization lets it sign in, and
    while codes are switched off. The code is valid for the shortest `otp_ttl_secs` of the member's
    organizations.
    """
    if not config.sign_in_codes:
        return None
    members = allowed(session, config, memberships_of(session, email=email))
    ttl_secs = shortest(session, config, members, _TTL)
    code = _new_code(is_long=guesses.needs_long_code(session, email))
    salt = secrets.token_bytes(_SALT_BYTES)
    code_hash = _hash(code, salt)
    _store(session, email, salt, code_hash if members else bytes(_HASH_BYTES), ttl_secs)
    return IssuedCode(code, ttl_secs) if members else None


def redeem(
    session: Session, config: Settings, queue: Queue, email: str, code: str
) -> list[Member] | None:
    """Checks a code and uses it up; returns the person's memberships, None for a wrong code.

    Wrong tries are counted in the session's transaction, so refuse only after its commit.
    Concurrent requests wait for each other, because otherwise both could pass the count.
    """
    query = select(SignInCode).where(SignInCode.email == email).with_for_update()
    row = session.scalars(query).one_or_none()
    is_long = guesses.needs_long_code(session, email)
    given = _hash(code.lower(), _NO_SALT if row is None else row.salt)
    if row is None or row.expires_at <= now() or row.wrong_tries >= MAX_WRONG_TRIES:
        return None
    if is_long and len(code) != LETTERS:
        # The code may be an earlier one of six digits.
        return None
    if not hmac.compare_digest(given, row.code_hash):
        row.wrong_tries += 1
        if not is_long:
            guesses.count(session, queue, email)
        return None
    session.delete(row)
    return members_to_sign_in(session, config, email) or None


def members_to_sign_in(session: Session, config: Settings, email: str) -> list[Member]:
    """Returns the memberships whose organization lets the person sign in.

    Locks all of the person's memberships: a concurrent removal waits and then ends the new session.
    """
    session.execute(
        select(Membership.user_id)
        .join(User, User.id == Membership.user_id)
        .where(User.email == email)
        .with_for_update(read=True, of=Membership)
    )
    return allowed(session, config, memberships_of(session, email=email))


def _store(session: Session, email: str, salt: bytes, code_hash: bytes, ttl_secs: int) -> None:
    issued_at = now()
    values = {
        "salt": salt,
        "code_hash": code_hash,
        "wrong_tries": 0,
        "created_at": issued_at,
        "expires_at": issued_at + timedelta(seconds=ttl_secs),
    }
    session.execute(
        insert(SignInCode)
        .values(email=email, **values)
        .on_conflict_do_update(index_elements=[SignInCode.email], set_=values)
    )


def _new_code(*, is_long: bool) -> str:
    if is_long:
        return "".join(secrets.choice(_ALPHABET) for _ in range(LETTERS))
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"


def _hash(code: str, salt: bytes) -> bytes:
    """Hashes a code in 10 ms with 4 MiB; releases the interpreter's lock meanwhile."""
    return hashlib.scrypt(code.encode(), salt=salt, n=2**12, r=8, p=1, dklen=_HASH_BYTES)
