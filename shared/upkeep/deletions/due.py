"""The time until a deletion can go on."""

from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres.due import secs_until_due
from shared.upkeep.deletions.models import LIVE

_DELETIONS = f"""
SELECT coalesce(deletion.lease_expires_at, statement_timestamp())
FROM deletions AS deletion JOIN organizations ON organizations.id = deletion.org_id
WHERE deletion.{LIVE} AND organizations.deleted_at IS NULL
"""


def of_deletions(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until a deletion can go on; None if none is under way."""
    return secs_until_due(session, _DELETIONS)
