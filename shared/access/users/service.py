"""Members of an organization: invites, changes, disables and enables them; they may leave.

Every change here runs in `cache.at_once`, because every process caches the permissions of a person
and even the number of their organizations.
"""

import uuid

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.access.mail import Letter, enqueue, quota
from shared.access.users import mails
from shared.access.users.accounts import join, remove_unused
from shared.access.users.grants import Grant, Granter, assign, permissions_of, worth
from shared.access.users.members import members_of, memberships_of
from shared.access.users.models import Membership, User
from shared.access.users.records import MemberRecord, log_change, log_own_act, record, records
from shared.access.users.sign_in.sessions import close_sessions_of
from shared.foundation.core.config import Settings
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Conflict, Forbidden, NotFound
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import require_row
from shared.foundation.queue import Queue

_MAX_GRANTERS = 50
_MANAGES = "users:update"
# In the mail. The name of a key is any text, and would stand in the subject in the operator's name.
_A_KEY = "A key"


def list_(session: Session, org_id: uuid.UUID) -> list[MemberRecord]:
    """Lists the members of an organization by address, including disabled ones."""
    return records(session, org_id)


def get(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """Returns one member; raises `NotFound` if the account is not a member of this organization."""
    parsed = parse_uuid(user_id)
    found = None if parsed is None else record(session, org_id, parsed)
    if found is None:
        raise NotFound.named("user", user_id)
    return found


def access_granters(session: Session, org_id: uuid.UUID) -> list[str]:
    """Lists the addresses of members who can grant more permissions, at most 50."""
    able = [one.email for one in members_of(session, org_id) if _MANAGES in one.permissions]
    return able[:_MAX_GRANTERS]


def invite(
    session: Session,
    queue: Queue,
    config: Settings,
    org_id: uuid.UUID,
    email: str,
    grant: Grant,
    by: Granter,
) -> MemberRecord:
    """Makes an address a member and mails an invitation.

    The membership waits until the person first uses this organization (`take_up`). An account that
    other organizations know has the same result for the caller. Raises `Invalid` naming the field,
    `Forbidden` naming a permission that the granter lacks, `Conflict` for a member, even a disabled
    one, `RateLimited` once the organization has sent its mails of a day.
    """
    quota.require_left(session, config, org_id)
    address = normal_address(email, "email")
    gained = worth(session, org_id, grant)
    made = join(session, org_id, address, is_pending=True)
    if made is None:
        raise _exists(session, org_id, address)
    assign(made, grant, gained, by)
    session.flush()
    invited_by = _A_KEY if by.is_key else by.name
    context = {"org_name": mails.name_of(session, org_id), "invited_by": invited_by}
    enqueue(session, queue, Letter("invitation", address, org_id, context))
    return log_change(session, org_id, "user.create", _shown(session, org_id, made.user_id))


def replace(
    session: Session,
    queue: Queue,
    config: Settings,
    org_id: uuid.UUID,
    user_id: str,
    grant: Grant,
    by: Granter,
) -> MemberRecord:
    """Replaces the grant of a member, and mails the difference if there is one.

    Raises `NotFound`, `Forbidden` for a protected member, `Conflict` for a disabled one, `Invalid`
    naming the field, `Forbidden` naming a permission that the granter lacks.
    """
    after = worth(session, org_id, grant)
    membership = _changeable(session, org_id, user_id)
    before = permissions_of(session, membership)
    shown = _shown(session, org_id, membership.user_id)
    assign(membership, grant, after - before, by)
    membership.updated_at = transaction_time(session)
    session.flush()
    member = _shown(session, org_id, membership.user_id)
    mails.tell(session, queue, config, org_id, member.email, before, after, by)
    return log_change(session, org_id, "user.update", member, shown)


def disable(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """Takes away a member's access and signs the person out of this organization.

    Sessions belong to the account and go on in its other organizations; without any, they end.
    Raises `NotFound`, `Forbidden` for a protected member, `Conflict` for a disabled one.
    """
    membership = _changeable(session, org_id, user_id)
    membership.disabled_at = membership.updated_at = transaction_time(session)
    # Not the transaction's time: a sign-in may have begun since, and waited for this row's lock.
    membership.signed_out_at = session.scalars(select(func.clock_timestamp())).one()
    session.flush()
    if not memberships_of(session, user_id=membership.user_id):
        close_sessions_of(session, membership.user_id)
    shown = _shown(session, org_id, membership.user_id)
    audit_log.record(session, org_id, "user.disable", target=shown.id, name=shown.email)
    return shown


def enable(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """Restores the access of a disabled member, who then has to sign in again.

    Raises `NotFound`, `Forbidden` for a protected member, `Conflict` for one who is not disabled.
    """
    membership = _unprotected(session, org_id, user_id)
    if membership.disabled_at is None:
        raise Conflict("this user is not disabled", code="user_enabled")
    membership.disabled_at = None
    membership.updated_at = transaction_time(session)
    session.flush()
    shown = _shown(session, org_id, membership.user_id)
    audit_log.record(session, org_id, "user.enable", target=shown.id, name=shown.email)
    return shown


def take_up(session: Session, org_id: uuid.UUID, user_id: uuid.UUID) -> bool:
    """Ends the wait of a membership, because its person uses it; returns whether it did wait."""
    waiting = update(Membership).where(
        Membership.org_id == org_id, Membership.user_id == user_id, Membership.is_pending
    )
    taken = waiting.values(is_pending=False).returning(Membership.user_id)
    if session.scalars(taken).one_or_none() is None:
        return False
    shown = _shown(session, org_id, user_id)
    log_own_act(session, org_id, "user.join", user_id, shown.email)
    return True


def leave(session: Session, org_id: uuid.UUID, user_id: uuid.UUID) -> MemberRecord:
    """Ends a person's own membership; the account goes with its last one.

    Raises `NotFound`, `Forbidden` for a protected member, and `Conflict` for the only one who can
    manage the members.
    """
    membership = _unprotected(session, org_id, str(user_id))
    shown = _shown(session, org_id, user_id)
    others = [one for one in members_of(session, org_id) if one.user_id != user_id]
    if _MANAGES in shown.permissions and not any(_MANAGES in one.permissions for one in others):
        raise Conflict(
            "no other user of the organization can manage its users: grant somebody"
            f" {_MANAGES} first",
            code="last_administrator",
        )
    session.delete(membership)
    session.flush()
    audit_log.record(session, org_id, "user.leave", target=shown.id, name=shown.email)
    remove_unused(session, [user_id])
    return shown


def _unprotected(session: Session, org_id: uuid.UUID, user_id: str) -> Membership:
    members = select(Membership).where(Membership.org_id == org_id).with_for_update()
    membership = require_row(session, members, Membership.user_id, user_id, "user")
    if membership.is_protected:
        raise Forbidden(
            "this user is protected: use service-orgctl to change or remove it",
            code="protected_user",
        )
    return membership


def _changeable(session: Session, org_id: uuid.UUID, user_id: str) -> Membership:
    membership = _unprotected(session, org_id, user_id)
    if membership.disabled_at is not None:
        raise _disabled()
    return membership


def _shown(session: Session, org_id: uuid.UUID, user_id: uuid.UUID) -> MemberRecord:
    return get(session, org_id, str(user_id))


def _exists(session: Session, org_id: uuid.UUID, address: str) -> Conflict:
    query = (
        select(Membership.disabled_at)
        .join(User, User.id == Membership.user_id)
        .where(Membership.org_id == org_id, User.email == address)
    )
    if session.scalars(query).one_or_none() is not None:
        return _disabled()
    return Conflict("this address is already a user of the organization", code="user_exists")


def _disabled() -> Conflict:
    return Conflict("this user is disabled: enable it first", code="user_disabled")
