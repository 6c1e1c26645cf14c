"""The time until the next mail is due, and how many wait."""

from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres.due import secs_until_due

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


class MailBacklog(NamedTuple):
    """The mails that wait or failed, and the seconds for which one has been due at most."""

    queued: int
    failed: int
    longest_due_secs: float


_WAITING = text("""
SELECT
    count(*) FILTER (WHERE status = 'queued'),
    count(*) FILTER (WHERE status = 'failed'),
    greatest(extract(epoch FROM statement_timestamp()
        - min(next_attempt_at) FILTER (WHERE status = 'queued')), 0)
FROM mails
WHERE status <> 'sent'
    AND NOT EXISTS (SELECT FROM organizations WHERE id = mails.org_id AND deleted_at IS NOT NULL)
""")


def waiting(session: Session) -> MailBacklog:
    """Returns the waiting and the failed mails of the deployment."""
    queued, failed, longest = session.execute(_WAITING).one()
    return MailBacklog(queued, failed, float(longest or 0.0))
