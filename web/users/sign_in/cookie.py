"""The cookie of a session, with its attributes."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import Response, after_this_request, request

from web.credentials import session_cookie
from web.state import runtime


def give(token: str, ttl_secs: int) -> None:
    """Sends the cookie with the answer to this request."""
    (name, path), secure = session_cookie(), _is_secure()

    def add(response: Response) -> Response:
        response.set_cookie(
            name, token, max_age=ttl_secs, path=path, secure=secure, httponly=True, samesite="Lax"
        )
        return response

    after_this_request(add)


def take_back() -> None:
    """Makes the browser delete the cookie with the answer to this request."""
    (name, path), secure = session_cookie(), _is_secure()

    def add(response: Response) -> Response:
        response.delete_cookie(name, path=path, secure=secure, httponly=True, samesite="Lax")
        return response

    after_this_request(add)


def _is_secure() -> bool:
    """Returns whether to limit the cookie to TLS: always, except for http on this very machine.

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
