"""Late data of a purge: a request that was in progress may still append a batch to Redis.

Its events are dropped, but the keys that it made would stay. So an organization's keys are removed
again and again for an hour after its purge. No request or task takes that long.
"""

from collections.abc import Sequence

import redis

from shared.access import organizations
from shared.foundation.core.clock import now_us
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres import Postgres
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.upkeep.purge import in_redis

WATCHED_SECS = 3600
# Ids of organizations by the second of their purge. It is no key with an organization's id.
_PURGED = "purged"


def expect(client: redis.Redis, org_id: str) -> None:
    """Remembers an organization whose row is about to go. Raises `Unavailable` without Redis."""
    with unavailable_when_redis_is_gone():
        client.zadd(_PURGED, {org_id: now_us() // 1_000_000})


def sweep(postgres: Postgres, client: redis.Redis) -> None:
    """Removes what came of the organizations since. Raises `Unavailable` if a store is down."""
    with unavailable_when_redis_is_gone():
        members: Sequence[bytes] = client.zrange(_PURGED, 0, -1)  # type: ignore[assignment] # sync client
        if not members:
            return
    org_ids = [member.decode() for member in members]
    with postgres.transaction() as session:
        # A purge that was interrupted after it was remembered leaves the organization, and its
        # waiting batches belong to it.
        left = organizations.hold(session, filter(None, map(parse_uuid, org_ids)))
    for org_id in org_ids:
        if parse_uuid(org_id) not in left:
            in_redis.remove(client, org_id)
    with unavailable_when_redis_is_gone():
        client.zremrangebyscore(_PURGED, "-inf", now_us() // 1_000_000 - WATCHED_SECS)
