"""API keys: create, list, change, disable and regenerate them."""

from typing import Any

from shared.access.keys import service as keys
from shared.access.keys.models import ApiKey
from shared.access.keys.service import NewKey
from web.auth import current_identity, requires, requires_person
from web.blueprint import Blueprint
from web.keys.schemas import KeyBody, KeyChangeBody, KeyRow, RegeneratedKey
from web.responses import row_of
from web.transaction import Tx, in_transaction, in_transaction_at_once

blueprint = Blueprint("keys", "Credentials of programs")


@blueprint.route("/keys", methods=["POST"])
@requires("keys:create")
@blueprint.arguments(KeyBody)
@blueprint.grants
@blueprint.response(201, KeyRow, errors=(409,))
@in_transaction
def create_key(tx: Tx, body: dict[str, Any]) -> ApiKey:
    """Create a key of the organization.

    The caller chooses the secret and can only grant permissions that it holds itself.
    """
    wanted = NewKey(
        name=body["name"],
        secret=body["key"],
        permissions=body.get("permissions"),
        permission_set=body["permission_set"],
        expires_at=body["expires_at"],
    )
    return keys.create(*tx, wanted, granter=current_identity().permissions)


@blueprint.route("/keys")
@requires("keys:read")
@blueprint.response(200, KeyRow(many=True))
@in_transaction
def list_keys(tx: Tx) -> list[ApiKey]:
    """List the organization's keys, newest first, including disabled ones.

    The default organization also lists the keys of the instance.
    """
    return keys.list_(*tx)


@blueprint.route("/keys/<key_id>", methods=["PATCH"])
@requires_person("keys:update")
@blueprint.arguments(KeyChangeBody)
@blueprint.grants
@blueprint.response(200, KeyRow, errors=(409,))
@in_transaction_at_once
def update_key(tx: Tx, body: dict[str, Any], key_id: str) -> ApiKey:
    """Replace a key's permissions, from its next request on.

    The caller can only add permissions that it holds itself.
    """
    granter = current_identity().permissions
    return keys.change(*tx, key_id, body["permissions"], granter=granter)


@blueprint.route("/keys/<key_id>/disable", methods=["POST"])
@requires("keys:disable")
@blueprint.response(200, KeyRow, errors=(409,))
@in_transaction_at_once
def disable_key(tx: Tx, key_id: str) -> ApiKey:
    """Revoke a key for good, from its next request on."""
    return keys.disable(*tx, key_id)


@blueprint.route("/keys/<key_id>/regenerate", methods=["POST"])
@requires("keys:regenerate")
@blueprint.grants
@blueprint.response(200, RegeneratedKey, errors=(409,))
@in_transaction_at_once
def regenerate_key(tx: Tx, key_id: str) -> dict[str, Any]:
    """Give a key a new secret. The old one stops working with the next request.

    The caller learns the secret, so a key with more permissions than the caller's is refused.
    """
    granter = current_identity().permissions
    key, secret = keys.regenerate(*tx, key_id, granter=granter)
    return row_of(RegeneratedKey, key, key=secret)
