"""Permission sets of an organization, the built-in ones among them: find, make and change them.

Who is assigned to a set is known to `shared.users`, which stands above: `users.delete_set` deletes.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.core.clock import now
from shared.core.errors import Conflict, Invalid, NotFound
from shared.permissions import (
    BUILTIN_SETS,
    BuiltinSet,
    effective,
    readable,
    require_known,
    require_may_grant,
)
from shared.permissions.custom_sets import rules
from shared.permissions.custom_sets.models import PermissionSet


@dataclass(frozen=True)
class SetRecord:
    """A set as it is shown; `permissions` are today's tokens, each once."""

    name: str
    description: str
    permissions: tuple[str, ...]
    is_builtin: bool


def visible(session: Session, org_id: uuid.UUID) -> list[SetRecord]:
    """The built-in sets, then the organization's own by name."""
    query = select(PermissionSet).where(PermissionSet.org_id == org_id).order_by(PermissionSet.name)
    builtin = [_of_builtin(one) for one in BUILTIN_SETS.values()]
    return builtin + [_of_row(row) for row in session.scalars(query)]


def find(session: Session, org_id: uuid.UUID, name: str) -> SetRecord | None:
    """The set of this name, None where there is none."""
    if name in BUILTIN_SETS:
        return _of_builtin(BUILTIN_SETS[name])
    row = _row(session, org_id, name)
    return None if row is None else _of_row(row)


def get(session: Session, org_id: uuid.UUID, name: str) -> SetRecord:
    """The set of this name; raises `NotFound`."""
    found = find(session, org_id, name)
    if found is None:
        raise NotFound("there is no such permission set")
    return found


def chosen(
    session: Session, org_id: uuid.UUID, name: str, field: str = "permission_set"
) -> SetRecord:
    """The set that a field of a request names, for something that will refer to it.

    It stays as it is until the end of the session's transaction: nobody deletes a set that is being
    assigned. Raises `Invalid` naming `field`.
    """
    if name in BUILTIN_SETS:
        return _of_builtin(BUILTIN_SETS[name])
    row = _row(session, org_id, name, lock="share")
    if row is None:
        raise Invalid.field(field, "there is no permission set of this name")
    return _of_row(row)


def create(
    session: Session,
    org_id: uuid.UUID,
    wanted: SetRecord,
    *,
    granter: frozenset[str],
) -> SetRecord:
    """A new set, which can only hold what its maker holds.

    Raises `Invalid` naming the field, `Forbidden` naming a permission that the granter lacks,
    `Conflict` when the name is taken, be it by a built-in set.
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
    try:
        session.flush()
    except IntegrityError as error:
        if "pk_permission_sets" in str(error.orig):
            raise _taken() from None
        raise
    return _of_row(row)


def change(
    session: Session,
    org_id: uuid.UUID,
    name: str,
    *,
    description: str | None,
    permissions: Sequence[str] | None,
    granter: frozenset[str],
) -> SetRecord:
    """Replaces what is not None; run it in `generation.at_once`, for its members have it at once.

    Raises `NotFound`, `Conflict` for a built-in set, `Invalid` naming the field, `Forbidden` naming
    a permission that the set gains and the granter lacks.
    """
    row = changeable(session, org_id, name)
    if description is not None:
        rules.require_description(description)
        row.description = description
    if permissions is not None:
        require_known(permissions)
        require_may_grant(effective(permissions) - effective(row.permissions), granter)
        row.permissions = readable(permissions)
    row.updated_at = now()
    return _of_row(row)


def changeable(session: Session, org_id: uuid.UUID, name: str) -> PermissionSet:
    """The organization's own set, locked; raises `NotFound`, `Conflict` for a built-in one."""
    if name in BUILTIN_SETS:
        raise Conflict("built-in permission sets cannot be changed", code="builtin_set")
    row = _row(session, org_id, name, lock="update")
    if row is None:
        raise NotFound("there is no such permission set")
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


def _of_row(row: PermissionSet) -> SetRecord:
    return SetRecord(row.name, row.description, tuple(readable(row.permissions)), is_builtin=False)


def _of_builtin(one: BuiltinSet) -> SetRecord:
    return SetRecord(one.name, one.description, tuple(sorted(one.permissions)), is_builtin=True)


def _taken() -> Conflict:
    return Conflict("a permission set of this name exists", code="set_exists")
