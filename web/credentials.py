"""Finds the credential of a request: a bearer, else the session's cookie."""

from urllib.parse import urlsplit

from flask import request

from shared.core.errors import Forbidden, Unauthorized
from shared.identity import Credential
from web.state import runtime

COOKIE = "service_session"
ORG_HEADER = "X-Service-Org"
ACTOR_HEADER = "X-Service-Actor"

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def credential_of_request() -> Credential:
    """What the request shows of itself.

    Raises `Unauthorized` when it shows nothing, `Forbidden` when a browser was made to send the
    cookie by a page of another host.
    """
    secret = _bearer()
    by_cookie = secret is None
    if secret is None:
        secret = request.cookies.get(COOKIE, "").encode()
        if secret:
            require_own_origin()
    if not secret:
        raise Unauthorized("authentication required: send an API key or sign in")
    # Empty headers count: a proxy that knows no user must not act with all that its key holds.
    org_slug, actor = request.headers.get(ORG_HEADER), request.headers.get(ACTOR_HEADER)
    credential = Credential.of(secret, org_slug, actor)
    if by_cookie and not credential.is_session_token:
        raise Unauthorized("the session cookie is not valid: sign in again")
    return credential


def session_of_request() -> tuple[bytes | None, bool]:
    """The hash of the token to sign out, None without one; and whether the cookie is concerned.

    Raises `Forbidden` for a page of another host, even where the browser left the cookie out: the
    answer takes it away.
    """
    secret = _bearer()
    by_cookie = secret is None
    if by_cookie:
        require_own_origin()
        secret = request.cookies.get(COOKIE, "").encode()
    return (Credential.of(secret).secret_hash if secret else None), by_cookie


def require_own_origin() -> None:
    """Raises `Forbidden` for a write whose Origin is another host than ours.

    Ours are the host that the request was sent to, and PUBLIC_URL's: behind a proxy they differ.
    An origin without a host is nobody's own, whatever else has none.
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
        raise Forbidden("this request comes from a page of another host", code="csrf")


def _bearer() -> bytes | None:
    """The secret of a bearer, be it empty; None without one.

    Other schemes are for others: behind a proxy that asks for a password, browsers send
    `Authorization: Basic …` along with our cookie.
    """
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    # WSGI hands the header's bytes over as Latin-1.
    return secret.strip().encode("latin-1") if scheme.lower() == "bearer" else None


def _host(url: str) -> tuple[str | None, int | None]:
    """Host and port of a URL; nothing at all for `null` and other origins that are opaque."""
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None, None
