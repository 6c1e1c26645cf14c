"""One value in Redis that changes whenever somebody changed what processes remember.

Every process caches identities, settings and model windows together with the generation that it had
read *before* it read PostgreSQL, and uses an entry only while Redis still holds that very
generation. A change renews the generation once before its commit and once after it:

- A process that read the old state did so before the commit, hence under a generation that the
  renewal after the commit replaced. Once the change is answered, no such entry is used again.
- A changer that dies between commit and second renewal leaves only those entries alive that were
  made in that instant, under the first renewal; they are read again after the cache's 60 s.
- A changer that cannot reach Redis changes nothing: the first renewal raises `Unavailable`.
  Otherwise the generation would be the old one when Redis comes back, and entries of before the
  outage would count again.

Values are random and never counted up, so a Redis that lost its data cannot repeat one. One that
lost its last second in a power cut may: then entries that no request touched in that second count
until they are 60 s old.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.exceptions import RedisError
from sqlalchemy.orm import Session

from shared.core.logs import get_logger
from shared.postgres import Postgres
from shared.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

_KEY = "auth:generation"


def current_generation(client: redis.Redis) -> bytes | None:
    """The generation now, in one round trip; None while Redis cannot tell."""
    try:
        value = client.get(_KEY)
        if value is None:
            client.set(_KEY, secrets.token_bytes(16), nx=True)
            value = client.get(_KEY)
    except RedisError as error:
        log.warning("auth_generation_unknown", reason=type(error).__name__)
        return None
    return value if isinstance(value, bytes) else None


def renew_generation(client: redis.Redis) -> None:
    """Makes every cached entry worthless; raises `Unavailable` when Redis is away."""
    with unavailable_when_redis_is_gone():
        client.set(_KEY, secrets.token_bytes(16))


@contextmanager
def at_once(postgres: Postgres, client: redis.Redis) -> Iterator[Session]:
    """A transaction whose change holds from the next request or event on, in every process.

    For all that takes access away, and for settings that processes remember.

    Raises `Unavailable` when PostgreSQL or Redis is away.
    """
    renew_generation(client)
    with postgres.transaction() as session:
        yield session
    renew_generation(client)
