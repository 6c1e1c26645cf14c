"""Who may call a route: one decorator declares it, enforces it and documents it.

    @blueprint.route("/keys")
    @requires("keys:read")
    @blueprint.response(200, KeyRow(many=True))
    def list_keys() -> ...

It stands directly below `route`, so that nothing of a request is read before it is allowed.
"""

import time
import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from flask import g

from shared.core.actor import Actor
from shared.core.errors import Unauthorized
from shared.identity import Identity, Person, UserRef
from web.credentials import ACTOR_HEADER, ORG_HEADER, credential_of_request
from web.request_log import HEADER as REQUEST_ID_HEADER
from web.state import state

P = ParamSpec("P")
R = TypeVar("R")
View = Callable[P, R]

KEY_SCHEME = "apiKey"
SESSION_SCHEME = "session"

_ORG_PARAMETER = {
    "name": ORG_HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The organization to act for, by its slug. Instance-scoped keys choose with it"
    " and act for `default` without it; other keys may only name their own; a user in several"
    " organizations has to send it. An instance-scoped key gets 404 for an unknown"
    " slug, also when it acts for a member.",
}
_ACTOR_PARAMETER = {
    "name": ACTOR_HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "format": "email"},
    "description": "With an instance-scoped key: the address of the member that the request acts"
    " as. Ignored with any other credential.",
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
    422: "UNPROCESSABLE_ENTITY",
    503: "SERVICE_UNAVAILABLE",
}


# A body that takes longer than this to arrive may outlast what its sender was allowed.
PROMPT_SECS = 1.0


@dataclass(frozen=True)
class Access:
    """What a route asks for: nothing (`public`), any identity (no permissions), or one of these.

    `person`: only from somebody who is signed in, or whom an instance key acts as.
    """

    permissions: tuple[str, ...] = ()
    public: bool = False
    person: bool = False


def requires(permission: str) -> Callable[[View[P, R]], View[P, R]]:
    """Only identities that hold `permission`; raises `Unauthorized` or `Forbidden`."""
    return _guard(Access((permission,)))


def requires_any(*permissions: str) -> Callable[[View[P, R]], View[P, R]]:
    """Only identities that hold one of `permissions`; raises `Unauthorized` or `Forbidden`."""
    return _guard(Access(permissions))


def requires_person(permission: str) -> Callable[[View[P, R]], View[P, R]]:
    """Only people who hold `permission`, no keys; raises `Unauthorized` or `Forbidden`."""
    return _guard(Access((permission,), person=True))


def requires_identity(view: View[P, R]) -> View[P, R]:
    """Any valid credential, whatever it may do; raises `Unauthorized`."""
    return _guard(Access())(view)


def public(view: View[P, R]) -> View[P, R]:
    """Anybody, without a credential."""
    return _declare(view, Access(public=True))


def current_identity() -> Identity:
    """The identity of the request, inside a route that requires one."""
    return cast("Identity", g.identity)


def current_org_id() -> uuid.UUID:
    """The organization that the request acts for."""
    return uuid.UUID(current_identity().org_id)


def current_user() -> UserRef:
    """The person of the request, inside a route that requires one."""
    user = current_identity().user
    if user is None:
        raise Unauthorized("authentication required: sign in")
    return user


def current_actor() -> Actor:
    """The person or key of the request, for attribution."""
    identity = current_identity()
    if identity.user is not None:
        return Actor(identity.user.id, identity.name, identity.user.email)
    if identity.key is None:
        raise Unauthorized("nobody is signed in")
    return Actor(identity.key.id, identity.name, None)


def signed_in_person() -> Person:
    """Who is signed in, for a route that is about no organization; raises `Unauthorized`."""
    return state().authenticator.person(credential_of_request())


def require_access_still() -> None:
    """To be called when a body is there: who sent it slowly goes on with nothing taken meanwhile.

    One that came with its request costs no second question. Raises `Unauthorized` or `Forbidden`.
    """
    access: Access | None = g.get("access")
    if access is not None and time.monotonic() - g.allowed_at > PROMPT_SECS:
        _require(access)


def _require(access: Access) -> None:
    g.access = access
    g.allowed_at = time.monotonic()
    g.identity = identity = state().authenticator.authenticate(credential_of_request())
    if access.person:
        identity.require_person(access.permissions[0])
    if access.permissions:
        identity.require_any(access.permissions)


def access_of(view: Callable[..., Any]) -> Access | None:
    """What a view function declares, None when it declares nothing."""
    return cast("Access | None", getattr(view, "access", None))


def _guard(access: Access) -> Callable[[View[P, R]], View[P, R]]:
    def decorate(view: View[P, R]) -> View[P, R]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            _require(access)
            return view(*args, **kwargs)

        return _declare(guarded, access)

    return decorate


def _declare(view: View[P, R], access: Access) -> View[P, R]:
    """Marks the view and adds what it asks for to its documentation (read by flask-smorest)."""
    documentation = deepcopy(getattr(view, "_apidoc", {}))
    manual = documentation.setdefault("manual_doc", {})
    schemes = [SESSION_SCHEME] if access.person else [KEY_SCHEME, SESSION_SCHEME]
    manual["security"] = [] if access.public else [{scheme: []} for scheme in schemes]
    if access.person:
        manual["x-requires-user"] = True
    if access.permissions:
        only, *others = access.permissions
        manual["x-required-permission"] = list(access.permissions) if others else only
    parameters = documentation.setdefault("arguments", {}).setdefault("parameters", [])
    parameters.append(_REQUEST_ID_PARAMETER)
    if not access.public:
        parameters += [_ORG_PARAMETER, _ACTOR_PARAMETER]
        responses = documentation.setdefault("response", {}).setdefault("responses", {})
        for status, name in _REFUSALS.items():
            responses.setdefault(status, [name])
    vars(view).update(access=access, _apidoc=documentation)
    return view
