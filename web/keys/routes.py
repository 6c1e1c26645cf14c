"""API keys: create, list, change, disable and regenerate them."""

from typing import Any

from shared.access.keys import service as keys
from shared.access.keys.models import ApiKey
from shared.access.keys.service import NewKey
from shared.foundation.cache import at_once
from web.auth import current_identity, current_org_id, requires, requires_person
from web.blueprint import Blueprint
from web.keys.schemas import KeyBody, KeyChangeBody, KeyRow, RegeneratedKey
from web.responses import row_of
from web.state import runtime

blueprint = Blueprint("keys", "Credentials of programs")


@blueprint.route("/keys", methods=["POST"])
@requires("keys:create")
@blueprint.arguments(KeyBody)
@blueprint.grants
@blueprint.response(201, KeyRow, errors=(409,))
def create_key(body: dict[str, Any]) -> ApiKey:
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
    identity = current_identity()
    with runtime().postgres.transaction() as session:
        return keys.create(session, current_org_id(), wanted, granter=identity.permissions)


@blueprint.route("/keys")
@requires("keys:read")
@blueprint.response(200, KeyRow(many=True))
def list_keys() -> list[ApiKey]:
    """List the organization's keys, newest first, including disabled ones.

    The default organization also lists the keys of the instance.
    """
    with runtime().postgres.transaction() as session:
        return keys.list_(session, current_org_id())


@blueprint.route("/keys/<key_id>", methods=["PATCH"])
@requires_person("keys:update")
@blueprint.arguments(KeyChangeBody)
@blueprint.grants
@blueprint.response(200, KeyRow, errors=(409,))
def update_key(body: dict[str, Any], key_id: str) -> ApiKey:
    """Replace a key's permissions, from its next request on.

    The caller can only add permissions that it holds itself.
    """
    granter = current_identity().permissions
    with at_once(runtime().postgres, runtime().redis) as session:
        return keys.change(session, current_org_id(), key_id, body["permissions"], granter=granter)


@blueprint.route("/keys/<key_id>/disable", methods=["POST"])
@requires("keys:disable")
@blueprint.response(200, KeyRow, errors=(409,))
def disable_key(key_id: str) -> ApiKey:
    """Revoke a key for good, from its next request on."""
    with at_once(runtime().postgres, runtime().redis) as session:
        return keys.disable(session, current_org_id(), key_id)


@blueprint.route("/keys/<key_id>/regenerate", methods=["POST"])
@requires("keys:regenerate")
@blueprint.grants
@blueprint.response(200, RegeneratedKey, errors=(409,))
def regenerate_key(key_id: str) -> dict[str, Any]:
    """Give a key a new secret. The old one stops working with the next request.

    The caller learns the secret, so a key with more permissions than the caller's is refused.
    """
    granter = current_identity().permissions
    with at_once(runtime().postgres, runtime().redis) as session:
        key, secret = keys.regenerate(session, current_org_id(), key_id, granter=granter)
    return row_of(RegeneratedKey, key, key=secret)
