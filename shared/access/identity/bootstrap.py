"""The first identities of a deployment, from ADMIN_KEY, AGENT_API_KEY and ADMIN_EMAIL.

This runs at every start of the web tier. Several processes may start at once: an advisory lock
makes them take turns, and the second finds nothing to change.

A variable that is no longer set revokes its key, because an operator who removes it expects the old
secret to be invalid. Setting it again, to the same value or another, restores the key. The member
of ADMIN_EMAIL is added once and never again, because people are managed through the API and
`service-orgctl`: a member that was removed stays removed.
"""

from collections.abc import Mapping

from sqlalchemy import select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access import audit_log, organizations
from shared.access.identity.models import FirstMember
from shared.access.keys.models import ApiKey
from shared.access.keys.rules import hash_secret
from shared.access.permissions import ADMIN_SET, FOR_KEYS
from shared.access.users.models import Membership, User
from shared.foundation.cache import at_once
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import ConfigurationError, Invalid
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import lock_until_commit, transaction_time

ASSISTANT_PERMISSIONS = frozenset(
    {
        "events:read",
        "evaluations:read",
        "dashboards:read",
        "dashboards:write",
        "queries:read",
        "queries:write",
        "queries:run",
    }
)
# Every permission that a key can hold: `keys:update` and `orgs:admin` are for people only.
_GRANTS: Mapping[str, frozenset[str]] = {
    "admin": FOR_KEYS,
    "dashboard-assistant": ASSISTANT_PERMISSIONS,
}
_VARIABLES = {"admin": "ADMIN_KEY", "dashboard-assistant": "AGENT_API_KEY"}


def bootstrap(runtime: Runtime) -> None:
    """Updates the two keys and the first member to match the settings.

    Raises `ConfigurationError` for a secret that is in use or an invalid address, and `Unavailable`
    while PostgreSQL or Redis is down.
    """
    settings = runtime.settings
    secrets = {"admin": settings.admin_key, "dashboard-assistant": settings.agent_api_key}
    if secrets["admin"] is not None and secrets["admin"] == secrets["dashboard-assistant"]:
        raise ConfigurationError("ADMIN_KEY and AGENT_API_KEY must differ")
    with runtime.postgres.transaction() as session:
        _take_turn(session)
        if settings.admin_email is not None:
            _add_member(session, settings.admin_email)
        if not _outdated(session, secrets):
            return
    with at_once(runtime.postgres, runtime.redis) as session:
        _take_turn(session)
        for name, secret in _outdated(session, secrets).items():
            _upsert(session, name, secret)


def _take_turn(session: Session) -> None:
    lock_until_commit(session, "bootstrap")
    # The two keys may swap their secrets; only the result must be unique.
    session.execute(text("SET CONSTRAINTS uq_api_keys_key_hash DEFERRED"))


def _outdated(session: Session, secrets: Mapping[str, str | None]) -> dict[str, str | None]:
    """Returns those of `secrets` whose key does not match."""
    query = select(ApiKey).where(ApiKey.org_id.is_(None))
    keys = {key.name: key for key in session.scalars(query)}
    return {
        name: secret
        for name, secret in secrets.items()
        if not _is_current(keys.get(name), secret, _GRANTS[name])
    }


def _is_current(key: ApiKey | None, secret: str | None, grants: frozenset[str]) -> bool:
    if secret is None:
        return key is None or key.revoked_at is not None
    return (
        key is not None
        and key.revoked_at is None
        and key.key_hash == hash_secret(secret.encode())
        and set(key.permissions) == grants
    )


def _upsert(session: Session, name: str, secret: str | None) -> None:
    if secret is None:
        revoke = update(ApiKey).where(ApiKey.org_id.is_(None), ApiKey.name == name)
        session.execute(revoke.values(revoked_at=transaction_time(session)))
        audit_log.record(session, None, "key.disable", name=name)
        return
    key_hash = hash_secret(secret.encode())
    taken = select(ApiKey.id).where(ApiKey.key_hash == key_hash, ApiKey.org_id.is_not(None))
    if session.scalars(taken).first() is not None:
        raise ConfigurationError(
            f"{_VARIABLES[name]} is the secret of another key: choose another one"
        )
    values = {
        "key_hash": key_hash,
        "permissions": sorted(_GRANTS[name]),
        "is_protected": True,
        "revoked_at": None,
    }
    session.execute(
        insert(ApiKey)
        .values(id=new_id(), org_id=None, name=name, **values)
        .on_conflict_do_update(
            index_elements=[ApiKey.name], index_where=ApiKey.org_id.is_(None), set_=values
        )
    )
    after = {"variable": _VARIABLES[name], "permissions": values["permissions"]}
    audit_log.record(session, None, "key.update", name=name, after=after)


def _add_member(session: Session, email: str) -> None:
    try:
        address = normal_address(email)
    except Invalid:
        raise ConfigurationError("ADMIN_EMAIL is not an e-mail address") from None
    organization = organizations.get(session, organizations.DEFAULT_SLUG)
    if organization is None:
        raise ConfigurationError("the organization `default` is missing: run `bin/release` first")
    remember = insert(FirstMember).values(org_id=organization.id, email=address)
    fresh = remember.on_conflict_do_nothing().returning(FirstMember.email)
    if session.scalars(fresh).one_or_none() is None:
        return
    session.execute(insert(User).values(id=new_id(), email=address).on_conflict_do_nothing())
    user_id = session.scalars(select(User.id).where(User.email == address)).one()
    session.execute(
        insert(Membership)
        .values(
            org_id=organization.id,
            user_id=user_id,
            permission_set=ADMIN_SET,
            is_protected=True,
        )
        .on_conflict_do_nothing()
    )
    after = {"permission_set": ADMIN_SET, "is_protected": True}
    audit_log.record(
        session, organization.id, "user.create", target=user_id, name=address, after=after
    )
