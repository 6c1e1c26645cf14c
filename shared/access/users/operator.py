"""Members, managed by the operator at the server; run all changes in `cache.at_once`.

The operator may grant everything, including `orgs:admin`, may change protected members, and sends
no mail.
"""

import uuid
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.access.users.accounts import join, remove_unused
from shared.access.users.grants import Grant, Granter, assign, worth
from shared.access.users.models import Membership, User
from shared.access.users.records import MemberRecord, log_change, record
from shared.access.users.sign_in.oidc.identities import unlink as unlink_identities
from shared.access.users.sign_in.sessions import close_sessions_of
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Conflict, NotFound
from shared.foundation.postgres import transaction_time

_OPERATOR = Granter("the operator", None)


@dataclass(frozen=True)
class Change:
    """The changes of a member: None keeps a value, `no_set` removes the set."""

    permission_set: str | None = None
    no_set: bool = False
    added: tuple[str, ...] | None = None
    removed: tuple[str, ...] | None = None
    enable: bool = False


def add(
    session: Session, org_id: uuid.UUID, email: str, grant: Grant, *, is_protected: bool = False
) -> MemberRecord:
    """Makes an address a member; creates an account if there is none.

    Raises `Invalid` naming the field, `Conflict` for a member, even a disabled one.
    """
    address = normal_address(email)
    gained = worth(session, org_id, grant)
    made = join(session, org_id, address, is_protected=is_protected)
    if made is None:
        raise Conflict(f"{address} is already a member", code="user_exists")
    assign(made, grant, gained, _OPERATOR)
    return log_change(session, org_id, "user.create", _changed(session, made))


def change(session: Session, org_id: uuid.UUID, email: str, wanted: Change) -> MemberRecord:
    """Replaces the given values and keeps the rest; a disabled member stays disabled by default.

    Raises `NotFound`, and `Invalid` naming the field.
    """
    # The given values are checked first, and their set locked; see `worth`. Values that stay were
    # checked earlier.
    given = Grant(wanted.permission_set, wanted.added or (), wanted.removed or ())
    gained = worth(session, org_id, given)
    membership = member(session, org_id, email)
    before = _shown(session, membership)
    kept_set = None if wanted.no_set else membership.permission_set
    grant = Grant(
        permission_set=kept_set if wanted.permission_set is None else wanted.permission_set,
        added=membership.permission_added if wanted.added is None else wanted.added,
        removed=membership.permission_removed if wanted.removed is None else wanted.removed,
    )
    assign(membership, grant, gained, _OPERATOR)
    if wanted.enable:
        membership.disabled_at = None
    return log_change(session, org_id, "user.update", _changed(session, membership), before)


def remove(session: Session, org_id: uuid.UUID, email: str) -> bool:
    """Removes a member with its conversations and signs the person out everywhere.

    An account that is a member of nothing else goes as well; returns whether it did. Raises
    `NotFound`, `Invalid` naming `email`.
    """
    membership = member(session, org_id, email)
    user_id = membership.user_id
    session.delete(membership)
    session.flush()
    close_sessions_of(session, user_id)
    audit_log.record(session, org_id, "user.remove", target=user_id, name=normal_address(email))
    return bool(remove_unused(session, [user_id]))


def protect(session: Session, org_id: uuid.UUID, email: str, *, is_protected: bool) -> MemberRecord:
    """Sets whether members who manage users may change or disable this one; raises `NotFound`."""
    membership = member(session, org_id, email)
    before = _shown(session, membership)
    membership.is_protected = is_protected
    return log_change(session, org_id, "user.update", _changed(session, membership), before)


def unlink(session: Session, org_id: uuid.UUID, email: str) -> int:
    """Forgets who a member is at sign-in providers, and signs the person out everywhere.

    Returns how many identities there were. Raises `NotFound`, `Invalid` naming `email`.
    """
    user_id = member(session, org_id, email).user_id
    close_sessions_of(session, user_id)
    audit_log.record(session, org_id, "user.unlink", target=user_id, name=normal_address(email))
    return unlink_identities(session, user_id)


def member(session: Session, org_id: uuid.UUID, email: str) -> Membership:
    """Locks and returns the membership of an address.

    Raises `NotFound`, `Invalid` naming `email`.
    """
    address = normal_address(email)
    query = (
        select(Membership)
        .join(User, User.id == Membership.user_id)
        .where(Membership.org_id == org_id, User.email == address)
        .with_for_update(of=Membership)
    )
    found = session.scalars(query).one_or_none()
    if found is None:
        raise NotFound(f"{address} is not a member of this organization")
    return found


def _changed(session: Session, membership: Membership) -> MemberRecord:
    membership.updated_at = transaction_time(session)
    session.flush()
    return _shown(session, membership)


def _shown(session: Session, membership: Membership) -> MemberRecord:
    shown = record(session, membership.org_id, membership.user_id)
    if shown is None:
        raise NotFound("there is no such member")
    return shown
