"""Removes a deleted organization from every store, whatever else is running meanwhile.

Nothing new begins: the delete took its keys and memberships away. What began before may still be
under way: a web request that appends a batch, a worker that holds a block. So:

1. Redis first: what waits there is not stored any more.
2. Then ClickHouse and PostgreSQL, everything but the organization itself. This takes long, and
   can be killed and run again.
3. The organization's row last, locked against `organizations.hold`: the lock is given when the last
   block that holds the organization is stored, and while it is held there is no other. Under it
   the stores are looked through once more, and what came meanwhile is removed.

Whoever holds a block afterwards does not find the organization, and drops what is of it; so does a
worker with a batch that a web request appended late.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.core.errors import Invalid
from shared.deployment.runtime import Runtime
from shared.organizations import Organization
from shared.organizations.lifecycle import require_deleted
from shared.upkeep.purge import in_clickhouse, in_postgres, in_redis

Tell = Callable[[str], None]


@dataclass
class Purged:
    """What was removed: rows by table, and things by what they are in Redis.

    A purge that goes on where another one was interrupted counts what that one had left.
    """

    org_id: uuid.UUID
    slug: str
    postgres: Counter[str] = field(default_factory=Counter)
    clickhouse: Counter[str] = field(default_factory=Counter)
    redis: Counter[str] = field(default_factory=Counter)

    @property
    def stores(self) -> Mapping[str, Mapping[str, int]]:
        """The counts by store."""
        return {"postgres": self.postgres, "clickhouse": self.clickhouse, "redis": self.redis}


def purge(runtime: Runtime, slug: str, *, confirmed: str, tell: Tell) -> Purged:
    """Removes the deleted organization `slug`, which `confirmed` repeats.

    `tell` is called with what is being done. Raises `Invalid` for another `confirmed`, `NotFound`,
    `Conflict` for an organization that is not deleted, and `Unavailable` when a store is away: what
    is removed by then stays removed, and the purge can be run again.
    """
    if confirmed != slug:
        raise Invalid("the slug is to be typed again: it is not the same", code="not_confirmed")
    # Held to the end: nobody restores the organization halfway, and no second purge runs beside.
    with runtime.postgres.transaction() as session:
        purged = Purged(require_deleted(session, slug).id, slug)
        _sweep(runtime, purged, tell)
        tell("PostgreSQL")
        purged.postgres.update(in_postgres.remove(runtime.postgres, purged.org_id))
        _finish(runtime, session, purged, tell)
    return purged


def _sweep(runtime: Runtime, purged: Purged, tell: Tell) -> None:
    org_id = str(purged.org_id)
    tell("Redis")
    purged.redis.update(in_redis.remove(runtime.redis, org_id))
    purged.clickhouse.update(in_clickhouse.remove(runtime.clickhouse, org_id, tell))


def _finish(runtime: Runtime, session: Session, purged: Purged, tell: Tell) -> None:
    tell("waiting for what is being stored")
    in_postgres.lock(session, purged.org_id)
    _sweep(runtime, purged, tell)
    purged.postgres.update(in_postgres.remove_rest(session, purged.org_id))
    session.execute(delete(Organization).where(Organization.id == purged.org_id))
    purged.postgres["organizations"] += 1
