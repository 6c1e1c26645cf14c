"""Reads the owner of a credential from PostgreSQL."""

import hmac
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access import organizations
from shared.access.identity.credential import Credential
from shared.access.identity.identity import Identity, KeyRef, UserRef
from shared.access.identity.person import Person
from shared.access.keys.models import ApiKey
from shared.access.keys.service import note_use
from shared.access.organizations.models import Organization
from shared.access.permissions import FOR_KEYS, effective
from shared.access.users import memberships_of, take_up
from shared.access.users.sign_in.service import note_use as note_session
from shared.access.users.sign_in.sessions import allowed, find_session
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Forbidden, NotFound, Unauthorized


def load_identity(session: Session, config: Settings, credential: Credential) -> Identity:
    """Reads the identity of a credential in one organization.

    Takes up a membership that waits, and notes the first use of a session in the organization.
    Raises the errors of `Authenticator`.
    """
    person = _signed_in(session, config, credential)
    if person is not None:
        return _as_person(session, person, credential, key=None)
    key, own = _find_key(session, credential.secret_hash)
    if own is None and credential.actor is not None:
        if credential.org_slug is not None:
            # An instance key may know which organizations exist; the person it acts for may not.
            _named(session, credential.org_slug)
        return _as_person(session, _actor(session, credential, key), credential, key=key)
    organization = _acting_for(session, own, credential.org_slug)
    return Identity(
        org_id=str(organization.id),
        org_slug=organization.slug,
        permissions=effective(key.permissions),
        key=KeyRef(key.id, key.name),
        user=None,
        instance_scoped=own is None,
        expires_at=key.expires_at,
    )


def load_person(session: Session, config: Settings, credential: Credential) -> Person:
    """Reads the signed-in person, or the actor of an instance key.

    Raises `Unauthorized` if none.
    """
    person = _signed_in(session, config, credential)
    if person is not None:
        return person
    key, own = _find_key(session, credential.secret_hash)
    if own is not None or credential.actor is None:
        raise Unauthorized("this credential belongs to no signed-in user: sign in first")
    return _actor(session, credential, key)


def require_unexpired(expires_at: datetime | None) -> None:
    """Raises `Unauthorized` for an expired credential; None never expires."""
    if expires_at is not None and expires_at <= now():
        raise Unauthorized("this credential has expired: sign in again or use another key")


def _signed_in(session: Session, config: Settings, credential: Credential) -> Person | None:
    if credential.proxied is not None:
        members = allowed(session, config, memberships_of(session, email=credential.proxied))
        if not members:
            raise Unauthorized("the person whom the proxy names is not a member: ask to be invited")
        return Person(members[0].user_id, members[0].email, tuple(members), None)
    if not credential.is_session_token:
        return None
    found = find_session(session, config, credential.secret_hash)
    if found is None:
        return None
    require_unexpired(found.expires_at)
    return Person(found.user_id, found.email, found.memberships, found.expires_at)


def _actor(session: Session, credential: Credential, key: ApiKey) -> Person:
    members = memberships_of(session, email=credential.actor)
    if not members:
        raise Forbidden("X-Service-Actor names no active member", code="actor_not_member")
    held = effective(key.permissions)
    if not held >= FOR_KEYS:
        # A key without all permissions limits the person to its own permissions.
        members = [replace(one, permissions=one.permissions & held) for one in members]
    return Person(members[0].user_id, members[0].email, tuple(members), key.expires_at)


def _as_person(
    session: Session, person: Person, credential: Credential, *, key: ApiKey | None
) -> Identity:
    member = person.member_of(credential.org_slug, by_instance_key=key is not None)
    joined = member.is_pending and take_up(session, member.org_id, member.user_id)
    if key is None and credential.is_session_token:
        note_session(session, credential.secret_hash, member)
    return Identity(
        org_id=str(member.org_id),
        org_slug=member.org_slug,
        permissions=member.permissions,
        key=None if key is None else KeyRef(key.id, key.name),
        user=UserRef(person.user_id, person.email),
        instance_scoped=key is not None,
        expires_at=person.expires_at,
        joined=joined,
    )


def _find_key(session: Session, secret_hash: bytes) -> tuple[ApiKey, Organization | None]:
    """Finds the key of a secret and its organization, which is None for a key of the instance."""
    query = (
        select(ApiKey, Organization)
        .outerjoin(Organization, Organization.id == ApiKey.org_id)
        .where(ApiKey.key_hash == secret_hash)
    )
    row = session.execute(query).one_or_none()
    # The lookup in the index does not run in constant time; this comparison decides.
    if row is None or not hmac.compare_digest(row[0].key_hash, secret_hash):
        raise Unauthorized("this credential is not known")
    key, own = row
    if key.revoked_at is not None or (own is not None and own.deleted_at is not None):
        raise Unauthorized("this API key is disabled")
    require_unexpired(key.expires_at)
    note_use(session, key)
    return key, own


def _acting_for(session: Session, own: Organization | None, slug: str | None) -> Organization:
    if own is None:
        return _named(session, organizations.DEFAULT_SLUG if slug is None else slug)
    if slug is not None and slug != own.slug:
        raise Forbidden("this API key belongs to another organization", code="foreign_org")
    return own


def _named(session: Session, slug: str) -> Organization:
    organization = organizations.get(session, slug)
    if organization is None:
        raise NotFound.named("organization", slug, code="org_not_found")
    return organization
