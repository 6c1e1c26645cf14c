"""Access to routes: one decorator declares, enforces and documents it.

    @blueprint.route("/keys")
    @requires("keys:read")
    @blueprint.response(200, KeyRow(many=True))
    def list_keys() -> ...

It stands directly below `route`, so that nothing of a request is read before access is granted.
"""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from flask import g

from shared.access.identity import Authenticator, Credential, Identity, Person, UserRef
from shared.foundation.core.actor import Actor
from shared.foundation.core.errors import Unauthorized
from web.credentials import ACTOR_HEADER, ORG_HEADER, credential_of_request
from web.limits import admit
from web.request_log import HEADER as REQUEST_ID_HEADER
from web.state import state
from web.view_docs import docs_of, keep_docs

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
    "description": "The organization to act for, by its slug. An instance-scoped key acts for"
    " it, or for `default` without it, and gets 404 for an unknown slug, also when it acts for a"
    " member. Any other key can only name its own. A user in several organizations has to send it.",
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
    "description": "Used in the answer and the logs if it has this form, else replaced.",
}
# The errors of authentication and of choosing the organization.
_REFUSALS = {
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    422: "UNPROCESSABLE_ENTITY",
    429: "TOO_MANY_REQUESTS",
    503: "SERVICE_UNAVAILABLE",
}


# The permission of the ways in.
_ADDS = ("events:add",)

# Access may change while a body arrives. After one that takes longer than this it is checked again.
PROMPT_SECS = 1.0


@dataclass(frozen=True)
class Access:
    """The access that a route requires: none (`public`), any identity, or one of `permissions`.

    `person`: only for somebody who is signed in, or for whom an instance key acts. `credential`
    finds the credential.
    """

    permissions: tuple[str, ...] = ()
    public: bool = False
    person: bool = False
    credential: Callable[[], Credential] = credential_of_request


def requires(
    permission: str, credential: Callable[[], Credential] = credential_of_request
) -> Callable[[View[P, R]], View[P, R]]:
    """Admits identities with `permission`. Raises `Unauthorized` or `Forbidden`."""
    return _guard(Access((permission,), credential=credential))


def requires_any(*permissions: str) -> Callable[[View[P, R]], View[P, R]]:
    """Admits identities with one of `permissions`. Raises `Unauthorized` or `Forbidden`."""
    return _guard(Access(permissions))


def requires_person(permission: str) -> Callable[[View[P, R]], View[P, R]]:
    """Admits people with `permission` and no keys. Raises `Unauthorized` or `Forbidden`."""
    return _guard(Access((permission,), person=True))


def requires_member(view: View[P, R]) -> View[P, R]:
    """Admits people, whatever their permissions, and no keys. Raises as `requires_person`."""
    return _guard(Access(person=True))(view)


def requires_identity(view: View[P, R]) -> View[P, R]:
    """Admits any valid credential, whatever its permissions. Raises `Unauthorized`."""
    return _guard(Access())(view)


def public(view: View[P, R]) -> View[P, R]:
    """Admits every request, without a credential."""
    return _declare(view, Access(public=True))


def current_identity() -> Identity:
    """Returns the identity of the request, inside a route that requires one."""
    return cast("Identity", g.identity)


def current_org_id() -> uuid.UUID:
    """Returns the id of the organization that the request acts for."""
    return uuid.UUID(current_identity().org_id)


def current_user() -> UserRef:
    """Returns the person of the request, inside a route that requires one."""
    user = current_identity().user
    if user is None:
        raise Unauthorized("authentication required: sign in")
    return user


def current_actor() -> Actor:
    """Returns the person or key of the request, for attribution."""
    identity = current_identity()
    if identity.user is not None:
        return Actor(identity.user.id, identity.name, identity.user.email)
    if identity.key is None:
        raise Unauthorized("authentication required: sign in")
    return Actor(identity.key.id, identity.name, None)


def signed_in_person() -> Person:
    """Returns the signed-in person, for a route outside organizations. Raises `Unauthorized`."""
    return state().authenticator.person(credential_of_request())


def require_access_still() -> None:
    """Checks access again after a body has arrived: it may have been taken away meanwhile.

    A body that arrived with its request needs no second check. Raises `Unauthorized` or
    `Forbidden`.
    """
    access: Access | None = g.get("access")
    if access is not None and time.monotonic() - g.allowed_at > PROMPT_SECS:
        _require(access)


def access_while_answering(every_secs: float = 0.0) -> Callable[[], None]:
    """Returns a function that checks the access of the request again while its answer is sent.

    A check asks Redis. The function checks once in `every_secs` at most, and needs no context of
    the request. Raises the errors of `Authenticator.authenticate`.
    """
    access: Access = g.access
    credential, authenticator = access.credential(), state().authenticator
    allowed_at: float = g.allowed_at

    def require() -> None:
        nonlocal allowed_at
        if time.monotonic() - allowed_at >= every_secs:
            allowed_at = time.monotonic()
            _identity(authenticator, credential, access)

    return require


def _require(access: Access) -> None:
    g.access = access
    g.allowed_at = time.monotonic()
    g.identity = _identity(state().authenticator, access.credential(), access)


def _identity(authenticator: Authenticator, credential: Credential, access: Access) -> Identity:
    identity = authenticator.authenticate(credential)
    if access.person:
        identity.require_person(next(iter(access.permissions), None))
    if access.permissions:
        identity.require_any(access.permissions)
    return identity


def access_of(view: Callable[..., Any]) -> Access | None:
    """Returns the access that a view function declares, or None."""
    return cast("Access | None", getattr(view, "access", None))


def _guard(access: Access) -> Callable[[View[P, R]], View[P, R]]:
    def decorate(view: View[P, R]) -> View[P, R]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            _require(access)
            # A request that adds events is counted with their number, once that is known.
            if access.permissions != _ADDS:
                admit(current_identity())
            return view(*args, **kwargs)

        return _declare(guarded, access)

    return decorate


def _declare(view: View[P, R], access: Access) -> View[P, R]:
    """Marks the view and adds the access to its documentation (read by flask-smorest)."""
    docs = docs_of(view)
    manual = docs.setdefault("manual_doc", {})
    schemes = [SESSION_SCHEME] if access.person else [KEY_SCHEME, SESSION_SCHEME]
    manual["security"] = [] if access.public else [{scheme: []} for scheme in schemes]
    if access.person:
        manual["x-requires-user"] = True
    if access.permissions:
        only, *others = access.permissions
        manual["x-required-permission"] = list(access.permissions) if others else only
    parameters = docs.setdefault("arguments", {}).setdefault("parameters", [])
    parameters.append(_REQUEST_ID_PARAMETER)
    if not access.public:
        parameters += [_ORG_PARAMETER, _ACTOR_PARAMETER]
        responses = docs.setdefault("response", {}).setdefault("responses", {})
        # Exports are refused with 503 over a limit, because some exporters drop on 429.
        is_export = access.credential is not credential_of_request
        for status, name in _REFUSALS.items():
            if not (is_export and status == 429):
                responses.setdefault(status, [name])
    keep_docs(view, docs)
    vars(view).update(access=access)
    return view
