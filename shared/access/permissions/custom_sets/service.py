"""Permission sets, built in or of an organization: found, created, changed and deleted.

The members of a set are known to `shared.access.users`, a floor above, which hands them in as
`Holders`.
"""

import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.access.organizations.models import Organization
from shared.access.permissions import (
    BUILTIN_SETS,
    STANDARD_SET,
    BuiltinSet,
    effective,
    readable,
    require_known,
    require_may_grant,
)
from shared.access.permissions.custom_sets import rules
from shared.access.permissions.custom_sets.models import PermissionSet
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import ConfigurationError, Conflict, Invalid, NotFound
from shared.foundation.core.logs import get_logger
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import flush_unique

log = get_logger(__name__)


@dataclass(frozen=True)
class SetRecord:
    """A set as it is shown; `permissions` are current tokens, each once."""

    name: str
    description: str
    permissions: tuple[str, ...]
    is_builtin: bool


class Holders(Protocol):
    """The members of the organization, as far as their permission sets are concerned."""

    def default_set(self) -> str:
        """Returns the name of the set that new members get."""

    def notified(self, name: str) -> AbstractContextManager[None]:
        """Mails the active members of a set whose permissions the block changes."""

    def release(self, name: str) -> int:
        """Takes a set from its members, even disabled ones; returns their number."""


def list_(session: Session, org_id: uuid.UUID) -> list[SetRecord]:
    """Lists the built-in sets, then the organization's own by name."""
    query = select(PermissionSet).where(PermissionSet.org_id == org_id).order_by(PermissionSet.name)
    builtin = [_of_builtin(one) for one in BUILTIN_SETS.values()]
    return builtin + [_of_row(row) for row in session.scalars(query)]


def find(session: Session, org_id: uuid.UUID, name: str) -> SetRecord | None:
    """Finds a set by name; returns None if there is none."""
    if name in BUILTIN_SETS:
        return _of_builtin(BUILTIN_SETS[name])
    row = _row(session, org_id, name)
    return None if row is None else _of_row(row)


def get(session: Session, org_id: uuid.UUID, name: str) -> SetRecord:
    """Returns a set by name; raises `NotFound`."""
    found = find(session, org_id, name)
    if found is None:
        raise NotFound.named("permission set", name)
    return found


def chosen(
    session: Session, org_id: uuid.UUID, name: str, field: str = "permission_set"
) -> SetRecord:
    """Returns the set that a request names in `field`, so that something can refer to it.

    Locks the set until the end of the session's transaction, so that nobody deletes a set while it
    is being assigned. Raises `Invalid` naming `field`.
    """
    if name in BUILTIN_SETS:
        return _of_builtin(BUILTIN_SETS[name])
    row = _row(session, org_id, name, lock="share")
    if row is None:
        raise Invalid.field(field, "there is no permission set of this name")
    return _of_row(row)


def require_default(session: Session, config: Settings) -> None:
    """Raises `ConfigurationError` if no organization has the set of DEFAULT_USER_PERMISSIONS.

    Warns if only some have it: the others give `standard` to their new members.
    """
    name = config.default_user_permissions
    if name in BUILTIN_SETS:
        return
    query = select(PermissionSet.name).distinct().order_by(PermissionSet.name)
    custom = list(session.scalars(query))
    if name not in custom:
        raise ConfigurationError(
            "DEFAULT_USER_PERMISSIONS names no permission set: use one of"
            f" {', '.join([*BUILTIN_SETS, *custom])}"
        )
    having = select(PermissionSet.org_id).where(PermissionSet.name == name)
    living = select(func.count()).where(Organization.deleted_at.is_(None))
    if lacking := session.scalar(living.where(Organization.id.not_in(having))):
        log.warning("default_set_unknown_to_some", organizations=lacking, they_use=STANDARD_SET)


