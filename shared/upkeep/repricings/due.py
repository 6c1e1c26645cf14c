"""The time until a repricing can go on."""

from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres.due import secs_until_due
from shared.upkeep.repricings.models import LIVE

_REPRICINGS = f"""
SELECT coalesce(repricing.lease_expires_at, statement_timestamp())
FROM repricings AS repricing JOIN organizations ON organizations.id = repricing.org_id
WHERE repricing.{LIVE} AND organizations.deleted_at IS NULL
"""


def of_repricings(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until a repricing can go on; None if none is under way."""
    return secs_until_due(session, _REPRICINGS)
