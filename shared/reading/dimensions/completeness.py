"""From when on filters by dimensions find everything.

Events that were stored before there were dimensions have none, until a backfill fills them.
"""

import uuid
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from shared.access.organizations import Organization
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.errors import Unavailable
from shared.foundation.postgres import Postgres
from shared.reading.dimensions.models import DimensionBackfill

# The migration that added the columns (`m0006_dimensions`).
_MIGRATION = 6
_ADDED = """
SELECT min(at) FROM schema_migrations WHERE version = {version:UInt32} AND applied
"""


def complete_since(
    postgres: Postgres, clickhouse: ClickHouse, org_id: uuid.UUID
) -> datetime | None:
    """Returns the moment from which filters find all events; None if that is all of them.

    While PostgreSQL is down it says nothing, because reads go on.
    """
    try:
        with postgres.transaction() as session:
            return filled_since(session, clickhouse, org_id)
    except Unavailable:
        return None


def filled_since(session: Session, clickhouse: ClickHouse, org_id: uuid.UUID) -> datetime | None:
    """Returns the same, in a transaction."""
    backfill = session.get(DimensionBackfill, org_id)
    if backfill is not None and backfill.filled_all:
        return None
    if backfill is not None and backfill.filled_since is not None:
        return backfill.filled_since
    organization = session.get(Organization, org_id)
    [(moment,)] = clickhouse.rows(_ADDED, {"version": _MIGRATION})
    added: datetime = moment.replace(tzinfo=UTC)
    # What was created later has never stored an event without them.
    return None if organization is None or organization.created_at >= added else added
