"""The cookie of a session, with its attributes."""

import hashlib
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


def give_flow(state: str, browser: str, ttl_secs: int, path: str) -> None:
    """Sends the cookie that shows which browser began a sign-in at the provider.

    Each sign-in has a cookie of its own, so that two tabs do not disturb each other.
    """
    name, secure = _flow_name(state), _is_secure()

    def add(response: Response) -> Response:
        response.set_cookie(
            name, browser, max_age=ttl_secs, path=path, secure=secure, httponly=True, samesite="Lax"
        )
        return response

    after_this_request(add)


def take_flow(state: str, path: str) -> str | None:
    """Returns the value of that cookie, if the browser has it, and deletes it."""
    name, secure = _flow_name(state), _is_secure()

    def add(response: Response) -> Response:
        response.delete_cookie(name, path=path, secure=secure, httponly=True, samesite="Lax")
        return response

    after_this_request(add)
    return request.cookies.get(name)


def _flow_name(state: str) -> str:
    # A hash: the state comes from a URL, and not every text can name a cookie.
    return f"service_sign_in_{hashlib.sha256(state.encode()).hexdigest()[:16]}"


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
