"""The epoch: one value in Redis that changes whenever cached data may have changed.

Every process caches identities, settings and model windows together with the epoch that it
read *before* it read PostgreSQL. It uses an entry only while Redis still holds that very
epoch. A change renews the epoch once before its commit and once after it:

- A process that read the old state did so before the commit, so under an epoch that the renewal
  after the commit replaced. Once the change is answered, no such entry is used again.
- If a changer dies between the commit and the second renewal, only the entries of that instant
  survive, under the first renewal. They are read again after the cache's 60 s.
- A changer that cannot reach Redis changes nothing: the first renewal raises `Unavailable`.
  Otherwise the old epoch would still be there when Redis comes back, and entries from before
  the outage would be valid again.

Values are random instead of counted, so a Redis that lost its data cannot repeat one. A Redis that
lost its last second in a power cut may repeat one. Entries that no request touched in that second
then stay valid until they are 60 s old.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.exceptions import RedisError
from sqlalchemy.orm import Session

from shared.foundation.core.logs import get_logger
from shared.foundation.postgres import Postgres
from shared.foundation.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

_KEY = "auth:generation"


def current_epoch(client: redis.Redis) -> bytes | None:
    """Returns the current epoch in one round trip; None if Redis cannot tell."""
    try:
        value = client.get(_KEY)
        if value is None:
            client.set(_KEY, secrets.token_bytes(16), nx=True)
            value = client.get(_KEY)
    except RedisError as error:
        log.warning("auth_generation_unknown", reason=type(error).__name__)
        return None
    return value if isinstance(value, bytes) else None


def renew_epoch(client: redis.Redis) -> None:
    """Invalidates every cached entry; raises `Unavailable` if Redis is down."""
    with unavailable_when_redis_is_gone():
        client.set(_KEY, secrets.token_bytes(16))


@contextmanager
def at_once(postgres: Postgres, client: redis.Redis) -> Iterator[Session]:
    """Opens a transaction whose change holds in every process from the next request or event on.

    For changes that take access away, and for settings that processes cache. Raises `Unavailable`
    if PostgreSQL or Redis is down.
    """
    renew_epoch(client)
    with postgres.transaction() as session:
        yield session
    renew_epoch(client)
