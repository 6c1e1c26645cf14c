"""Permission sets: named grants for members."""

from collections.abc import Mapping
from typing import Any

from shared.access import users
from shared.access.permissions.custom_sets import service as permission_sets
from shared.access.permissions.custom_sets.service import SetRecord
from shared.access.users import Granter, SetHolders
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.permissions.schemas import DeletedSet, NewSetBody, SetBody, SetRow
from web.responses import row_of
from web.state import runtime
from web.transaction import Tx, in_transaction, in_transaction_at_once

blueprint = Blueprint("permission-sets", "Named grants for members")


@blueprint.route("/permission-sets")
@requires("users:read")
@blueprint.response(200, SetRow(many=True))
@in_transaction
def list_permission_sets(tx: Tx) -> list[dict[str, Any]]:
    """List the built-in permission sets, then the organization's own by name."""
    counts = users.active_by_set(*tx)
    return [_row(found, counts) for found in permission_sets.list_(*tx)]


@blueprint.route("/permission-sets", methods=["POST"])
@requires("settings:write")
@blueprint.arguments(NewSetBody)
@blueprint.grants
@blueprint.response(201, SetRow, errors=(409,))
@in_transaction
def create_permission_set(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Create a permission set. It can only hold permissions that the caller holds."""
    wanted = SetRecord(
        name=body["name"],
        description=body.get("description", ""),
        permissions=tuple(body["permissions"]),
        is_builtin=False,
    )
    granter = current_identity().permissions
    made = permission_sets.create(*tx, wanted, granter=granter)
    return _row(made, {})


@blueprint.route("/permission-sets/<any_id:name>")
@requires("users:read")
@blueprint.response(200, SetRow)
@in_transaction
def get_permission_set(tx: Tx, name: str) -> dict[str, Any]:
    """Read one permission set."""
    return _shown(tx, permission_sets.get(*tx, name))


@blueprint.route("/permission-sets/<any_id:name>", methods=["PUT"])
@requires("settings:write")
@blueprint.arguments(SetBody)
@blueprint.grants
@blueprint.response(200, SetRow, errors=(409,))
@in_transaction_at_once
def update_permission_set(tx: Tx, body: dict[str, Any], name: str) -> dict[str, Any]:
    """Change the permissions of a set, for all of its members from their next request on.

    Active members whose permissions change get a mail.

    The caller can only add permissions that it holds. Built-in sets are refused.
    """
    changed = permission_sets.replace(
        *tx,
        name,
        _holders(tx),
        description=body.get("description"),
        permissions=body.get("permissions"),
        granter=current_identity().permissions,
    )
    return _shown(tx, changed)


@blueprint.route("/permission-sets/<any_id:name>", methods=["DELETE"])
@requires("settings:write")
@blueprint.response(200, DeletedSet, errors=(409,))
@in_transaction_at_once
def delete_permission_set(tx: Tx, name: str) -> dict[str, int]:
    """Delete a permission set. Its members have no set from their next request on.

    Active members whose permissions change get a mail.

    Built-in sets and the set of new members are refused.
    """
    affected = permission_sets.delete(*tx, name, _holders(tx))
    return {"affected_users": affected}


def _holders(tx: Tx) -> SetHolders:
    by = Granter(current_identity().name, current_identity().permissions)
    return SetHolders(tx.session, runtime().queue, runtime().settings, tx.org_id, by)


def _shown(tx: Tx, found: SetRecord) -> dict[str, Any]:
    return _row(found, users.active_by_set(*tx))


def _row(found: SetRecord, counts: Mapping[str, int]) -> dict[str, Any]:
    return row_of(SetRow, found, user_count=counts.get(found.name, 0))
