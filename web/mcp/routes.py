"""The route of MCP. Its package is loaded with the first request, because it is large."""

from flask import Response, request
from marshmallow import Schema

from shared.assistant.asker import Asker
from shared.core.errors import Unavailable
from web import fields
from web.auth import current_identity, current_org_id, requires_identity
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


_BODY = {
    "required": True,
    "content": {"application/json": {"schema": {"type": "object", "description": "JSON-RPC 2.0"}}},
}


@blueprint.route("/mcp", methods=["POST"])
@requires_identity
@blueprint.doc(requestBody=_BODY)
@blueprint.response(200, McpMessage, description="JSON-RPC 2.0")
@blueprint.reads_body
def call_mcp() -> Response:
    """Answer one message of the Model Context Protocol (streamable HTTP, without sessions).

    The tools read what the credential may read. Also at `/mcp`.
    """
    try:
        from web.mcp import server
    except ImportError:
        raise Unavailable(
            "this deployment has no MCP: install the extra `mcp`", code="mcp_not_installed"
        ) from None
    identity = current_identity()
    asker = Asker(
        runtime(),
        state().queries,
        current_org_id(),
        identity.org_slug,
        identity.permissions,
        identity.name,
    )
    found = server.answer(asker, request.method, dict(request.headers), read_body(_MAX_BODY_BYTES))
    return Response(found.body, status=found.status, headers=dict(found.headers))
