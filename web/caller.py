"""The caller of a request, as the audit log names it."""

from dataclasses import replace

from flask import Flask, g, has_request_context, request

from shared.access.audit_log import SYSTEM, Caller, Way, acting_as
from shared.access.identity import Identity
from web.client_address import address_of_request
from web.request_log import request_id

_MCP = "/v1/mcp"


def init_app(app: Flask) -> None:
    """Names the caller of whatever a request records."""
    app.before_request(_begin)


def _begin() -> None:
    acting_as(_caller)


def _caller() -> Caller:
    # The thread keeps this function after its request.
    if not has_request_context():
        return SYSTEM
    way: Way = "mcp" if request.path == _MCP else "web"
    identity: Identity | None = g.get("identity")
    # A route without a credential, such as sign-in, has no identity.
    caller = _of(identity, way) if identity is not None else Caller("anonymous", "", way)
    return replace(caller, address=address_of_request() or None, request_id=request_id())


def _of(identity: Identity, way: Way) -> Caller:
    key = identity.key
    if identity.user is None:
        return Caller("key", identity.name, way, None if key is None else key.id)
    key_name = None if key is None else key.name
    return Caller("user", identity.name, way, identity.user.id, key_name)
