"""The keys of records in Redis that become events later, and so are a part of the backlog.

`shared.otlp` writes them. They have their names here, because the backlog is measured here.
"""

from typing import Any

import redis

# The streams of an organization, so that several workers can place its records at the same time.
SHARDS = 4
# The streams that have entries, and the streams of which records wait for others, as
# `<organization>:<shard>`.
ACTIVE_KEY = "otlp:active"
MOMENTS_KEY = "otlp:moments"


def record_stream(org_id: str, shard: int) -> str:
    """Returns the key of a stream of records."""
    return f"otlp:records:{org_id}:{shard}"


def waiting_key(org_id: str, shard: int) -> str:
    """Returns the key of the hash of a shard's waiting records."""
    return f"otlp:waiting:{org_id}:{shard}"


def since_key(org_id: str, shard: int) -> str:
    """Returns the key of the sorted set of the receipts of a shard's waiting records."""
    return f"otlp:since:{org_id}:{shard}"


def keys_of(org_id: str) -> list[str]:
    """Returns the keys that contain records of an organization."""
    shards = range(SHARDS)
    return [key(org_id, shard) for key in (record_stream, waiting_key) for shard in shards]


def active_orgs(client: redis.Redis) -> set[str]:
    """Returns the organizations with records that are no events yet."""
    streams: Any = client.smembers(ACTIVE_KEY)
    waiting: Any = client.zrange(MOMENTS_KEY, 0, -1)
    return {member.decode().rpartition(":")[0] for member in (*streams, *waiting)}
