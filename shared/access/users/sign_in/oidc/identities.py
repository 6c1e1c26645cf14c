"""Accounts of people at providers: found by issuer and subject, linked once by address."""

import uuid

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access.users.models import User
from shared.access.users.sign_in.oidc.models import ExternalIdentity
from shared.access.users.sign_in.oidc.subject import Subject
from shared.foundation.core.errors import Forbidden


def account_of(session: Session, subject: Subject) -> User | None:
    """Returns the account that the subject is linked with, else the one of its address.

    Raises `Forbidden` if the address's account is linked with another subject: a provider may give
    an address to another person.
    """
    query = (
        select(User)
        .join(ExternalIdentity, ExternalIdentity.user_id == User.id)
        .where(
            ExternalIdentity.issuer == subject.issuer, ExternalIdentity.subject == subject.subject
        )
    )
    linked = session.scalars(query).one_or_none()
    if linked is not None:
        return linked
    of_address = session.scalars(select(User).where(User.email == subject.email)).one_or_none()
    if of_address is not None and _is_linked(session, subject.issuer, of_address.id):
        raise _other_subject()
    return of_address


def link(session: Session, subject: Subject, user_id: uuid.UUID) -> None:
    """Links a subject with an account, if it is not; raises `Forbidden` if another one is."""
    identity = insert(ExternalIdentity).values(
        issuer=subject.issuer, subject=subject.subject, user_id=user_id
    )
    session.execute(identity.on_conflict_do_nothing())
    query = select(ExternalIdentity.user_id).where(
        ExternalIdentity.issuer == subject.issuer, ExternalIdentity.subject == subject.subject
    )
    # Another sign-in may have linked the account, or the subject, a moment ago.
    if session.scalars(query).one_or_none() != user_id:
        raise _other_subject()


def unlink(session: Session, user_id: uuid.UUID) -> int:
    """Forgets who the account is at providers; returns how many identities it had."""
    forget = delete(ExternalIdentity).where(ExternalIdentity.user_id == user_id)
    return len(session.scalars(forget.returning(ExternalIdentity.subject)).all())


def _is_linked(session: Session, issuer: str, user_id: uuid.UUID) -> bool:
    query = select(ExternalIdentity.subject).where(
        ExternalIdentity.issuer == issuer, ExternalIdentity.user_id == user_id
    )
    return session.scalars(query).one_or_none() is not None


def _other_subject() -> Forbidden:
    return Forbidden(
        "this address belongs to another person at the provider: ask the operator to unlink it",
        code="other_subject",
    )
