"""The cookie of a sign-in that began at the provider."""

import hashlib

from flask import Response, after_this_request, request

from web.session_cookie import is_secure


def give_flow(state: str, browser: str, ttl_secs: int, path: str) -> None:
    """Sends the cookie that shows which browser began a sign-in at the provider.

    Each sign-in has a cookie of its own, so that two tabs do not disturb each other.
    """
    name, secure = _flow_name(state), is_secure()

    def add(response: Response) -> Response:
        response.set_cookie(
            name, browser, max_age=ttl_secs, path=path, secure=secure, httponly=True, samesite="Lax"
        )
        return response

    after_this_request(add)


def take_flow(state: str, path: str) -> str | None:
    """Returns the value of that cookie, if the browser has it, and deletes it."""
    name, secure = _flow_name(state), is_secure()

    def add(response: Response) -> Response:
        response.delete_cookie(name, path=path, secure=secure, httponly=True, samesite="Lax")
        return response

    after_this_request(add)
    return request.cookies.get(name)


def _flow_name(state: str) -> str:
    # A hash: the state comes from a URL, and not every text can name a cookie.
    return f"service_sign_in_{hashlib.sha256(state.encode()).hexdigest()[:16]}"
