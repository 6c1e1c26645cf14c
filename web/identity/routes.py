"""A credential's description of itself."""

from typing import Any

from marshmallow import Schema

from shared.foundation.core.errors import Unauthorized
from web import fields
from web.auth import current_identity, requires_identity
from web.blueprint import Blueprint

blueprint = Blueprint("auth", "Identity of a credential")


class Introspection(Schema):
    """The key that made the request."""

    id = fields.uuid()
    name = fields.text()
    org_id = fields.text("null for instance-scoped keys", null=True)
    org_slug = fields.text("null for instance-scoped keys", null=True)
    instance_scoped = fields.flag()
    permissions = fields.texts()
    expires_at = fields.moment(null=True)


@blueprint.route("/auth/introspect")
@requires_identity
@blueprint.response(200, Introspection)
def introspect() -> dict[str, Any]:
    """Describe the calling key. A session gets 401, because it is no key."""
    identity = current_identity()
    if identity.key is None:
        raise Unauthorized("authentication required: send an API key (Authorization: Bearer <key>)")
    return {
        "id": identity.key.id,
        "name": identity.key.name,
        "org_id": None if identity.instance_scoped else identity.org_id,
        "org_slug": None if identity.instance_scoped else identity.org_slug,
        "instance_scoped": identity.instance_scoped,
        "permissions": sorted(identity.permissions),
        "expires_at": identity.expires_at,
    }
