"""Who may call a route: one decorator declares it, enforces it and documents it.

    @blueprint.route("/keys")
    @requires("keys:read")
    @blueprint.response(200, KeyRow(many=True))
    def list_keys() -> ...

It stands directly below `route`, so that nothing of a request is read before it is allowed.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from flask import g, request

from shared.errors import Unauthorized
from shared.identity import Identity
from web.request_log import HEADER as REQUEST_ID_HEADER
from web.state import state

P = ParamSpec("P")
R = TypeVar("R")
View = Callable[P, R]

SECURITY_SCHEME = "apiKey"
ORG_HEADER = "X-Service-Org"

_ORG_PARAMETER = {
    "name": ORG_HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The organization to act for, by its slug. Instance-scoped keys choose with it"
    " and act for `default` without it; other keys may only name their own.",
}
_REQUEST_ID_PARAMETER = {
    "name": REQUEST_ID_HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    "description": "Kept for the answer and the logs when it has this form, else replaced.",
}
# What finding out who asks, and for which organization, may end in.
_REFUSALS = {
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    503: "SERVICE_UNAVAILABLE",
}


@dataclass(frozen=True)
class Access:
    """What a route asks for: nothing (`public`), any key (no permissions), or one of these."""

    permissions: tuple[str, ...] = ()
    public: bool = False


def requires(permission: str) -> Callable[[View[P, R]], View[P, R]]:
    """Only identities that hold `permission`; raises `Unauthorized` or `Forbidden`."""
    return _guard(Access((permission,)))


def requires_any(*permissions: str) -> Callable[[View[P, R]], View[P, R]]:
    """Only identities that hold one of `permissions`; raises `Unauthorized` or `Forbidden`."""
    return _guard(Access(permissions))


def requires_key(view: View[P, R]) -> View[P, R]:
    """Any valid key, whatever it may do; raises `Unauthorized`."""
    return _guard(Access())(view)


def public(view: View[P, R]) -> View[P, R]:
    """Anybody, without a credential."""
    return _declare(view, Access(public=True))


def current_identity() -> Identity:
    """The identity of the request, inside a route that requires one."""
    return cast("Identity", g.identity)


def access_of(view: Callable[..., Any]) -> Access | None:
    """What a view function declares, None when it declares nothing."""
    return cast("Access | None", getattr(view, "access", None))


def _guard(access: Access) -> Callable[[View[P, R]], View[P, R]]:
    def decorate(view: View[P, R]) -> View[P, R]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            g.identity = identity = _authenticate()
            if access.permissions:
                identity.require_any(access.permissions)
            return view(*args, **kwargs)

        return _declare(guarded, access)

    return decorate


def _authenticate() -> Identity:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthorized("this needs an API key: Authorization: Bearer <key>")
    # WSGI hands the header's bytes over as Latin-1.
    return state().authenticator.authenticate(
        secret.strip().encode("latin-1"), request.headers.get(ORG_HEADER)
    )


def _declare(view: View[P, R], access: Access) -> View[P, R]:
    """Marks the view and adds what it asks for to its documentation (read by flask-smorest)."""
    documentation = deepcopy(getattr(view, "_apidoc", {}))
    manual = documentation.setdefault("manual_doc", {})
    manual["security"] = [] if access.public else [{SECURITY_SCHEME: []}]
    if access.permissions:
        only, *others = access.permissions
        manual["x-required-permission"] = list(access.permissions) if others else only
    parameters = documentation.setdefault("arguments", {}).setdefault("parameters", [])
    parameters.append(_REQUEST_ID_PARAMETER)
    if not access.public:
        parameters.append(_ORG_PARAMETER)
        responses = documentation.setdefault("response", {}).setdefault("responses", {})
        for status, name in _REFUSALS.items():
            responses.setdefault(status, [name])
    vars(view).update(access=access, _apidoc=documentation)
    return view
