"""From a bearer secret to an identity; see `generation.py` for why the cache is never stale."""

import hmac

import redis
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import organizations
from shared.clock import now
from shared.errors import Forbidden, NotFound, Unauthorized
from shared.identity.cache import IdentityCache
from shared.identity.generation import current_generation
from shared.identity.identity import Identity
from shared.keys.models import ApiKey
from shared.keys.rules import hash_secret
from shared.organizations.models import Organization
from shared.permissions import effective
from shared.postgres import Postgres


class Authenticator:
    """Authenticates the requests of one process.

    A cached identity costs one round trip to Redis and nothing of PostgreSQL; while Redis is away
    every request asks PostgreSQL.
    """

    def __init__(self, postgres: Postgres, client: redis.Redis) -> None:
        self._postgres = postgres
        self._redis = client
        self._cache = IdentityCache()

    def authenticate(self, secret: bytes, org_slug: str | None) -> Identity:
        """The identity of an API key's secret, acting for `org_slug` (see wire §2).

        Raises `Unauthorized` for a key that is unknown, revoked, expired or of a deleted
        organization, `NotFound` when an instance-scoped key names no organization there is,
        `Forbidden` when another key names an organization that is not its own, and `Unavailable`
        while PostgreSQL is needed and away.
        """
        key = (hash_secret(secret), org_slug)
        generation = current_generation(self._redis)
        identity = None if generation is None else self._cache.get(key, generation)
        if identity is None:
            with self._postgres.transaction() as session:
                identity = _load(session, *key)
            if generation is not None:
                self._cache.put(key, generation, identity)
        if identity.expires_at is not None and identity.expires_at <= now():
            raise Unauthorized("this API key has expired")
        return identity


def _load(session: Session, key_hash: bytes, org_slug: str | None) -> Identity:
    query = (
        select(ApiKey, Organization)
        .outerjoin(Organization, Organization.id == ApiKey.org_id)
        .where(ApiKey.key_hash == key_hash)
    )
    row = session.execute(query).one_or_none()
    # The index found it in a time of its own; this comparison is the one that counts.
    if row is None or not hmac.compare_digest(row[0].key_hash, key_hash):
        raise Unauthorized("this API key is not known")
    key, own = row
    if key.revoked_at is not None or (own is not None and own.deleted_at is not None):
        raise Unauthorized("this API key is disabled")
    organization = _acting_for(session, own, org_slug)
    return Identity(
        key_id=key.id,
        name=key.name,
        org_id=str(organization.id),
        org_slug=organization.slug,
        permissions=effective(key.permissions),
        instance_scoped=own is None,
        expires_at=key.expires_at,
    )


def _acting_for(session: Session, own: Organization | None, slug: str | None) -> Organization:
    if own is None:
        chosen = organizations.find(session, organizations.DEFAULT_SLUG if slug is None else slug)
        if chosen is None:
            raise NotFound("there is no such organization", code="org_not_found")
        return chosen
    if slug is not None and slug != own.slug:
        raise Forbidden("this API key belongs to another organization", code="foreign_org")
    return own
