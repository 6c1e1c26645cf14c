"""Sign-in by a code that is sent by mail, and sign-out."""

from typing import Any
from uuid import UUID

from shared.access.permissions import INSTANCE_ADMIN
from shared.access.users import Member
from shared.access.users.sign_in import service, sessions
from shared.access.users.sign_in.sessions import OpenSession
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Unauthorized
from web import session_cookie
from web.auth import public, signed_in_person
from web.blueprint import Blueprint
from web.client_address import client_of_request
from web.credentials import ACTOR_HEADER, credential_of_request, session_of_request
from web.responses import row_of
from web.state import runtime, state
from web.users.sign_in import schemas
from web.users.sign_in.browser import browser_of_request

blueprint = Blueprint("sign-in", "Sign-in and sign-out of people")

_COOKIE_HEADER = {"Set-Cookie": {"schema": {"type": "string"}}}


@blueprint.route("/auth/otp/request", methods=["POST"])
@public
@blueprint.arguments(schemas.CodeRequestBody)
@blueprint.response(200, schemas.CodeRequested, errors=(403, 429, 503))
def request_code(body: dict[str, Any]) -> dict[str, bool]:
    """Send a sign-in code to a member's address.

    The answer is the same for every address. Limits: 5 codes per address and 30 per client in 15
    minutes. With `SIGN_IN_CODES=0` it is 403 (`codes_off`).
    """
    email = normal_address(body["email"])
    state().sign_in_limits.count_request(client_of_request(), email)
    service.request_code(runtime(), email)
    return {"sent": True}


@blueprint.route("/auth/otp/verify", methods=["POST"])
@public
@blueprint.arguments(schemas.CodeBody)
@blueprint.response(200, schemas.SignedIn, headers=_COOKIE_HEADER, errors=(401, 403, 429, 503))
def verify_code(body: dict[str, Any]) -> dict[str, Any]:
    """Sign in with a code. The answer carries the session as the cookie `service_session`.

    A code works once, and stops working after 5 wrong tries. A client can try 10 times a minute.
    After 20 wrong codes in a day an address gets codes of twelve letters for a day.
    """
    email = normal_address(body["email"])
    state().sign_in_limits.count_try(client_of_request())
    opened = service.sign_in(runtime(), email, body["code"].strip(), browser_of_request())
    session_cookie.give(opened.token, opened.ttl_secs)
    return {
        "user": {"id": opened.user_id, "email": opened.email},
        "expires_in_secs": opened.ttl_secs,
    }


@blueprint.route("/auth/session")
@public
@blueprint.header(
    ACTOR_HEADER,
    schema={"type": "string", "format": "email"},
    description="With an instance-scoped key: the address of the member to describe.",
)
@blueprint.response(200, schemas.SignInSession, errors=(401, 403, 503))
def get_session() -> dict[str, Any]:
    """Return the person who is signed in, by cookie or bearer, or for whom an instance key acts.

    All memberships are listed, so the request does not have to name an organization.
    """
    person = signed_in_person()
    return {
        "id": person.user_id,
        "email": person.email,
        "is_instance_admin": any(INSTANCE_ADMIN in one.permissions for one in person.memberships),
        "memberships": [_membership(member) for member in person.memberships],
    }


@blueprint.route("/auth/logout", methods=["POST"])
@public
@blueprint.response(200, schemas.SignedOut, headers=_COOKIE_HEADER, errors=(403, 503))
def log_out() -> dict[str, bool]:
    """Sign out, from the next request on. The answer is the same when no one is signed in."""
    token_hash, by_cookie = session_of_request()
    if token_hash is not None:
        service.sign_out(runtime().postgres, runtime().redis, token_hash)
    if by_cookie:
        session_cookie.take_back()
    return {"ok": True}


@blueprint.route("/auth/sessions")
@public
@blueprint.response(200, schemas.OpenSession(many=True), errors=(401, 403, 503))
def list_sign_in_sessions() -> list[OpenSession]:
    """List the signed-in person's own sessions, the one used last first.

    Only a session shows them, by cookie or bearer, and no key. `last_used_at` is up to six minutes
    old.
    """
    user_id, token_hash = _own_session()
    with runtime().postgres.transaction() as session:
        return sessions.sessions_of(session, runtime().settings, user_id, token_hash)


@blueprint.route("/auth/sessions", methods=["DELETE"])
@public
@blueprint.response(200, schemas.EndedSessions, errors=(401, 403, 503))
def end_other_sign_in_sessions() -> dict[str, int]:
    """Sign the person out everywhere else, from the next request on."""
    user_id, token_hash = _own_session()
    return {"ended": service.end_others(runtime(), user_id, token_hash)}


@blueprint.route("/auth/sessions/<session_id>", methods=["DELETE"])
@public
@blueprint.response(200, schemas.EndedSessions, headers=_COOKIE_HEADER, errors=(401, 403, 404, 503))
def end_sign_in_session(session_id: str) -> dict[str, int]:
    """End one of the person's own sessions, even that of the request, from the next request on."""
    user_id, token_hash = _own_session()
    if service.end(runtime(), user_id, session_id) == token_hash and session_of_request()[1]:
        session_cookie.take_back()
    return {"ended": 1}


def _own_session() -> tuple[UUID, bytes]:
    """Returns the person and the token's hash of the request's session."""
    person = signed_in_person()
    credential = credential_of_request()
    if not credential.is_session_token:
        raise Unauthorized("sessions are for people: sign in, a key does not show them")
    return person.user_id, credential.secret_hash


def _membership(member: Member) -> dict[str, Any]:
    permissions = sorted(member.permissions)
    return row_of(schemas.SessionMembership, member, permissions=permissions, feature_flags=[])
