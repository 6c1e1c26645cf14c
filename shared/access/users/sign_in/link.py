"""The sign-in link of a development deployment, which `bin/up` prints.

Its token begins with the moment at which it expires, and the deployment knows only the hash of the
whole (`SIGN_IN_LINK_HASH`). So nothing has to be stored before the link is used, and nobody can
change the moment.
"""

import hashlib
import hmac
import time

import redis

from shared.foundation.queue import unavailable_when_redis_is_gone

# Longer than any link is valid.
_REMEMBERED_SECS = 7 * 86_400


def redeem(client: redis.Redis, known_hash: str, token: str) -> bool:
    """Uses a token up; returns whether it was the right one, in time and unused.

    Raises `Unavailable` while Redis is down.
    """
    given_hash = hashlib.sha256(token.encode()).hexdigest()
    if not hmac.compare_digest(given_hash, known_hash):
        return False
    expires_at, _, _secret = token.partition(".")
    if not expires_at.isdecimal() or int(expires_at) <= time.time():
        return False
    with unavailable_when_redis_is_gone():
        used_up = client.set(f"sign-in-link:{known_hash}", "", nx=True, ex=_REMEMBERED_SECS)
    return bool(used_up)
