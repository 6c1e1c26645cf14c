"""The sign-in link of `bin/up`; other deployments have no such route."""

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from shared.access.users.sign_in import service
from web import session_cookie
from web.auth import public
from web.state import runtime
from web.users.sign_in.browser import browser_of_request

PATH = "/development/sign-in/"

# With one of these another machine may be behind the peer.
_FORWARDING = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")

blueprint = Blueprint("sign_in_link", __name__)


@blueprint.get(f"{PATH}<token>")
@public
def sign_in_by_link(token: str) -> Response:
    """Sign in as ADMIN_EMAIL and go on to the page. For a browser on this machine only."""
    if request.method != "GET" or not _is_local():
        raise NotFound
    opened = service.sign_in_by_link(runtime(), token, browser_of_request())
    session_cookie.give(opened.token, opened.ttl_secs)
    return Response(status=303, headers={"Location": "/"})


def _is_local() -> bool:
    """Returns whether a program on this machine asks, under a name of this machine."""
    host = request.host.rpartition(":")[0] or request.host
    return (
        session_cookie.is_loopback(request.remote_addr or "")
        and session_cookie.is_loopback(host.strip("[]"))
        and not any(name in request.headers for name in _FORWARDING)
    )
