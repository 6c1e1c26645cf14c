"""Sign-in by a code that is sent by mail, and sign-out."""

from typing import Any

from shared.core.email_address import normal_address
from shared.permissions import INSTANCE_ADMIN
from shared.users import Member
from shared.users.sign_in import service
from web.auth import public, signed_in_person
from web.blueprint import Blueprint
from web.client_address import client_of_request
from web.credentials import ACTOR_HEADER, session_of_request
from web.responses import row_of
from web.state import runtime, state
from web.users.sign_in import cookie, schemas

blueprint = Blueprint("sign-in", "Sign-in and sign-out of people")

_COOKIE_HEADER = {"Set-Cookie": {"schema": {"type": "string"}}}


@blueprint.route("/auth/otp/request", methods=["POST"])
@public
@blueprint.arguments(schemas.CodeRequestBody)
@blueprint.response(200, schemas.CodeRequested, errors=(429, 503))
def request_code(body: dict[str, Any]) -> dict[str, bool]:
    """Send a sign-in code to a member's address.

    The answer is the same for every address. Limits: 5 codes per address and 30 per client in 15
    minutes.
    """
    email = normal_address(body["email"])
    state().sign_in_limits.count_request(client_of_request(), email)
    service.request_code(runtime(), email)
    return {"sent": True}


@blueprint.route("/auth/otp/verify", methods=["POST"])
@public
@blueprint.arguments(schemas.CodeBody)
@blueprint.response(200, schemas.SignedIn, headers=_COOKIE_HEADER, errors=(401, 429, 503))
def verify_code(body: dict[str, Any]) -> dict[str, Any]:
    """Sign in with a code. The answer carries the session as the cookie `service_session`.

    A code works once, and stops working after 5 wrong tries. A client can try 10 times a minute.
    """
    email = normal_address(body["email"])
    state().sign_in_limits.count_try(client_of_request())
    opened = service.sign_in(runtime(), email, body["code"].strip())
    cookie.give(opened.token, opened.ttl_secs)
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
        cookie.take_back()
    return {"ok": True}


def _membership(member: Member) -> dict[str, Any]:
    permissions = sorted(member.permissions)
    return row_of(schemas.SessionMembership, member, permissions=permissions, feature_flags=[])
