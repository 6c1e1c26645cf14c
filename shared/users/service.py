"""Members of an organization: invite, change, disable and enable them.

Everything here that writes runs in `generation.at_once`: what somebody may do, and even of how many
organizations somebody is a member, is remembered by every process.
"""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.core.clock import now
from shared.core.email_address import normal_address
from shared.core.errors import Conflict, Forbidden, NotFound
from shared.core.ids import parse_uuid
from shared.mail import Letter, enqueue
from shared.organizations import Organization
from shared.queue import Queue
from shared.users.accounts import join
from shared.users.grants import Grant, Granter, assign, permissions_of, worth
from shared.users.members import members_of
from shared.users.models import Membership, User
from shared.users.records import MemberRecord, record, records
from shared.users.sign_in.sessions import close_sessions_of

_MAX_GRANTERS = 50


def visible(session: Session, org_id: uuid.UUID) -> list[MemberRecord]:
    """The members of an organization by address, disabled ones too."""
    return records(session, org_id)


def get(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """One member; raises `NotFound` for an account that is none of this organization."""
    parsed = parse_uuid(user_id)
    found = None if parsed is None else record(session, org_id, parsed)
    if found is None:
        raise _no_member()
    return found


def access_granters(session: Session, org_id: uuid.UUID) -> list[str]:
    """The addresses of those who can give a member more, at most 50 of them."""
    able = [one.email for one in members_of(session, org_id) if "users:update" in one.permissions]
    return able[:_MAX_GRANTERS]


def invite(
    session: Session, queue: Queue, org_id: uuid.UUID, email: str, grant: Grant, by: Granter
) -> MemberRecord:
    """Makes an address a member and mails it an invitation.

    An account that other organizations know already becomes a member here as well; the outcome is
    the same to whoever asks. Raises `Invalid` naming the field, `Forbidden` naming a permission
    that the granter lacks, `Conflict` for a member, be it a disabled one.
    """
    address = normal_address(email, "email")
    gained = worth(session, org_id, grant)
    made = join(session, org_id, address)
    if made is None:
        raise _exists(session, org_id, address)
    assign(made, grant, gained, by)
    session.flush()
    context = {"org_name": _name_of(session, org_id), "invited_by": by.name}
    enqueue(session, queue, Letter("invitation", address, org_id, context))
    return _shown(session, org_id, made.user_id)


def change(
    session: Session, queue: Queue, org_id: uuid.UUID, user_id: str, grant: Grant, by: Granter
) -> MemberRecord:
    """Replaces what a member was given, and mails the difference where there is one.

    Raises `NotFound`, `Forbidden` for a protected member, `Conflict` for a disabled one, `Invalid`
    naming the field, `Forbidden` naming a permission that the granter lacks.
    """
    after = worth(session, org_id, grant)
    membership = _changeable(session, org_id, user_id)
    before = permissions_of(session, membership)
    assign(membership, grant, after - before, by)
    membership.updated_at = now()
    session.flush()
    member = _shown(session, org_id, membership.user_id)
    if before != after:
        context = {
            "org_name": _name_of(session, org_id),
            "changed_by": by.name,
            "permissions": sorted(after),
            "gained": sorted(after - before),
            "lost": sorted(before - after),
        }
        enqueue(session, queue, Letter("permissions_changed", member.email, org_id, context))
    return member


def disable(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """Takes away a member's access and signs the person out everywhere.

    Sessions belong to the account, so a member of several organizations signs in again for the
    others. A session that stayed open would be good for this organization again once the member is
    enabled. Raises `NotFound`, `Forbidden` for a protected member, `Conflict` for a disabled one.
    """
    membership = _changeable(session, org_id, user_id)
    membership.disabled_at = membership.updated_at = now()
    session.flush()
    close_sessions_of(session, membership.user_id)
    return _shown(session, org_id, membership.user_id)


def enable(session: Session, org_id: uuid.UUID, user_id: str) -> MemberRecord:
    """Gives a disabled member back what it was given; it has to sign in anew.

    Raises `NotFound`, `Forbidden` for a protected member, `Conflict` for one who is not disabled.
    """
    membership = _unprotected(session, org_id, user_id)
    if membership.disabled_at is None:
        raise Conflict("this user is not disabled", code="user_enabled")
    membership.disabled_at = None
    membership.updated_at = now()
    session.flush()
    return _shown(session, org_id, membership.user_id)


def _member(session: Session, org_id: uuid.UUID, user_id: str) -> Membership:
    parsed = parse_uuid(user_id)
    found = None if parsed is None else _locked(session, org_id, parsed)
    if found is None:
        raise _no_member()
    return found


def _unprotected(session: Session, org_id: uuid.UUID, user_id: str) -> Membership:
    membership = _member(session, org_id, user_id)
    if membership.is_protected:
        raise Forbidden(
            "this user is protected: only service-orgctl changes or removes it",
            code="protected_user",
        )
    return membership


def _changeable(session: Session, org_id: uuid.UUID, user_id: str) -> Membership:
    membership = _unprotected(session, org_id, user_id)
    if membership.disabled_at is not None:
        raise _disabled()
    return membership


def _locked(session: Session, org_id: uuid.UUID, user_id: uuid.UUID) -> Membership | None:
    query = select(Membership).where(Membership.org_id == org_id, Membership.user_id == user_id)
    return session.scalars(query.with_for_update()).one_or_none()


def _shown(session: Session, org_id: uuid.UUID, user_id: uuid.UUID) -> MemberRecord:
    return get(session, org_id, str(user_id))


def _name_of(session: Session, org_id: uuid.UUID) -> str:
    return session.scalars(select(Organization.name).where(Organization.id == org_id)).one()


def _exists(session: Session, org_id: uuid.UUID, address: str) -> Conflict:
    query = (
        select(Membership.disabled_at)
        .join(User, User.id == Membership.user_id)
        .where(Membership.org_id == org_id, User.email == address)
    )
    if session.scalars(query).one_or_none() is not None:
        return _disabled()
    return Conflict("this address is a user of the organization", code="user_exists")


def _disabled() -> Conflict:
    return Conflict("this user is disabled", code="user_disabled")


def _no_member() -> NotFound:
    return NotFound("there is no such user")
