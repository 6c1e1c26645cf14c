"""API keys: creates, lists, changes, revokes and renews them; the web tier checks permissions."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, exists, func, or_, select, update
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.access.keys import rules
from shared.access.keys.models import ApiKey
from shared.access.organizations import DEFAULT_SLUG, Organization
from shared.access.permissions import FOR_KEYS, effective, require_for_keys, require_may_grant
from shared.access.permissions.custom_sets import service as permission_sets
from shared.foundation.core.clock import now
from shared.foundation.core.errors import Conflict, Forbidden
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import flush_unique, require_row


@dataclass(frozen=True)
class NewKey:
    """The key to create; the caller chooses the secret.

    The key gets the tokens of `permission_set` that a key can hold, plus `permissions`. Without
    either it gets `DEFAULT_PERMISSIONS`. Later changes of the set do not affect the key.
    """

    name: str
    secret: str
    permissions: Iterable[str] | None = None
    permission_set: str | None = None
    expires_at: datetime | None = None


def create(
    session: Session, org_id: uuid.UUID, wanted: NewKey, *, granter: frozenset[str]
) -> ApiKey:
    """Creates a key of an organization, on behalf of somebody with the permissions `granter`.

    Raises `Invalid` naming the field, `Forbidden` naming a permission that the granter lacks, and
    `Conflict` if the name or the secret is in use.
    """
    rules.require_name(wanted.name)
    rules.require_secret(wanted.secret)
    rules.require_future(wanted.expires_at)
    permissions = _wanted_permissions(session, org_id, wanted)
    require_may_grant(permissions, granter)
    key = ApiKey(
        org_id=org_id,
        name=wanted.name,
        key_hash=rules.hash_secret(wanted.secret.encode()),
        permissions=permissions,
        expires_at=wanted.expires_at,
    )
    session.add(key)
    flush_unique(session, _conflicts())
    record(session, org_id, "key.create", of=key, after=_shown(key))
    return key


def listed_in(org_id: uuid.UUID) -> ColumnElement[bool]:
    """Selects the keys that an organization lists: its own.

    Keys of the instance belong to no organization; the default organization lists them too.
    """
    default = exists().where(Organization.id == org_id, Organization.slug == DEFAULT_SLUG)
    return or_(ApiKey.org_id == org_id, ApiKey.org_id.is_(None) & default)


def list_(session: Session, org_id: uuid.UUID) -> list[ApiKey]:
    """Lists the keys of an organization, newest first, including disabled ones."""
    query = select(ApiKey).where(listed_in(org_id))
    return list(session.scalars(query.order_by(ApiKey.created_at.desc(), ApiKey.id)))


def count_active(session: Session, org_id: uuid.UUID) -> int:
    """Counts the listed keys that are neither disabled nor expired."""
    query = select(func.count()).where(
        listed_in(org_id),
        ApiKey.revoked_at.is_(None),
        or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now()),
    )
    return session.scalar(query) or 0


def change(
    session: Session,
    org_id: uuid.UUID,
    key_id: str,
    permissions: Iterable[str],
    *,
    granter: frozenset[str],
) -> ApiKey:
    """Replaces the permissions of a key; run it in `cache.at_once`.

    Raises `Invalid` naming `permissions`, `Forbidden` naming a permission that the key gains and
    the granter lacks, and the errors of `disable`.
    """
    wanted = list(dict.fromkeys(permissions))
    require_for_keys(wanted)
    key = _changeable(session, org_id, key_id)
    require_may_grant(set(wanted) - effective(key.permissions), granter)
    before = _shown(key)
    key.permissions = wanted
    record(session, org_id, "key.update", of=key, before=before, after=_shown(key))
    return key


def disable(session: Session, org_id: uuid.UUID, key_id: str) -> ApiKey:
    """Revokes a key for good; run it in `cache.at_once`.

    Raises `NotFound`, `Forbidden` for a protected key, `Conflict` for a revoked one.
    """
    key = _changeable(session, org_id, key_id)
    key.revoked_at = transaction_time(session)
    record(session, org_id, "key.disable", of=key)
    return key


def regenerate(
    session: Session, org_id: uuid.UUID, key_id: str, *, granter: frozenset[str]
) -> tuple[ApiKey, str]:
    """Replaces the secret of a key and returns both; run it in `cache.at_once`.

    Knowing the secret gives all permissions of the key, so this is a grant like any other. Raises
    `Forbidden` naming a permission that the granter lacks, and the errors of `disable`.
    """
    key = _changeable(session, org_id, key_id)
    require_may_grant(effective(key.permissions), granter)
    secret = rules.new_secret()
    key.key_hash = rules.hash_secret(secret.encode())
    record(session, org_id, "key.regenerate", of=key)
    return key, secret


def note_use(session: Session, key: ApiKey) -> None:
    """Remembers that a key is in use, with one write a minute at most.

    Processes keep identities for a minute, so a key in use is read, and noted, often enough.
    """
    minute = now().replace(second=0, microsecond=0)
    if key.last_used_at is not None and key.last_used_at >= minute:
        return
    is_due = or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < minute)
    note = update(ApiKey).where(ApiKey.id == key.id, is_due).values(last_used_at=minute)
    session.execute(note.execution_options(synchronize_session=False))


def _shown(key: ApiKey) -> dict[str, object]:
    """Returns the fields of a key for the audit log."""
    return fields_of(key, "name", "permissions", "expires_at")


def _wanted_permissions(session: Session, org_id: uuid.UUID, wanted: NewKey) -> list[str]:
    """Returns the tokens of the set that a key can hold, then the named ones, each once.

    Raises `Invalid` naming `permission_set` or `permissions`. A token that no key can hold is an
    error only if it is named.
    """
    named = wanted.permissions
    if named is None:
        named = rules.DEFAULT_PERMISSIONS if wanted.permission_set is None else ()
    named = list(named)
    require_for_keys(named)
    if wanted.permission_set is None:
        return list(dict.fromkeys(named))
    seed = permission_sets.chosen(session, org_id, wanted.permission_set).permissions
    return list(dict.fromkeys([token for token in seed if token in FOR_KEYS] + named))


def _changeable(session: Session, org_id: uuid.UUID, key_id: str) -> ApiKey:
    """Locks and returns the key.

    Finds keys of the instance too, in order to refuse their change.
    """
    keys = select(ApiKey).where(or_(ApiKey.org_id == org_id, ApiKey.org_id.is_(None)))
    key = require_row(session, keys.with_for_update(), ApiKey.id, key_id, "key")
    if key.is_protected:
        raise Forbidden(
            "this key is protected: change its variable and restart to rotate it",
            code="protected_key",
        )
    if key.revoked_at is not None:
        raise Conflict("this key is disabled: create another one", code="key_disabled")
    return key


def _conflicts() -> dict[str, Conflict]:
    """Returns the error for each unique constraint."""
    return {
        "uq_api_keys_key_hash": Conflict(
            "this secret is in use: choose another one", code="secret_in_use"
        ),
        "uq_api_keys_live_name": Conflict(
            "a key of this name exists: choose another name", code="key_name_taken"
        ),
    }
