"""Sign-ins that have begun: kept in Redis until the browser comes back, once."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

import msgspec
import redis

from shared.foundation.core.errors import Unauthorized
from shared.foundation.queue import unavailable_when_redis_is_gone

# People may have to find their second factor.
LIFETIME_SECS = 600


@dataclass(frozen=True)
class Flow:
    """The secrets of one sign-in; `next` is a path, and `browser_hash` the hash of the cookie."""

    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    browser_hash: str
    next: str


@dataclass(frozen=True)
class Begun:
    """A new sign-in; `state` is for the URL, and `browser` for a cookie."""

    flow: Flow
    state: str
    browser: str = field(repr=False)


def begin(client: redis.Redis, next_path: str) -> Begun:
    """Stores a new sign-in; raises `Unavailable` while Redis is down."""
    state, browser = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    flow = Flow(
        nonce=secrets.token_urlsafe(32),
        # 64 characters; RFC 7636 requires 43 to 128.
        verifier=secrets.token_urlsafe(48),
        browser_hash=_hash(browser),
        next=next_path,
    )
    with unavailable_when_redis_is_gone():
        client.set(_key(state), msgspec.json.encode(flow), ex=LIFETIME_SECS)
    return Begun(flow, state, browser)


def take(client: redis.Redis, state: str, browser: str | None) -> Flow:
    """Returns the sign-in of a state and uses it up.

    Raises `Unauthorized` if it is unknown, used or too old, or began in another browser;
    `Unavailable` while Redis is down.
    """
    with unavailable_when_redis_is_gone():
        stored = client.getdel(_key(state))
    if isinstance(stored, bytes):
        flow = msgspec.json.decode(stored, type=Flow)
        if browser is not None and hmac.compare_digest(_hash(browser), flow.browser_hash):
            return flow
    raise Unauthorized(
        "this sign-in has expired or began in another browser: start again", code="sign_in_expired"
    )


def _key(state: str) -> str:
    return f"sign-in-flow:{_hash(state)}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
