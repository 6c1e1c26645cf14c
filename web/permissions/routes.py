"""Permission sets: named grants for members."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from shared.access import users
from shared.access.permissions.custom_sets import service as permission_sets
from shared.access.permissions.custom_sets.service import SetRecord
from shared.access.users import Granter, SetHolders
from shared.foundation.cache import at_once
from web.auth import current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.permissions.schemas import DeletedSet, NewSetBody, SetBody, SetRow
from web.responses import row_of
from web.state import runtime

blueprint = Blueprint("permission-sets", "Named grants for members")


@blueprint.route("/permission-sets")
@requires("users:read")
@blueprint.response(200, SetRow(many=True))
def list_permission_sets() -> list[dict[str, Any]]:
    """List the built-in permission sets, then the organization's own by name."""
    with runtime().postgres.transaction() as session:
        counts = users.active_by_set(session, current_org_id())
        return [_row(found, counts) for found in permission_sets.list_(session, current_org_id())]


@blueprint.route("/permission-sets", methods=["POST"])
@requires("settings:write")
@blueprint.arguments(NewSetBody)
@blueprint.grants
@blueprint.response(201, SetRow, errors=(409,))
def create_permission_set(body: dict[str, Any]) -> dict[str, Any]:
    """Create a permission set. It can only hold permissions that the caller holds."""
    wanted = SetRecord(
        name=body["name"],
        description=body.get("description", ""),
        permissions=tuple(body["permissions"]),
        is_builtin=False,
    )
    granter = current_identity().permissions
    with runtime().postgres.transaction() as session:
        made = permission_sets.create(session, current_org_id(), wanted, granter=granter)
        return _row(made, {})


@blueprint.route("/permission-sets/<any_id:name>")
@requires("users:read")
@blueprint.response(200, SetRow)
def get_permission_set(name: str) -> dict[str, Any]:
    """Read one permission set."""
    with runtime().postgres.transaction() as session:
        return _shown(session, permission_sets.get(session, current_org_id(), name))


@blueprint.route("/permission-sets/<any_id:name>", methods=["PUT"])
@requires("settings:write")
@blueprint.arguments(SetBody)
@blueprint.grants
@blueprint.response(200, SetRow, errors=(409,))
def update_permission_set(body: dict[str, Any], name: str) -> dict[str, Any]:
    """Change the permissions of a set, for all of its members from their next request on.

    Active members whose permissions change get a mail.

    The caller can only add permissions that it holds. Built-in sets are refused.
    """
    with at_once(runtime().postgres, runtime().redis) as session:
        changed = permission_sets.replace(
            session,
            current_org_id(),
            name,
            _holders(session),
            description=body.get("description"),
            permissions=body.get("permissions"),
            granter=current_identity().permissions,
        )
        return _shown(session, changed)


@blueprint.route("/permission-sets/<any_id:name>", methods=["DELETE"])
@requires("settings:write")
@blueprint.response(200, DeletedSet, errors=(409,))
def delete_permission_set(name: str) -> dict[str, int]:
    """Delete a permission set. Its members have no set from their next request on.

    Active members whose permissions change get a mail.

    Built-in sets and the set of new members are refused.
    """
    with at_once(runtime().postgres, runtime().redis) as session:
        affected = permission_sets.delete(session, current_org_id(), name, _holders(session))
    return {"affected_users": affected}


def _holders(session: Session) -> SetHolders:
    by = Granter(current_identity().name, current_identity().permissions)
    return SetHolders(session, runtime().queue, runtime().settings, current_org_id(), by)


def _shown(session: Session, found: SetRecord) -> dict[str, Any]:
    return _row(found, users.active_by_set(session, current_org_id()))


def _row(found: SetRecord, counts: Mapping[str, int]) -> dict[str, Any]:
    return row_of(SetRow, found, user_count=counts.get(found.name, 0))
