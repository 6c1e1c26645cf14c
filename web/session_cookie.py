"""The cookie of a session: its names, its attributes, and which one of a request counts."""

from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from flask import Response, after_this_request, request

from shared.foundation.core.errors import Unauthorized
from web.state import runtime

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


class SessionCookie(NamedTuple):
    """The cookie with the token of a session."""

    name: str
    path: str


COOKIE = SessionCookie("service_session", "/")
# A browser takes a cookie of this name from the very host only, never from a sibling domain.
_OF_HOST = SessionCookie(f"__Host-{COOKIE.name}", "/")
_ONLY = "watchpost.only_cookie"


def accept_only(cookie: SessionCookie, environ: "WSGIEnvironment") -> None:
    """Makes this cookie the only credential of a request: it replaces ours, and bearers get 401."""
    environ[_ONLY] = cookie


def is_only_cookie() -> bool:
    """Returns whether the request takes no other credential than its cookie."""
    return _ONLY in request.environ


def session_secret() -> bytes:
    """Returns the token in the request's cookie, empty without one.

    Raises `Unauthorized` for two cookies of one name, one of which a page of a sibling domain may
    have planted, and makes the browser delete ours.
    """
    cookie = _cookie()
    if cookie == COOKIE and (own := request.cookies.get(_OF_HOST.name)) is not None:
        return own.encode()
    given = request.cookies.getlist(cookie.name)
    if len(given) > 1:
        take_back()
        raise Unauthorized(
            "the browser sent two session cookies: delete this site's cookies and sign in again"
        )
    return given[0].encode() if given else b""


def give(token: str, ttl_secs: int) -> None:
    """Sends the cookie with the answer to this request."""
    cookies, secure = _sent(), is_secure()

    def add(response: Response) -> Response:
        for name, path in cookies:
            response.set_cookie(
                name,
                token,
                max_age=ttl_secs,
                path=path,
                secure=secure,
                httponly=True,
                samesite="Lax",
            )
        return response

    after_this_request(add)


def take_back() -> None:
    """Makes the browser delete the cookie with the answer to this request."""
    cookies, secure = _sent(), is_secure()

    def add(response: Response) -> Response:
        for name, path in cookies:
            response.delete_cookie(name, path=path, secure=secure, httponly=True, samesite="Lax")
        return response

    after_this_request(add)


def is_secure() -> bool:
    """Returns whether to limit cookies to TLS: always, except for http on this very machine.

    Without PUBLIC_URL the request decides. A proxy that ends TLS also speaks http to this service,
    under the name that the browser used.
    """
    url = urlsplit(runtime().settings.public_url or f"{request.scheme}://{request.host}")
    return not (url.scheme == "http" and is_loopback(url.hostname or ""))


def is_loopback(host: str) -> bool:
    """Returns whether a name or an address is that of the machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _cookie() -> SessionCookie:
    cookie: SessionCookie = request.environ.get(_ONLY, COOKIE)
    return cookie


def _sent() -> list[SessionCookie]:
    """Returns the cookies to send; the name with the prefix needs https."""
    cookie = _cookie()
    is_https = (runtime().settings.public_url or "").startswith("https://")
    return [cookie, _OF_HOST] if is_https and cookie == COOKIE else [cookie]
