"""Removes a deleted organization from every store while everything else keeps running.

Nothing new can start, because the deletion disabled its keys and memberships. Earlier work may
still be running: a web request that appends a batch, or a worker that holds a block. So the steps
are:

1. Redis first: batches that wait there are not stored any more. 2. Then ClickHouse and PostgreSQL,
except the organization itself. This step takes long. It can be killed and run again. 3. Last the
organization's row, locked against `organizations.hold`. The lock is granted when the last block
that holds the organization is stored, and no other block can start meanwhile. Under the lock the
stores are searched once more for rows that came meanwhile.

A worker that takes a block afterwards does not find the organization and drops its rows. The same
happens to a batch that a web request appended late; `late` removes the keys that it made.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.access.organizations import Organization, hold_alone
from shared.access.organizations.lifecycle import require_deleted
from shared.foundation.core.errors import Invalid
from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.purge import in_clickhouse, in_postgres, in_redis, late

Tell = Callable[[str], None]


@dataclass
class PurgeCounts:
    """The removed rows by table, and the removed entries of Redis by kind.

    After an interrupted purge, the next one counts only the rest.
    """

    org_id: uuid.UUID
    slug: str
    postgres: Counter[str] = field(default_factory=Counter)
    clickhouse: Counter[str] = field(default_factory=Counter)
    redis: Counter[str] = field(default_factory=Counter)

    @property
    def stores(self) -> Mapping[str, Mapping[str, int]]:
        """Returns the counts by store."""
        return {"postgres": self.postgres, "clickhouse": self.clickhouse, "redis": self.redis}


def purge(runtime: Runtime, slug: str, *, confirmed: str, tell: Tell) -> PurgeCounts:
    """Removes the deleted organization `slug`, which `confirmed` has to repeat.

    Calls `tell` with its progress. Raises `Invalid` for another `confirmed`, `NotFound`, `Conflict`
    for an organization that is not deleted, and `Unavailable` if a store is down. Rows that were
    removed by then stay removed, and the purge can be run again.
    """
    if confirmed != slug:
        raise Invalid(
            "the slugs differ: type the slug of the organization again", code="not_confirmed"
        )
    # Held to the end, so that nobody restores the organization halfway and no second purge runs.
    with runtime.postgres.transaction() as session:
        purged = PurgeCounts(require_deleted(session, slug).id, slug)
        _sweep(runtime, purged, tell)
        tell("PostgreSQL")
        purged.postgres.update(in_postgres.remove(runtime.postgres, purged.org_id))
        _finish(runtime, session, purged, tell)
    return purged


def _sweep(runtime: Runtime, purged: PurgeCounts, tell: Tell) -> None:
    org_id = str(purged.org_id)
    tell("Redis")
    purged.redis.update(in_redis.remove(runtime.redis, org_id))
    purged.clickhouse.update(in_clickhouse.remove(runtime.clickhouse, org_id, tell))


def _finish(runtime: Runtime, session: Session, purged: PurgeCounts, tell: Tell) -> None:
    tell("waiting for rows that are being stored")
    hold_alone(session, purged.org_id)
    _sweep(runtime, purged, tell)
    purged.postgres.update(in_postgres.remove_rest(session, purged.org_id))
    late.expect(runtime.redis, str(purged.org_id))
    session.execute(delete(Organization).where(Organization.id == purged.org_id))
    purged.postgres["organizations"] += 1
