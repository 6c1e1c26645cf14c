"""The time until the assistant has work."""

from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres.due import secs_until_due

_TURNS = """
SELECT CASE WHEN state = 'queued' THEN created_at ELSE lease_expires_at END
FROM assistant_turns
WHERE state IN ('queued', 'running')
"""


def of_turns(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until a turn waits, or its worker's lease expires; None if none does."""
    return secs_until_due(session, _TURNS)
