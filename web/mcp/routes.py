"""The route of MCP. Its package is loaded with the first request, because it is large."""

from flask import Response, request
from marshmallow import Schema

from shared.assistant.asker import Asker
from shared.foundation.core.errors import Unavailable
from web import fields
from web.auth import current_identity, current_org_id, require_access_still, requires_identity
from web.blueprint import Blueprint
from web.body import read_body
from web.state import runtime, state

# Clients are configured with the short path.
ALIASES = {"/mcp": "/v1/mcp"}
_MAX_BODY_BYTES = 1024 * 1024

blueprint = Blueprint("mcp", "The tools of the assistant, for coding agents")


class McpMessage(Schema):
    """A message of JSON-RPC 2.0."""

    jsonrpc = fields.text()
    id = fields.raw(required=False)
    result = fields.mapping("the answer", required=False)
    error = fields.mapping("the reason why there is none", required=False)


# A refusal by the package carries an error of JSON-RPC, one before it the usual error.
_REFUSAL = {
    "oneOf": [
        {"$ref": "#/components/schemas/ErrorBody"},
        {"$ref": "#/components/schemas/McpMessage"},
    ]
}

_BODY = {
    "required": True,
    "content": {"application/json": {"schema": {"type": "object", "description": "JSON-RPC 2.0"}}},
}


@blueprint.route("/mcp", methods=["POST"])
@requires_identity
@blueprint.doc(requestBody=_BODY)
@blueprint.alt_response(400, schema=_REFUSAL)
@blueprint.alt_response(404, schema=_REFUSAL)
@blueprint.alt_response(406, schema=McpMessage)
@blueprint.alt_response(415, schema=_REFUSAL)
@blueprint.response(200, McpMessage, description="JSON-RPC 2.0")
@blueprint.alt_response(408, "REQUEST_TIMEOUT")
@blueprint.alt_response(413, "REQUEST_ENTITY_TOO_LARGE")
@blueprint.alt_response(202, description="A notification, which has no answer")
def call_mcp() -> Response:
    """Answer one message of the Model Context Protocol (streamable HTTP, without sessions).

    The tools read what the credential may read. The header `Accept` has to allow JSON. Also at
    `/mcp`.
    """
    try:
        from web.mcp import server
    except ImportError:
        raise Unavailable(
            "this deployment has no MCP: install the extra `mcp`", code="mcp_not_installed"
        ) from None
    body = read_body(_MAX_BODY_BYTES)
    require_access_still()
    identity = current_identity()
    asker = Asker(
        runtime(),
        state().queries,
        current_org_id(),
        identity.org_slug,
        identity.permissions,
        identity.name,
    )
    found = server.answer(asker, request.method, dict(request.headers), body)
    return Response(found.body, status=found.status, headers=dict(found.headers))