def create(
    session: Session,
    org_id: uuid.UUID,
    wanted: SetRecord,
    *,
    granter: frozenset[str],
) -> SetRecord:
    """Creates a set, which can only contain permissions that its creator holds.

    Raises `Invalid` naming the field, `Forbidden` naming a permission that the granter lacks,
    `Conflict` if the name is taken, even by a built-in set.
    """
    name = rules.require_name(wanted.name)
    rules.require_description(wanted.description)
    require_known(wanted.permissions)
    require_may_grant(wanted.permissions, granter)
    if name in BUILTIN_SETS:
        raise _taken()
    row = PermissionSet(
        org_id=org_id,
        name=name,
        description=wanted.description,
        permissions=readable(wanted.permissions),
    )
    session.add(row)
    flush_unique(session, {"pk_permission_sets": _taken()})
    record(session, org_id, "permission_set.create", target=name, after=_logged(row))
    return _of_row(row)


def replace(
    session: Session,
    org_id: uuid.UUID,
    name: str,
    holders: Holders,
    *,
    description: str | None,
    permissions: Sequence[str] | None,
    granter: frozenset[str],
) -> SetRecord:
    """Replaces the arguments that are not None, and mails members whose permissions change.

    Run it in `cache.at_once`. Raises `NotFound`, `Conflict` for a built-in set, `Invalid` naming
    the field, `Forbidden` naming a permission that the set gains and the granter lacks.
    """
    row = changeable(session, org_id, name)
    before = _logged(row)
    if description is not None:
        rules.require_description(description)
        row.description = description
    if permissions is not None:
        require_known(permissions)
        require_may_grant(effective(permissions) - effective(row.permissions), granter)
        with holders.notified(name):
            row.permissions = readable(permissions)
    row.updated_at = transaction_time(session)
    record(session, org_id, "permission_set.update", target=name, before=before, after=_logged(row))
    return _of_row(row)


def delete(session: Session, org_id: uuid.UUID, name: str, holders: Holders) -> int:
    """Deletes a set and takes it from its members, even disabled ones; returns their number.

    Active members whose permissions change get a mail. Run it in `cache.at_once`. Raises
    `NotFound`, `Conflict` for a built-in set and for the set of new members.
    """
    row = changeable(session, org_id, name)
    # Read after the set is locked: a change of the default holds the lock until it is committed.
    if name == holders.default_set():
        raise Conflict(
            "this is the set of new members: choose another in default_user_permissions first",
            code="set_is_default",
        )
    with holders.notified(name):
        session.delete(row)
        released = holders.release(name)
    before = {**_logged(row), "members": released}
    record(session, org_id, "permission_set.delete", target=name, before=before)
    return released


def changeable(session: Session, org_id: uuid.UUID, name: str) -> PermissionSet:
    """Locks and returns an organization's own set.

    Raises `NotFound`, `Conflict` for a built-in one.
    """
    if name in BUILTIN_SETS:
        raise Conflict(
            "built-in permission sets cannot be changed: create another one", code="builtin_set"
        )
    row = _row(session, org_id, name, lock="update")
    if row is None:
        raise NotFound.named("permission set", name)
    return row


def _row(
    session: Session, org_id: uuid.UUID, name: str, *, lock: str | None = None
) -> PermissionSet | None:
    if not rules.is_name(name):
        return None
    query = select(PermissionSet).where(PermissionSet.org_id == org_id, PermissionSet.name == name)
    if lock is not None:
        query = query.with_for_update(read=lock == "share")
    return session.scalars(query).one_or_none()


def _logged(row: PermissionSet) -> dict[str, object]:
    return fields_of(row, "description", "permissions")


def _of_row(row: PermissionSet) -> SetRecord:
    return SetRecord(row.name, row.description, tuple(readable(row.permissions)), is_builtin=False)


def _of_builtin(one: BuiltinSet) -> SetRecord:
    return SetRecord(one.name, one.description, tuple(sorted(one.permissions)), is_builtin=True)


def _taken() -> Conflict:
    return Conflict("a permission set of this name exists: choose another name", code="set_exists")
