"""The time until the next audit is due, and until the next run can begin."""

from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres.due import secs_until_due
from shared.foundation.queue.waiting import SETTLE

_AUDITS = """
SELECT audits.next_attempt_at
FROM audits JOIN organizations ON organizations.id = audits.org_id
WHERE organizations.deleted_at IS NULL AND audits.next_attempt_at IS NOT NULL
ORDER BY audits.next_attempt_at
LIMIT 1
"""

_RUNS = """
SELECT CASE WHEN run.status = 'queued' THEN run.queued_at + make_interval(secs => :settle)
    ELSE run.lease_expires_at END
FROM audit_runs AS run JOIN organizations ON organizations.id = run.org_id
WHERE organizations.deleted_at IS NULL AND run.status IN ('queued', 'running')
"""


def of_audits(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until an audit is due; None if there is none."""
    return secs_until_due(session, _AUDITS)


def of_runs(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until a run can be taken; None if none waits or is under way."""
    return secs_until_due(session, _RUNS, settle=SETTLE.total_seconds())
