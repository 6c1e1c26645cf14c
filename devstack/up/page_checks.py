"""Checks that the page answers, and that the sign-in link works once."""

import http.client
from collections.abc import Iterator
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import msgspec

from devstack.up.checks import Check
from devstack.up.sign_in_link import SignInLink

_TIMEOUT_SECONDS = 30.0


def check_link(origin: str, link: SignInLink, email: str) -> Iterator[Check]:
    """Opens the page and uses the link up."""
    status, headers = _get(f"{origin}/")
    is_page = status == http.client.OK and headers.get_content_type() == "text/html"
    yield Check("page", None if is_page else f"{origin}/ answered with {status}")
    status, headers = _get(link.at(origin))
    cookie = SimpleCookie(headers.get("Set-Cookie", ""))
    signed_in = headers.get("Location") == "/" and _email(origin, cookie) == email.lower()
    yield Check("sign-in link", None if signed_in else f"it answered with {status}")
    again, _ = _get(link.at(origin))
    refused = again == http.client.UNAUTHORIZED
    yield Check("sign-in link, once", None if refused else f"the second time {again}")


def _email(origin: str, cookie: SimpleCookie) -> str | None:
    """Returns the address that is signed in with this cookie."""
    sent = "; ".join(f"{name}={one.value}" for name, one in cookie.items())
    status, _, body = _request(f"{origin}/v1/auth/session", {"Cookie": sent})
    if status != http.client.OK:
        return None
    email: str = msgspec.json.decode(body)["email"]
    return email


def _get(url: str) -> tuple[int, http.client.HTTPMessage]:
    status, headers, _ = _request(url, {})
    return status, headers


def _request(url: str, headers: dict[str, str]) -> tuple[int, http.client.HTTPMessage, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS
    )
    try:
        connection.request("GET", parts.path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()
