"""The purge of an organization in Redis: streams, dead letters, and all keys with its id."""

from collections import Counter

import redis

from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.ingest import dead_letters, stream
from shared.intake.otlp import stream as records
from shared.intake.otlp.assignment import waiting

_SCAN_COUNT = 1000


def remove(client: redis.Redis, org_id: str) -> Counter[str]:
    """Removes everything; counts it by kind. Raises `Unavailable` if Redis is down."""
    with unavailable_when_redis_is_gone():
        removed = {
            "waiting_batches": stream.remove(client, org_id),
            "waiting_records": records.remove_all(client, org_id)
            + waiting.remove_all(client, org_id),
            "dead_letters": dead_letters.drop_all(client, org_id),
            # Mostly caches. An id contains no wildcards, so no other key matches.
            "keys": sum(
                int(client.unlink(key))
                for key in client.scan_iter(match=f"*{org_id}*", count=_SCAN_COUNT)
            ),
        }
    return Counter(removed)
