"""Finds the credential of a request: a bearer, else a proxy's header, else the session's cookie."""

from urllib.parse import urlsplit

from flask import request

from shared.access.identity import Credential
from shared.foundation.core.errors import Forbidden, Unauthorized
from web.session_cookie import is_only_cookie, session_secret
from web.state import runtime, state

ORG_HEADER = "X-Service-Org"
ACTOR_HEADER = "X-Service-Actor"

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def credential_of_request() -> Credential:
    """Returns the credential that the request carries.

    Raises `Unauthorized` when it carries none, and `Forbidden` when a page of another host made the
    browser send the cookie.
    """
    secret = _bearer()
    if secret is None and (proxied := _proxied()) is not None:
        return proxied
    by_cookie = secret is None
    if secret is None:
        secret = session_secret()
        if secret:
            require_own_origin()
    if not secret:
        raise Unauthorized("authentication required: send an API key or sign in")
    # An empty header counts as given: a proxy without a user must not act with its key's full
    # rights.
    org_slug, actor = request.headers.get(ORG_HEADER), request.headers.get(ACTOR_HEADER)
    credential = Credential.of(secret, org_slug, actor)
    if by_cookie and not credential.is_session_token:
        raise Unauthorized("the session cookie is not valid: sign in again")
    return credential


def _proxied() -> Credential | None:
    """Returns the credential of the person whom a trusted proxy names, None without one.

    Browsers send requests of foreign pages through the proxy too, so the same rule as for the
    cookie counts. Below /api only sessions count.
    """
    proxy_auth = state().proxy_auth
    if proxy_auth is None or is_only_cookie():
        return None
    address = proxy_auth.address_of_request()
    if address is None:
        return None
    require_own_origin()
    return Credential.of_proxied(address, request.headers.get(ORG_HEADER))


def session_of_request() -> tuple[bytes | None, bool]:
    """Returns the hash of the token to sign out, if any, and whether it came by cookie.

    Raises `Forbidden` for a page of another host, even if the browser left the cookie out: the
    answer would delete it.
    """
    secret = _bearer()
    by_cookie = secret is None
    if by_cookie:
        require_own_origin()
        secret = session_secret()
    return (Credential.of(secret).secret_hash if secret else None), by_cookie


def require_own_origin() -> None:
    """Raises `Forbidden` for a write whose Origin is not this service.

    Own hosts are the host that the request was sent to and the one of PUBLIC_URL; behind a proxy
    they differ. An origin without a host never matches.
    """
    origin = request.headers.get("Origin")
    if origin is None or request.method in _READING:
        return
    own = {_host(f"{request.scheme}://{request.host}"), _host(f"https://{request.host}")}
    public_url = runtime().settings.public_url
    if public_url is not None:
        own.add(_host(public_url))
    sender = _host(origin)
    if sender[0] is None or sender not in own:
        raise Forbidden(
            "the Origin header names another host: send the request from this service's own pages",
            code="csrf",
        )


def _bearer() -> bytes | None:
    """Returns the secret of a bearer, possibly empty, or None without one.

    Raises `Unauthorized` for one where only a cookie is accepted.

    Other schemes are ignored: behind a proxy that asks for a password, browsers send
    `Authorization: Basic …` along with the cookie.
    """
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    if is_only_cookie():
        raise Unauthorized("sign in: these paths take no bearer, which belongs to /v1")
    # WSGI passes the header's bytes on as Latin-1.
    return secret.strip().encode("latin-1")


def _host(url: str) -> tuple[str | None, int | None]:
    """Returns host and port of a URL, or None for `null` and other opaque origins."""
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None, None
