"""The time until the next mail is due."""

from sqlalchemy.orm import Session

from shared.core.config import Settings
from shared.postgres.due import secs_until_due

_MAILS = """
SELECT next_attempt_at FROM mails
WHERE status = 'queued'
    AND NOT EXISTS (SELECT FROM organizations WHERE id = mails.org_id AND deleted_at IS NOT NULL)
ORDER BY next_attempt_at
LIMIT 1
"""


def of_mails(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until a mail is due; None if none waits."""
    return secs_until_due(session, _MAILS)
